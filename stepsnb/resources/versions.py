"""Versions of a resource: what they are, and how the output of a program becomes them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ..errors import ResourceError
from ..workspace import decode_output

Version = Mapping[str, str]
"""What identifies one state of a resource: a flat, non-empty map of texts, such as `{"ref": "61cbef"}`."""

_QUOTED = 300
"""Characters of a program's output that a message repeats."""

_SHOWN = 120
_FORMS = {
    "printed": 'a check prints a JSON array of flat maps of texts, oldest first, as in `[{"ref": "61cbef"}]`',
    "answered": 'a check answers with a JSON array of flat maps of texts, oldest first, as in `[{"ref": "61cbef"}]`',
}
_PUBLISHED_FORMS = {
    "printed": 'an `out` prints nothing, or one version, as in `{"ref": "61cbef"}`; send what else it says to stderr',
    "answered": 'an `out` answers with words, or one version, a flat map of texts, as in `{"ref": "61cbef"}`',
}

Said = Literal["printed", "answered"]
"""How a version came: programs print, tools answer."""


class KnownVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version as it is stored.

    `check_order` counts up from 1 with what checks found, oldest first. It is 0, and `from_check` False, for a version
    that a `put` made and no check has seen yet.
    """

    version: dict[str, str]
    check_order: int = 0
    from_check: bool = True


def version_key(version: Version) -> str:
    """Write a version so that equal versions are equal texts."""
    return json.dumps(dict(version), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def show_version(version: Version) -> str:
    """Write a version for people: `ref=61cbef, branch=main`."""
    text = ", ".join(f"{name}={value}" for name, value in version.items())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def resource_scope(type_name: str, source: Mapping[str, Any]) -> str:
    """Name the history that resources of this type and source share; another source has another history."""
    text = json.dumps([type_name, source], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def parse_versions(stdout: bytes, where: str, *, said: Said = "printed") -> list[Version]:
    """Read what a `check` printed; a version that comes twice counts where it came first.

    Raises: ResourceError that quotes the output, for anything but an array of versions.
    """
    form = _FORMS[said]
    value = _load(stdout, where, form, said)
    if not isinstance(value, list):
        raise ResourceError(f"{where}: {said} {_kind(value)}: `{_quote(stdout)}`; {form}")
    found: dict[str, Version] = {}
    for index, item in enumerate(value):
        if problem := _unfit(item):
            raise ResourceError(f"{where}: item {index} of what it {said} {problem}: `{_quote(stdout)}`; {form}")
        found.setdefault(version_key(item), item)
    return list(found.values())


def parse_published(stdout: bytes, where: str, *, said: Said = "printed") -> Version | None:
    """Read what an `out` printed: nothing, or one version.

    Raises: ResourceError that quotes the output, for anything else.
    """
    form = _PUBLISHED_FORMS[said]
    if not stdout.strip():
        return None
    value = _load(stdout, where, form, said)
    if problem := _unfit(value):
        raise ResourceError(f"{where}: what it {said} {problem}: `{_quote(stdout)}`; {form}")
    return dict(value)


def _load(stdout: bytes, where: str, form: str, said: Said) -> Any:
    if not stdout.strip():
        raise ResourceError(f"{where}: {said} nothing; {form}")
    try:
        return json.loads(stdout)
    except (ValueError, RecursionError) as exc:
        raise ResourceError(f"{where}: {said} what is no JSON: `{_quote(stdout)}`; {form}") from exc


def _unfit(value: Any) -> str | None:
    if not isinstance(value, dict):
        return f"is {_kind(value)}"
    if not value:
        return "is an empty map"
    for name, text in value.items():
        if not isinstance(text, str):
            return f"has {_kind(text)} as `{name}`"
    return None


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case dict():
            return "a map"
    return "an array"


def _quote(raw: bytes) -> str:
    text = decode_output(raw).strip()
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"
