"""The templates of a matrix: what a cell's texts may refer to."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...suggest import unknown_name
from ...templates import TemplateProblem
from ..concept import Complaint, Concept
from ..template_uses import template_uses, vars_in
from ..tree import Path
from .across import Crossed

_NOT_RENDERED: Final = frozenset(
    {
        "where",
        "deferred",
        "tools",
        "axes",
        "to",
        "block",
        "run_file",
        "on_success",
        "on_failure",
        "on_error",
        "on_abort",
    }
    | {"ensure"}
)
"""Fields that belong to the matrix as a whole, or have templates of their own."""


def template_complaints(step: Crossed) -> Iterator[Complaint]:
    """Refuse templates that name an axis the matrix has not, and coordinates where there is no matrix."""
    axes = None if step.axes is None else [axis.var for axis in step.axes]
    fields = type(step).model_fields
    for name in step.model_fields_set - _NOT_RENDERED:
        key = str(fields[name].validation_alias or name)
        for at, text in _texts(getattr(step, name)):
            if "{{" not in text:
                continue
            problem = _without_matrix(text) if axes is None else _in_matrix(text, axes)
            if problem is not None:
                yield Complaint((key, *at), f"`{_shown(key, at)}` {problem}", (key, "across"))


def _texts(value: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    match value:
        case str():
            yield at, value
        case tuple() | list():
            for index, each in enumerate(value):
                yield from _texts(each, (*at, index))
        case Mapping():
            for key, each in value.items():
                yield from _texts(each, (*at, key))
        case Concept():
            fields = type(value).model_fields
            for name in value.model_fields_set:
                yield from _texts(getattr(value, name), (*at, str(fields[name].validation_alias or name)))


def _in_matrix(text: str, axes: list[str]) -> str | None:
    try:
        for use in template_uses(text):
            if use[0] != "vars":
                return f"refers to `.{'.'.join(use)}`, and a cell has only `.vars`; write `{{{{ .vars.NAME }}}}`"
            if len(use) > 1 and use[1] not in axes:
                return f"has an {unknown_name('axis', use[1], axes)}"
    except TemplateProblem as exc:
        return f"cannot be rendered: {exc}"
    return None


def _without_matrix(text: str) -> str | None:
    for name in vars_in(text):
        return f"refers to the axis `{name}`, and this step has no `across:`; add it, or write the value"
    return None


def _shown(key: str, at: Path) -> str:
    return key + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at)
