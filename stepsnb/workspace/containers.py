"""Runs a step's programs in a container of its own: started by the first command, removed with the step.

The container's first process ends when its standard input does, and that is a pipe this process holds open: however
this process ends, the container ends, and `--rm` removes it.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from ..config import ImageSpec
from ..errors import WorkspaceError
from ..processes import Completed, end_group, run_process
from .engines import LABEL, Engine, ask, check_containers, find_engine
from .finishing import finish
from .leftovers import VARIABLE
from .shell import HostShell, Shell
from .text import decode_output

__all__ = ["Container", "check_containers", "find_engine", "open_shell"]

FOLDER: Final = "/workspace"
"""Where a container has the step's directory."""

_READY = b"stepsnb: ready\n"
_FIRST_PROCESS = 'printf "stepsnb: ready\\n"; exec 3<&0; cat <&3 >/dev/null & wait $!'
"""Waits for the end of standard input and collects orphans meanwhile, with nothing but `sh` and `cat`."""

_KILL = (
    "n=0; while [ $n -lt 50 ]; do n=$((n+1)); hit=; for place in /proc/[0-9]*; do "
    f'if tr "\\0" "\\n" <$place/environ | grep -qxF "{VARIABLE}=$1"; then kill -9 "${{place#/proc/}}"; hit=1; fi; '
    'done; [ -n "$hit" ] || break; done 2>/dev/null'
)
"""Ends every process of a command by its mark, see `leftovers`; without `tr` and `grep` the step's end does."""

_COMMAND = f'{VARIABLE}=$1 sh -c "$2"; code=$?; {_KILL}; exit $code'

_POLL_S = 0.02
_REMOVE_S = 30.0
_QUOTED = 500
_READ_BY_CLIENT: Final = ("CONTAINER", "DOCKER_", "HOME", "LD_", "PATH", "PODMAN", "SSH_", "TMPDIR", "XDG_")
"""Beginnings of the variables that would change the engine's own command when handed over in its environment."""


@contextlib.asynccontextmanager
async def open_shell(
    folder: Path, image: ImageSpec | None = None, *, env: Mapping[str, str] | None = None, run_id: str = ""
) -> AsyncIterator[Shell]:
    """Open what runs the programs of one step in `folder`: this machine, or a container of `image`.

    Nothing is started before the first command. The container is gone when the block is left, however it is left, so
    that nothing changes `folder` afterwards.

    Args:
        env: Variables for every command.
        run_id: Of the run it is for, as the container's label.
    """
    if image is None:
        yield HostShell(folder, env)
        return
    container = Container(folder, image, env=env, run_id=run_id)
    try:
        yield container
    finally:
        await finish(container.close())


class Container:
    """One container, which has `folder` as `/workspace`; a `Shell`. Close it.

    Its processes are those of the user outside, as far as files are concerned: with `user:` the folder is given to
    that user inside, and back at the end.
    """

    def __init__(
        self, folder: Path, image: ImageSpec, *, env: Mapping[str, str] | None = None, run_id: str = ""
    ) -> None:
        self._folder = folder.resolve()
        self._image = image
        self._env = dict(env or {})
        self._run_id = run_id
        self.name = f"stepsnb-{secrets.token_hex(6)}"
        self._starting = asyncio.Lock()
        self._engine: Engine | None = None
        self._client: _Client | None = None

    async def run(
        self,
        script: str,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout_s: float | None = None,
        max_output_bytes: int,
    ) -> Completed:
        """Run `script` with `sh -c` in the container; see `Shell.run`. A signal ends it with 128 and its number."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(timeout_s):
                engine, client = await self._start()
        except TimeoutError:
            return Completed(
                exit_code=-signal.SIGKILL, stdout=b"", stderr=b"", stdout_bytes=0, stderr_bytes=0, timed_out=True
            )
        mark = secrets.token_hex(8)
        flags, outer = _environment(self._with_home(engine, {**self._env, **(env or {})}))
        command = [engine.path, "exec", "--workdir", self._inside(cwd), *flags, self.name]
        command += ["sh", "-c", _COMMAND, "sh", mark, script]
        is_over = False
        try:
            done = await run_process(
                command,
                cwd=Path("/"),
                env=outer,
                timeout_s=None if timeout_s is None else max(0.0, timeout_s - (loop.time() - began)),
                max_output_bytes=max_output_bytes,
            )
            is_over = not done.timed_out
        except OSError as exc:
            raise WorkspaceError(f"cannot run `{engine.name} exec`: {exc.strerror}") from exc
        except ValueError as exc:
            raise WorkspaceError(f"cannot start the shell: the command is not usable text ({exc})") from exc
        finally:
            if not is_over:
                await finish(ask(engine.path, ("exec", self.name, "sh", "-c", _KILL, "sh", mark)))
        if done.exit_code != 0 and not done.timed_out and not await self._is_alive(engine, client):
            raise WorkspaceError(f"the container of `{self._image.name}` ended by itself: {client.said(done.stderr)}")
        return done

    async def close(self) -> None:
        """Remove the container, if there is one."""
        if self._engine is None or self._client is None:
            return
        client, self._client = self._client, None
        if client.is_ready and not client.has_ended and self._image.user is not None:
            await self._give_to(self._engine, self._engine.owner)
        if not client.is_ready:
            await client.end()  # first: what only begins to start could otherwise come into being after its removal
        time_flag = ["--time", "0"] if self._engine.name == "podman" else []
        await ask(self._engine.path, ["rm", "--force", "--volumes", *time_flag, self.name], _REMOVE_S)
        await client.end()

    async def _start(self) -> "tuple[Engine, _Client]":
        async with self._starting:
            if self._engine is None:
                self._engine = await find_engine(self._image.name)
            if self._client is None:
                self._client = _Client(self._start_command(self._engine))
            if not self._client.is_ready:
                await self._client.wait_ready(self._image.name)
                if self._image.user is not None:
                    await self._give_to(self._engine, self._image.user)
            return self._engine, self._client

    def _start_command(self, engine: Engine) -> list[str]:
        image = self._image
        command = [engine.path, "run", "--rm", "--interactive", "--name", self.name]
        command += ["--label", f"{LABEL}={self._run_id}", "--workdir", FOLDER, "--entrypoint", "sh"]
        command += ["--mount", f'type=bind,"source={_doubled(self._folder)}",target={FOLDER}']
        command += ["--security-opt", "label=disable"]  # SELinux lets no container into a folder of the user's else
        command += ["--user", image.user or engine.owner]
        if image.network is not None:
            command += ["--network", image.network]
        if image.is_privileged:
            command.append("--privileged")
        if image.limits is not None:
            if image.limits.cpu is not None:
                command += ["--cpu-shares", str(image.limits.cpu)]
            if image.limits.memory_bytes is not None:
                command += ["--memory", str(image.limits.memory_bytes)]
        return [*command, "--", image.name, "-c", _FIRST_PROCESS]

    async def _is_alive(self, engine: Engine, client: "_Client") -> bool:
        """Tell a command that failed from one whose container went away under it, by any exit code."""
        code, _ = (1, "") if client.has_ended else await ask(engine.path, ("exec", self.name, "sh", "-c", ":"))
        return code == 0

    def _inside(self, cwd: Path | None) -> str:
        """Name a folder the way the container does."""
        return FOLDER if cwd is None else f"{FOLDER}/{cwd.resolve().relative_to(self._folder).as_posix()}"

    def _with_home(self, engine: Engine, env: Mapping[str, str]) -> Mapping[str, str]:
        """Give a user the image does not know a home folder; it would be `/`, where nothing can be written."""
        is_known = self._image.user is not None or engine.owner.startswith("0:")
        return env if is_known or "HOME" in env else {**env, "HOME": "/tmp"}  # noqa: S108 - inside the container

    async def _give_to(self, engine: Engine, user: str) -> None:
        command = ("exec", "--user", "0:0", self.name, "chown", "-hR", user, FOLDER)
        code, said = await ask(engine.path, command, _REMOVE_S)
        if code != 0:
            raise WorkspaceError(
                f"cannot give the step's files to user `{user}` in `{self._image.name}`: {said.strip()}"
            )


class _Client:
    """The `run` command of an engine, which lasts as long as its container and holds its standard input open."""

    def __init__(self, command: Sequence[str]) -> None:
        self._stdout: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - they last as long as the container
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self.is_ready = False
        try:
            self._process = subprocess.Popen(
                command,
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=self._stdout,
                stderr=self._stderr,
                start_new_session=True,
            )
        except OSError as exc:
            raise WorkspaceError(f"cannot start `{command[0]}`: {exc.strerror}") from exc

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    async def wait_ready(self, image: str) -> None:
        """Wait until the container runs; that includes fetching its image. Raises: WorkspaceError."""
        while _READY not in os.pread(self._stdout.fileno(), 4096, 0):
            if self.has_ended:
                raise WorkspaceError(f"cannot start a container of `{image}`: {self.said()}")
            await asyncio.sleep(_POLL_S)
        self.is_ready = True

    def said(self, more: bytes = b"") -> str:
        """Return the end of what the command and its container complained about."""
        size = os.fstat(self._stderr.fileno()).st_size
        raw = os.pread(self._stderr.fileno(), 4096, max(0, size - 4096)) + more
        return decode_output(raw).strip()[-_QUOTED:] or f"exit code {self._process.returncode}"

    async def end(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        await end_group(self._process)
        self._stdout.close()
        self._stderr.close()


def _environment(env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the flags that hand variables to a command, and the environment of the engine's own command.

    Values go through the environment, where no list of processes shows them, unless the engine would read them itself.
    """
    flags: list[str] = []
    outer = dict(os.environ)
    for name, value in env.items():
        if name.startswith(_READ_BY_CLIENT) or name.upper().endswith("_PROXY"):
            flags += ["--env", f"{name}={value}"]
        else:
            flags += ["--env", name]
            outer[name] = value
    return flags, outer


def _doubled(path: Path) -> str:
    """Write a path inside the quotes of a field of comma-separated values."""
    return str(path).replace('"', '""')
