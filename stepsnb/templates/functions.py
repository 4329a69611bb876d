"""What a template may do with a value: pure functions of plain values, which reach no attribute of an object."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ..suggest import did_you_mean
from .problem import Unfit


@dataclass(frozen=True, slots=True)
class Function:
    """A function by the name templates use; `most` None means that it takes any number of values from `least` on."""

    call: Callable[..., Any]
    least: int
    most: int | None

    def wrong_count(self, count: int) -> str | None:
        """Say that `count` values are too few or too many; None when it takes that many."""
        if count >= self.least and (self.most is None or count <= self.most):
            return None
        number = f"{self.least}" if self.least == self.most else f"{self.least} or more"
        return f"takes {number} value{'s' if number != '1' else ''}, not {count}"


def look_up(value: Any, *names: str) -> Any:
    """Return `.a.b` of nested mappings. Raises: Unfit, naming what there is."""
    path = ""
    for name in names:
        if not isinstance(value, Mapping):
            raise Unfit(f"`{path or '.'}` is {_kind(value)} and has no `.{name}`")
        if name not in value:
            known = ", ".join(sorted(map(str, value))) or "nothing"
            near = did_you_mean(name, [str(key) for key in value])
            raise Unfit(f"there is no `{path}.{name}`{near}; {f'`{path}` has' if path else 'there is'}: {known}")
        value, path = value[name], f"{path}.{name}"
    return value


def look_up_or_none(value: Any, *names: str) -> Any:
    """Return `.a.b` of nested mappings, None where a key is missing."""
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def to_text(value: Any) -> str:
    """Return what a value looks like where text is meant; nothing for null. Raises: Unfit for lists and mappings."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return json.dumps(value)
    raise Unfit(f"{_kind(value)} is no text; make it text with `join` or `toJson`")


def to_items(value: Any) -> list[Any]:
    """Return what a range goes over; null has no items. Raises: Unfit."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return list(value)
    raise Unfit(f"{_kind(value)} is no list; make one of it with `split`")


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
    return f"a value of type `{type(value).__name__}`"


def _default(fallback: Any, value: Any) -> Any:
    return value or fallback


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes) and isinstance(key, int):
            if not 0 <= key < len(value):
                raise Unfit(f"`index` {key} is not in a list of {len(value)}")
            value = value[key]
        elif value is not None:
            raise Unfit(f"`index` cannot look {json.dumps(key, default=str)} up in {_kind(value)}")
    return value


def _shellquote(value: Any) -> str:
    text = to_text(value)
    if "\0" in text:
        raise Unfit("`shellquote` was given a NUL character, which no program can be given")
    return shlex.quote(text)


def _join(separator: Any, items: Any) -> str:
    return to_text(separator).join(map(to_text, to_items(items)))


def _split(separator: Any, value: Any) -> list[str]:
    text, between = to_text(value), to_text(separator)
    return text.split(between) if between else list(text)


def _from_json(value: Any) -> Any:
    try:
        return json.loads(to_text(value))
    except (ValueError, RecursionError) as exc:
        raise Unfit(f"`fromJson` was given what is no JSON: {str(exc)[:200].lower()}") from exc


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (ValueError, TypeError, RecursionError) as exc:
        raise Unfit(f"`toJson` cannot write this value: {str(exc)[:200].lower()}") from exc


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"it holds {_kind(value)}")


def _trunc(count: Any, value: Any) -> str:
    text, length = to_text(value), _whole("trunc", count)
    return text[:length] if length >= 0 else text[length:]


def _indent(count: Any, value: Any) -> str:
    margin = " " * max(0, _whole("indent", count))
    return margin + to_text(value).replace("\n", f"\n{margin}")


def _whole(name: str, count: Any) -> int:
    if not isinstance(count, int) or isinstance(count, bool):
        raise Unfit(f"`{name}` needs a whole number first, as in `{name} 4`; this is {_kind(count)}")
    return count


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        "and": Function(lambda *values: next((value for value in values if not value), values[-1]), 1, None),
        "default": Function(_default, 2, 2),
        "eq": Function(lambda first, *others: first in others, 2, None),
        "fromJson": Function(_from_json, 1, 1),
        "indent": Function(_indent, 2, 2),
        "index": Function(_index, 2, None),
        "join": Function(_join, 2, 2),
        "lower": Function(lambda value: to_text(value).lower(), 1, 1),
        "ne": Function(lambda first, second: first != second, 2, 2),
        "not": Function(lambda value: not value, 1, 1),
        "or": Function(lambda *values: next((value for value in values if value), values[-1]), 1, None),
        "quote": Function(lambda value: json.dumps(to_text(value), ensure_ascii=False), 1, 1),
        "replace": Function(lambda old, new, value: to_text(value).replace(to_text(old), to_text(new)), 3, 3),
        "shellquote": Function(_shellquote, 1, 1),
        "split": Function(_split, 2, 2),
        "toJson": Function(_to_json, 1, 1),
        "trim": Function(lambda value: to_text(value).strip(), 1, 1),
        "trunc": Function(_trunc, 2, 2),
        "upper": Function(lambda value: to_text(value).upper(), 1, 1),
    }
)
"""By the names and the order of values of Go's templates and of Sprig, whose `default` takes an empty value as none."""
