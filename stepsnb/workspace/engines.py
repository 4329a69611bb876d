"""Finds the program that runs containers, and says what is missing before anything needs it."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from ..config import Job, Pipeline
from ..errors import WorkspaceError
from ..processes import run_process
from .text import decode_output

LABEL: Final = "stepsnb.run"
"""Every container carries it, with the id of its run."""

_PROBES: Final = {
    "docker": ("info", "--format", "{{json .SecurityOptions}}"),
    "podman": ("info", "--format", "{{.Host.Security.Rootless}}"),
}
"""What each program is asked, in the order of preference, so that it also has to reach its service."""

_PROBE_S = 20.0
_OUTPUT_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that runs containers. `is_rootless`: root in a container is then the user who started it."""

    name: str
    path: str
    is_rootless: bool

    @property
    def owner(self) -> str:
        """The `UID:GID` in a container whose files belong to this process's user outside."""
        return "0:0" if self.is_rootless else f"{os.getuid()}:{os.getgid()}"


_found: dict[str, Engine] = {}
"""By the `PATH` it was found on."""


async def find_engine(image: str) -> Engine:
    """Return the first of `docker` and `podman` on PATH that works, for a container of `image`.

    Docker comes first, as who has both has their images there; when its service is not running, podman, which needs
    none, does the same.

    Raises: WorkspaceError that says what each of them lacks.
    """
    path = os.environ.get("PATH", "")
    if path not in _found:
        _found[path] = await _probe_all(image)
        await _remove_ended(_found[path])
    return _found[path]


async def check_containers(pipeline: Pipeline, job: Job | None = None) -> None:
    """Raise WorkspaceError when `job`, or any part of the pipeline, names an image and nothing here can run it."""
    image = next(iter(images_of(pipeline, job)), None)
    if image is None:
        return
    try:
        await find_engine(image)
    except WorkspaceError as exc:
        raise WorkspaceError(f"{pipeline.file}: {exc}") from exc


def images_of(pipeline: Pipeline, job: Job | None = None) -> list[str]:
    """Return the images that `job` needs with its agents and resource types, or that the pipeline names at all."""
    if job is None:
        return list(dict.fromkeys(_images(pipeline)))
    named = set(_names(job))
    types = {resource.type for resource in pipeline.resources if resource.name in named}
    parts: list[Any] = [job, *(agent for agent in pipeline.agents if agent.name in named)]
    parts += [each for each in pipeline.resource_types if each.name in types]
    return list(dict.fromkeys(name for part in parts for name in _images(part)))


def _images(value: Any) -> Iterable[str]:
    for model in _models(value):
        if isinstance(name := getattr(model, "image_name", None), str):
            yield name


def _names(job: Job) -> Iterable[str]:
    """Yield the names of the agents and resources that the steps of a job mention."""
    for model in _models(job):
        for key in ("agent", "resource"):
            if isinstance(name := getattr(model, key, None), str):
                yield name


def _models(value: Any) -> Iterable[BaseModel]:
    pending = [value]
    while pending:
        match pending.pop():
            case BaseModel() as model:
                yield model
                pending += vars(model).values()
            case Mapping() as mapping:
                pending += mapping.values()
            case tuple() | list() as items:
                pending += items


async def _probe_all(image: str) -> Engine:
    lacks = []
    for name, probe in _PROBES.items():
        program = shutil.which(name)
        if program is None:
            lacks.append(f"`{name}` is not on PATH")
            continue
        code, said = await ask(program, probe)
        if code == 0:
            return Engine(name, program, is_rootless="rootless" in said or said.strip() == "true")
        lacks.append(f"`{name}` does not answer: {said.strip().splitlines()[-1][:200] if said.strip() else code}")
    instead = "install one of them, start its service, or remove `image:` to run on this machine"
    raise WorkspaceError(f"`image: {image}` needs a container: {', and '.join(lacks)}; {instead}")


async def _remove_ended(engine: Engine) -> None:
    """Remove what earlier runs left: containers that have ended, but not gone, because the machine went down."""
    ended = ("ps", "--all", "--quiet", "--filter", f"label={LABEL}", "--filter", "status=exited")
    code, said = await ask(engine.path, ended)
    if code == 0 and said.split():
        await ask(engine.path, ("rm", "--volumes", *said.split()))


async def ask(program: str, arguments: Sequence[str], timeout_s: float = _PROBE_S) -> tuple[int, str]:
    """Run a command of an engine and return its exit code and what it printed, or what it complained about."""
    try:
        done = await run_process(
            [program, *arguments], cwd=Path("/"), timeout_s=timeout_s, max_output_bytes=_OUTPUT_BYTES
        )
    except (OSError, ValueError) as exc:
        return 127, str(exc)
    if done.timed_out:
        return 124, f"no answer within {timeout_s:g} s"
    return done.exit_code, decode_output(done.stdout if done.exit_code == 0 else done.stderr or done.stdout)
