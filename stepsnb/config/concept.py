"""The base of every model: one concept of the YAML, frozen, with its rules stated as complaints."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator

from ..suggest import nearest, unknown_name
from .problems import Problems
from .tree import Entries, Path
from .unsupported import COVERED, Unsupported
from .wording import dotted, not_supported


class Complaint(NamedTuple):
    """A rule that a concept breaks.

    `at` leads from the concept to the value that is wrong. `about` names the keys the rule looks at: when one of
    them is itself in error, the complaint would only be its echo.
    """

    at: Path
    text: str
    about: tuple[str, ...] = ()


class Concept(BaseModel):
    """One concept of the pipeline language."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    loader_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields that a loader fills; they are no keys."""

    unsupported_keys: ClassVar[Unsupported] = {}
    """Keys of the language that this version cannot do here yet, each with what to do instead."""

    misplaced_keys: ClassVar[Mapping[str, str]] = {}
    """Keys that its relatives have and it has not, each with what the key is for and what to do instead."""

    @classmethod
    def keys(cls) -> frozenset[str]:
        """Return the YAML keys this concept has."""
        return _keys(cls)

    @classmethod
    def mistaken_keys(cls, raw: Entries) -> set[str]:
        """Return the keys of `raw` that this concept has not, and those that they were probably meant for."""
        wrong = raw.keys() - cls.keys()
        return wrong | {COVERED.get(key) or nearest(key, cls.keys()) or key for key in wrong}

    def complaints(self) -> Iterator[Complaint]:
        """Yield the rules this concept breaks though each of its fields is sound."""
        yield from ()

    @model_validator(mode="before")
    @classmethod
    def _take_known_keys(cls, raw: Any, info: ValidationInfo) -> Any:
        """Report the keys of a YAML mapping that are not this concept's, and go on without them."""
        if isinstance(raw, Entries) and isinstance(info.context, Reading):
            return info.context.known_entries(cls, raw)
        return raw


class Reading:
    """The context of a validation: where problems with keys go, and where the concept at hand stands."""

    def __init__(self, problems: Problems, top: Path) -> None:
        self._problems = problems
        self._top = top

    def known_entries(self, concept: type[Concept], raw: Entries) -> dict[str, Any]:
        """Return the entries `concept` has keys for; every other key becomes a problem at its own place."""
        known = concept.keys()
        if raw.keys() <= known:
            return dict(raw)
        for key in raw.keys() - known:
            below = raw.path[len(self._top) :]
            shown = dotted((*below, key))
            if key in concept.unsupported_keys:
                text = not_supported(f"`{shown}:`", concept.unsupported_keys[key])
            elif key in concept.misplaced_keys:
                text = f"`{shown}:` {concept.misplaced_keys[key]}"
            else:
                text = unknown_name(f"`{dotted(below)}:` key" if dotted(below) else "key", key, known)
            self._problems.add(raw.key_marks[key], raw.path, text)
        return {key: value for key, value in raw.items() if key in known}


@cache
def _keys(concept: type[Concept]) -> frozenset[str]:
    names = {str(field.validation_alias or name) for name, field in concept.model_fields.items()}
    return frozenset(names - concept.loader_fields - concept.unsupported_keys.keys())
