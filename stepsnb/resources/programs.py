"""Resource types of a pipeline's own: three shell programs that check, fetch and publish."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import ResourceError
from ..processes import Completed
from ..settings import RESOURCE_OUTPUT_BYTES
from ..templates import TemplateProblem, render
from ..workspace import Shell, decode_output
from .base import ResourceType
from .versions import Version, parse_published, parse_versions

_QUOTED = 500


OpenShell = Callable[[Path], AbstractAsyncContextManager[Shell]]
"""Opens what runs the programs that work in a folder: this machine, or a container."""


class ProgramType(ResourceType):
    """A type made of programs for `sh -c`, each a template with `.source`, `.version`, `.params` and `.vars`.

    `check` runs in an empty folder and prints the versions there are from `.version` on, oldest first. `fetch_program`
    fills the folder it runs in. `publish_program` runs where the step's inputs are, and may print the version it
    made. What they say besides goes to stderr.

    Args:
        timeout_s: Of each program; None leaves the time to whoever waits for it.
        check_timeout_s: The same for `check`.
        place: Names what `open_shell` opens, so that content that was fetched elsewhere is not taken for the same.
    """

    runs_programs = True

    def __init__(
        self,
        name: str,
        *,
        check: str | None = None,
        fetch: str | None = None,
        publish: str | None = None,
        open_shell: OpenShell,
        env: Mapping[str, str] | None = None,
        variables: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        check_timeout_s: float | None = None,
        place: str = "",
    ) -> None:
        self.name = name
        self._programs = {"check": check, "in": fetch, "out": publish}
        self._open_shell = open_shell
        self._env = dict(env or {})
        self._variables = dict(variables or {})
        self._timeout_s = timeout_s
        self._check_timeout_s = check_timeout_s
        self._place = place

    def fetch_identity(self) -> Mapping[str, Any]:
        """Return the program `in`, what it is given, and its place; see `ResourceType.fetch_identity`."""
        return {"in": self._programs["in"], "env": self._env, "vars": self._variables, "place": self._place}

    async def check(self, source: Mapping[str, Any], version: Version | None) -> list[Version]:
        """Run `check`; see `ResourceType.check`."""
        with TemporaryDirectory(prefix="stepsnb-check-") as folder:
            done = await self._run("check", Path(folder), source=source, version=version or {}, params={})
        self._refuse_long("check", done)
        return parse_versions(done.stdout, self._where("check"))

    async def fetch(
        self, source: Mapping[str, Any], version: Version | None, params: Mapping[str, Any], folder: Path
    ) -> None:
        """Run `in` in `folder`; see `ResourceType.fetch`."""
        await self._run("in", folder, source=source, version=version or {}, params=params)

    async def publish(self, source: Mapping[str, Any], params: Mapping[str, Any], folder: Path) -> Version | None:
        """Run `out` in `folder`; see `ResourceType.publish`."""
        done = await self._run("out", folder, source=source, version={}, params=params)
        self._refuse_long("out", done)
        return parse_published(done.stdout, self._where("out"))

    async def _run(self, verb: str, folder: Path, **values: Mapping[str, Any]) -> Completed:
        program = self._programs[verb]
        where = self._where(verb)
        if program is None:
            raise ResourceError(f"resource type `{self.name}` has no `{verb}:`; give it one, or leave this step out")
        try:
            script = render(program, {**values, "vars": self._variables})
        except TemplateProblem as exc:
            raise ResourceError(f"{where}: {exc}") from exc
        timeout_s = self._check_timeout_s if verb == "check" else self._timeout_s
        async with self._open_shell(folder) as shell:
            done = await shell.run(script, env=self._env, timeout_s=timeout_s, max_output_bytes=RESOURCE_OUTPUT_BYTES)
        if done.timed_out:
            raise ResourceError(f"{where}: timed out after {timeout_s:g} s", has_failed=True)
        if done.exit_code != 0:
            raise ResourceError(f"{where}: {_why(done)}", has_failed=True)
        return done

    def _refuse_long(self, verb: str, done: Completed) -> None:
        if done.stdout_bytes > len(done.stdout):
            raise ResourceError(
                f"{self._where(verb)}: printed {done.stdout_bytes:,} bytes; at most {RESOURCE_OUTPUT_BYTES:,} are "
                "read, so let it print only versions, and not more than are new"
            )

    def _where(self, verb: str) -> str:
        return f"resource type `{self.name}`, `{verb}:`"


def _why(done: Completed) -> str:
    ended = f"signal {-done.exit_code}" if done.exit_code < 0 else f"exit code {done.exit_code}"
    said = decode_output(done.stderr or done.stdout).strip()
    return f"ended with {ended}" + (f": {said[-_QUOTED:]}" if said else "")
