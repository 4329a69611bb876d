"""A matrix and its cells: one step for every combination of the values of its axes."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ..config import AgentStep, Axis, PutStep, Step, TaskStep
from ..errors import InputError
from ..settings import MATRIX_CELLS, MATRIX_FILE_BYTES, MATRIX_FILE_ITEMS, MATRIX_NAME_CHARACTERS
from ..templates import TemplateProblem, render

Crossed = TaskStep | AgentStep | PutStep
"""The kinds of steps that can be a matrix."""

_OF_THE_MATRIX = dict.fromkeys(
    (
        *("axes", "max_in_flight", "budget", "to", "max_visits", "deferred"),
        *("on_success", "on_failure", "on_error", "on_abort", "ensure"),
    )
)
"""What holds for the matrix as a whole, so that its cells have it not."""

_NOT_RENDERED = frozenset({"tools", "where"})
"""Custom tools are templates of their own, with the arguments of each call."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of the values of a matrix: the step that runs for it, and its name in records."""

    name: str
    step: Step
    coordinates: Mapping[str, str]


def is_matrix(step: Step) -> bool:
    """Whether a step runs once for each combination of values."""
    return isinstance(step, Crossed) and step.axes is not None


def axes_of(step: Step) -> tuple[Axis, ...]:
    """Return the axes of a matrix; none for any other step."""
    return (step.axes if isinstance(step, Crossed) else None) or ()


def is_known_early(step: Step) -> bool:
    """Whether the cells of a matrix are known before it runs: nothing in it comes from a file or a variable."""
    return step.deferred is None and all(axis.values is not None for axis in axes_of(step))


def cells_of(step: Step, axes_values: Mapping[str, Sequence[str]]) -> tuple[Cell, ...]:
    """Return the cells of a matrix, the values of the last axis fastest.

    Args:
        axes_values: The values of the axes that have none of their own, by their variables; see `read_axis`.

    Raises: InputError for more than `MATRIX_CELLS` cells, a value that an axis has twice, or a text that cannot be
        rendered with the coordinates.
    """
    values = {axis.var: tuple(axes_values[axis.var] if axis.values is None else axis.values) for axis in axes_of(step)}
    count = 1
    for var, each in values.items():
        if len(set(each)) < len(each):
            twice = next(value for index, value in enumerate(each) if value in each[:index])
            raise InputError(f"{_about(step)}: the axis `{var}` has `{twice}` twice; keep one")
        count *= len(each)
    if count > MATRIX_CELLS:
        raise InputError(f"{_about(step)}: makes {count:,} cells, at most {MATRIX_CELLS:,}; give it fewer values")
    return tuple(_cell(step, dict(zip(values, each, strict=True))) for each in itertools.product(*values.values()))


def cell_at(step: Step, coordinates: Mapping[str, str]) -> Cell:
    """Return the cell of a matrix at these coordinates. Raises: InputError for a text that cannot be rendered."""
    return _cell(step, coordinates)


def read_axis(axis: Axis, content: bytes) -> tuple[str, ...]:
    """Return the values that the file of an axis holds: a JSON array of strings.

    Raises: InputError for anything else, or for too much of it.
    """
    what = f"across `{axis.var}`: `{axis.from_file}`"
    if len(content) > MATRIX_FILE_BYTES:
        raise InputError(f"{what} is longer than {MATRIX_FILE_BYTES:,} bytes; write fewer values")
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise InputError(f"{what} is no JSON: {exc}; write an array of strings") from exc
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f'{what} is no JSON array of strings; write it as `["a", "b"]`')
    if len(values) > MATRIX_FILE_ITEMS:
        raise InputError(f"{what} has {len(values):,} values, at most {MATRIX_FILE_ITEMS:,}; write fewer")
    return tuple(values)


def _cell(step: Step, coordinates: Mapping[str, str]) -> Cell:
    shown = " ".join(f"{var}={_shown(value)}" for var, value in coordinates.items())
    changed: dict[str, Any] = dict(_OF_THE_MATRIX)
    values = {"vars": coordinates}
    for key, value in step.__dict__.items():
        if key in changed or key in _NOT_RENDERED:
            continue
        try:
            rendered = _render(value, values)
        except TemplateProblem as exc:
            raise InputError(f"{_about(step)}, cell [{shown}]: `{key.rstrip('_')}:` cannot be rendered: {exc}") from exc
        if rendered is not value:
            changed[key] = rendered
    return Cell(f"{step.name} [{shown}]", step.model_copy(update=changed), coordinates)


def _render(value: Any, values: Mapping[str, Any]) -> Any:
    """Render the templates in a value of any shape; what holds none comes back as it is."""
    match value:
        case str():
            return render(value, values) if "{{" in value else value
        case tuple() | list():
            made = [_render(each, values) for each in value]
            is_same = all(new is old for new, old in zip(made, value, strict=True))
            return value if is_same else type(value)(made)
        case dict():
            entries = {key: _render(each, values) for key, each in value.items()}
            return value if all(entries[key] is each for key, each in value.items()) else entries
        case BaseModel():
            changed = {key: new for key, old in value.__dict__.items() if (new := _render(old, values)) is not old}
            return value.model_copy(update=changed) if changed else value
    return value


def _shown(value: str) -> str:
    short = value if len(value) <= MATRIX_NAME_CHARACTERS else value[: MATRIX_NAME_CHARACTERS - 1] + "…"
    return short if short.isprintable() else json.dumps(short)  # a name is one line without control characters


def _about(step: Step) -> str:
    return f"{step.where}: step `{step.name}`"
