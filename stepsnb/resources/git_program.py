"""Runs the `git` program without prompts, and without credentials in what it says."""

import os
import re
from pathlib import Path
from typing import Final

from ..errors import ResourceError
from ..processes import Completed, run_process
from ..workspace import decode_output, remove_tree

_OUTPUT_BYTES: Final = 16_000_000
_QUOTED: Final = 500
REMOTE: Final = "stepsnb"
"""What commands call the repository at `uri`: no name that a configuration of the machine may give a meaning to."""

_USER_INFO = re.compile(r"(?<=://)[^/\s@'\"]+@")


class Git:
    """Git in one folder. `REMOTE` is the repository at `uri`, which no list of processes and no message shows whole."""

    def __init__(self, where: str, uri: str, folder: Path, *, timeout_s: float | None) -> None:
        self.uri = f"`{without_credentials(uri)}`"
        self._where = where
        self._secret_uri = uri
        self._folder = folder
        self._timeout_s = timeout_s

    async def run(self, *arguments: str) -> str:
        """Run a command and return what it printed. Raises: ResourceError with what git said."""
        done = await self._run(*arguments)
        if done.exit_code != 0:
            raise ResourceError(self._explain(arguments[0], done))
        return decode_output(done.stdout)

    async def push(self, refspec: str, *, is_forced: bool) -> None:
        """Push to the repository at `uri`. Raises: ResourceError; `has_failed` when the repository refuses it."""
        done = await self._run("push", "--quiet", *(["--force"] if is_forced else []), REMOTE, refspec)
        if done.exit_code == 0:
            return
        if b"rejected]" not in done.stderr:
            raise ResourceError(self._explain("push", done))
        is_behind = any(reason in done.stderr for reason in (b"(fetch first)", b"(non-fast-forward)"))
        instead = "; get the newest commit and build on it, or put with `force: true`" if is_behind else ""
        raise ResourceError(self._explain("push", done) + instead, has_failed=True)

    async def try_run(self, *arguments: str) -> str | None:
        """Run a command and return what it printed; None when it failed."""
        done = await self._run(*arguments)
        return decode_output(done.stdout) if done.exit_code == 0 else None

    async def succeeds(self, *arguments: str) -> bool:
        """Run a command and tell whether it succeeded."""
        return (await self._run(*arguments)).exit_code == 0

    def remove(self, name: str) -> None:
        """Remove a file or folder of the repository's own."""
        remove_tree(self._folder / ".git" / name)

    async def _run(self, *arguments: str) -> Completed:
        try:
            done = await run_process(
                ["git", *arguments],
                cwd=self._folder,
                env=self._environment(),
                timeout_s=self._timeout_s,
                max_output_bytes=_OUTPUT_BYTES,
            )
        except FileNotFoundError as exc:
            raise ResourceError(f"{self._where}: needs the program `git`, which is not on PATH; install it") from exc
        except (OSError, ValueError) as exc:
            raise ResourceError(f"{self._where}: cannot start `git`: {exc}") from exc
        if done.timed_out:
            raise ResourceError(
                f"{self._where}: `git {arguments[0]}` took longer than {self._timeout_s:g} s", has_failed=True
            )
        return done

    def _environment(self) -> dict[str, str]:
        settings = {
            f"remote.{REMOTE}.url": self._secret_uri,
            "advice.detachedHead": "false",
            "core.autocrlf": "false",
            "core.hooksPath": os.devnull,
            "core.logAllRefUpdates": "false",
            "gc.auto": "0",
            "maintenance.auto": "false",
            "safe.directory": "*",
        }
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_CONFIG")}
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
            env.pop(name, None)
        env["GIT_CONFIG_COUNT"] = str(len(settings))
        for index, (name, value) in enumerate(settings.items()):
            env[f"GIT_CONFIG_KEY_{index}"], env[f"GIT_CONFIG_VALUE_{index}"] = name, value
        # Not a repository that the folder happens to lie in: a store is often inside a project of the user's.
        env["GIT_CEILING_DIRECTORIES"] = str(self._folder.absolute().parent)
        env["GIT_TERMINAL_PROMPT"] = "0"
        env.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
        env["LC_ALL"] = "C"  # what it says is looked at
        return env

    def _explain(self, command: str, done: Completed) -> str:
        said = without_credentials(decode_output(done.stderr or done.stdout)).strip()
        lines = " ".join(line.strip() for line in said.splitlines() if not line.startswith("hint:"))
        ended = f"ended with exit code {done.exit_code}"
        return f"{self._where}: `git {command}` with {self.uri} {ended}: {lines[:_QUOTED]}"


def without_credentials(text: str) -> str:
    """Take the user and password out of every URL in a text."""
    return _USER_INFO.sub("", text)
