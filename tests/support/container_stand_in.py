#!/usr/bin/env python3
"""Stands in for the command line of `docker` and `podman`: records its calls and runs the programs on this machine.

Nothing is isolated. The folder that is mounted takes the place of `/workspace`. `STAND_IN` names a folder for the
record, `calls.jsonl`, and for one file for each container that exists.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

HOME = Path(os.environ["STAND_IN"])


def record(arguments: list[str]) -> None:
    kept = {name: value for name, value in os.environ.items() if name.startswith("TEST_")}
    with (HOME / "calls.jsonl").open("a") as file:
        file.write(json.dumps({"arguments": arguments, "env": kept}) + "\n")


def after(arguments: list[str], flag: str) -> str | None:
    return arguments[arguments.index(flag) + 1] if flag in arguments else None


def run(arguments: list[str]) -> int:
    image, *command = arguments[arguments.index("--") + 1 :]
    if image.startswith("missing"):
        print(f"Unable to find image '{image}' locally", file=sys.stderr)
        return 125
    mount = after(arguments, "--mount") or ""
    folder = mount.split('"source=', 1)[1].split('",target=')[0].replace('""', '"')
    state = HOME / f"{after(arguments, '--name')}.json"
    first = subprocess.Popen([after(arguments, "--entrypoint") or "sh", *command], cwd=folder, start_new_session=True)
    state.write_text(json.dumps({"folder": folder, "pid": first.pid, "image": image}))
    code = first.wait()
    state.unlink(missing_ok=True)
    return code


def execute(arguments: list[str]) -> int:
    taking = ("--workdir", "--env", "--user")
    position, env = 1, {}
    while arguments[position].startswith("--"):
        if arguments[position] == "--env":
            name, given, value = arguments[position + 1].partition("=")
            env[name] = value if given else os.environ[name]
        position += 2 if arguments[position] in taking else 1
    name, *command = arguments[position:]
    try:
        folder = json.loads((HOME / f"{name}.json").read_text())["folder"]
    except FileNotFoundError:
        print(f"No such container: {name}", file=sys.stderr)
        return 1
    command = [folder if each == "/workspace" else each for each in command]
    place = (after(arguments, "--workdir") or "/workspace").replace("/workspace", folder, 1)
    bare = {"PATH": os.environ["PATH"], "HOME": "/root"}
    running = subprocess.Popen(
        command, cwd=place, env={**bare, **env}, stdin=subprocess.DEVNULL, start_new_session=True
    )
    mark = HOME / f"{name}.{running.pid}"
    mark.touch()
    code = running.wait()
    mark.unlink(missing_ok=True)
    return code


def remove(arguments: list[str]) -> int:
    state = HOME / f"{arguments[-1]}.json"
    if not state.exists():
        return 0
    running = [int(mark.suffix[1:]) for mark in HOME.glob(f"{state.stem}.*") if mark.suffix != ".json"]
    for pid in (json.loads(state.read_text())["pid"], *running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    state.unlink(missing_ok=True)
    return 0


def main() -> int:
    arguments = sys.argv[1:]
    record(arguments)
    match arguments[0]:
        case "info":
            print(os.environ.get("STAND_IN_INFO", "[]"))
            return int(os.environ.get("STAND_IN_DOWN", "0"))
        case "run":
            return run(arguments)
        case "exec":
            return execute(arguments)
        case "rm":
            return remove(arguments)
    return 0


sys.exit(main())
