"""Engines that tests run containers with: the stand-in everywhere, and podman and docker where they work."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

IMAGE = "localhost/stepsnb-test:latest"

_APPLETS = ("cat", "chmod", "chown", "env", "grep", "id", "kill", "ln", "ls", "mkdir", "printf", "rm", "setsid", "sh")
_APPLETS += ("sleep", "touch", "tr")
_SETTINGS = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
cgroup_manager = "cgroupfs"
"""


@dataclass(frozen=True)
class TestEngine:
    """One engine: the folder to put first on PATH, further variables, and how to list the containers of a run."""

    __test__ = False

    name: str
    bin: Path
    env: dict[str, str]
    image: str = IMAGE

    @property
    def is_real(self) -> bool:
        return self.name != "stand-in"

    def remove(self, name: str) -> None:
        """Take a container away under those who use it."""
        at_once = ["--time", "0"] if self.name == "podman" else []
        program = self.bin / (self.name if self.is_real else "docker")
        command = [program, "rm", "--force", *at_once, name]
        subprocess.run(command, env=self.environment(), capture_output=True, check=True)

    def containers(self, run_id: str) -> list[str]:
        """Name the containers there are of a run."""
        if not self.is_real:
            return sorted(path.stem for path in Path(self.env["STAND_IN"]).glob("stepsnb-*.json"))
        listed = [self.bin / self.name, "ps", "--all", "--quiet", "--filter", f"label=stepsnb.run={run_id}"]
        return subprocess.run(listed, capture_output=True, text=True, env=self.environment(), check=True).stdout.split()

    def calls(self) -> list[dict]:
        """Return what the stand-in was asked to do, in order."""
        record = Path(self.env["STAND_IN"]) / "calls.jsonl"
        return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []

    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.env}


def make_stand_in(base: Path, *names: str) -> TestEngine:
    """Put the stand-in on a PATH of its own under the names of engines."""
    (base / "bin").mkdir(parents=True)
    (base / "state").mkdir()
    program = Path(__file__).with_name("container_stand_in.py")
    for name in names:
        (base / "bin" / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}" "$@"\n')
        (base / "bin" / name).chmod(0o755)
    tools = base / "tools"
    tools.mkdir()
    for tool in ("sh", "cat", "mkdir", "tr", "grep", "kill", "sleep", "setsid", "touch", "ls", "id", "chown", "env"):
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    return TestEngine("stand-in", base / "bin", {"PATH": f"{base / 'bin'}:{tools}", "STAND_IN": str(base / "state")})


@cache
def real_engines() -> dict[str, TestEngine]:
    """Return the engines that can run a container of a small image here, by name."""
    busybox = shutil.which("busybox")
    if busybox is None:
        return {}
    base = Path(tempfile.mkdtemp(prefix="stepsnb-engines-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    found = {}
    for name in ("docker", "podman"):
        program = shutil.which(name)
        if program is not None and (engine := _working(name, program, busybox, base)) is not None:
            found[name] = engine
    return found


def _working(name: str, program: str, busybox: str, base: Path) -> TestEngine | None:
    own = base / name
    own.mkdir()
    (own / name).symlink_to(program)
    if name == "podman":  # docker, which comes first, does not work on its PATH
        (own / "docker").write_text("#!/bin/sh\nexit 1\n")
        (own / "docker").chmod(0o755)
    path = f"{own}:{os.environ.get('PATH', '')}"
    for env in _ways(own):
        engine = TestEngine(name, own, {"PATH": path, **env})
        if _import(engine, _root_of(busybox, base)) and _runs(engine):
            return engine
    return None


def _ways(own: Path) -> Iterator[dict[str, str]]:
    """Yield settings to try: none, and those for podman inside a virtual machine that withholds some rights."""
    yield {}
    for runtime in ("crun", "runc"):
        settings = own / f"{runtime}.conf"
        settings.write_text(f'{_SETTINGS}runtime = "{runtime}"\n')
        yield {"CONTAINERS_CONF": str(settings)}


def _root_of(busybox: str, base: Path) -> Path:
    archive = base / "root.tar"
    if not archive.exists():
        root = base / "root"
        for folder in ("bin", "etc", "tmp", "proc"):
            (root / folder).mkdir(parents=True)
        shutil.copy(busybox, root / "bin" / "busybox")
        for applet in _APPLETS:
            (root / "bin" / applet).symlink_to("busybox")
        (root / "etc" / "passwd").write_text("root:x:0:0::/root:/bin/sh\ntester:x:1234:1234::/tmp:/bin/sh\n")
        (root / "etc" / "group").write_text("root:x:0:\ntester:x:1234:\n")
        (root / "tmp").chmod(0o1777)
        subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
    return archive


def _import(engine: TestEngine, archive: Path) -> bool:
    return _succeeds(engine, "import", str(archive), IMAGE)


def _runs(engine: TestEngine) -> bool:
    return _succeeds(engine, "run", "--rm", "--network", "none", IMAGE, "sh", "-c", "true")


def _succeeds(engine: TestEngine, *arguments: str) -> bool:
    command = [engine.bin / engine.name, *arguments]
    try:
        return subprocess.run(command, capture_output=True, env=engine.environment(), timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
