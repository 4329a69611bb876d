"""One YAML mapping to one model, with every problem in it reported at its own place."""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .concept import Complaint, Concept, Reading
from .conversions import WAITING
from .problems import Problems
from .tree import Entries, Path, Tree, descend
from .wording import dotted, missing, shape, subject, wrong_shape

AnyConcept = TypeVar("AnyConcept", bound=Concept)

_SHAPES = {
    "dict_type": "a mapping",
    "list_type": "a list",
    "model_attributes_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
}


class Built(NamedTuple, Generic[AnyConcept]):
    """What came out of one mapping: a model, None when it cannot be built, and the keys that are in error.

    A model whose `bad` keys are not empty lacks what they say; what refers to that must not be judged by it.
    """

    model: AnyConcept | None
    bad: frozenset[str]


def read_concept(
    concept: type[AnyConcept],
    raw: Tree,
    path: Path,
    problems: Problems,
    *,
    given: dict[str, Any] | None = None,
    broken: frozenset[str] = frozenset(),
) -> Built[AnyConcept]:
    """Build a `concept` from the mapping `raw` that stands at `path`.

    `given` are fields that were read apart, by their key; `broken` names the ones with problems of their own.
    A model comes back whenever its required fields are sound, so that its other rules and references can be
    checked too. Whether there were problems is for `problems` to tell.
    """
    if not isinstance(raw, Entries):
        problems.add(raw.mark, path, f"must be a mapping, not {shape(raw)}; write `key: value` lines")
        return Built(None, broken)
    given = given or {}
    reading = Reading(problems, path)
    known = reading.known_entries(concept, raw)
    values = {key: value for key, value in known.items() if key not in broken} | given
    bad = broken | concept.mistaken_keys(raw)
    failed: set[str] = set()
    try:
        model = concept.model_validate(values, context=reading)
    except ValidationError as exc:
        for error in exc.errors(include_url=False):
            key = str(error["loc"][0])
            if error["type"] not in (WAITING, "default_factory_not_called") and not (
                error["type"] == "missing" and key in bad
            ):
                _report(error, raw, path, problems)
            failed.add(key)
        bad |= failed
        kept = {key: value for key, value in values.items() if key not in failed}
        fields = concept.model_fields.items()
        required = {str(field.validation_alias or name) for name, field in fields if field.is_required()}
        if not required <= kept.keys():
            return Built(None, bad)
        model = concept.model_validate(kept, context=reading)
    for complaint in _complaints(model, raw, skip=given.keys()):
        if bad.isdisjoint(complaint.about):
            report(complaint, raw, path, problems)
    return Built(model, bad)


def report(complaint: Complaint, raw: Tree, path: Path, problems: Problems) -> None:
    """Add a complaint about something in `raw`, at the most exact place that exists."""
    found, followed = descend(raw, complaint.at)
    problems.add(found.mark, path + followed, complaint.text)


def _report(error: ErrorDetails, raw: Tree, path: Path, problems: Problems) -> None:
    if error["loc"][-1] == "[key]":
        _report_key(error, raw, path, problems)
        return
    found, followed = descend(raw, error["loc"])
    problems.add(found.mark, path + followed, _sentence(error, found, followed))


def _report_key(error: ErrorDetails, raw: Tree, path: Path, problems: Problems) -> None:
    *parents, key, _ = error["loc"]
    found, followed = descend(raw, tuple(parents))
    mark = found.key_marks[str(key)] if isinstance(found, Entries) else found.mark
    problems.add(mark, path + followed, f"the key `{key}` of `{dotted(followed)}:` {error['msg']}")


def _sentence(error: ErrorDetails, found: Tree, followed: Path) -> str:
    kind = error["type"]
    if kind == "missing":
        return missing((*followed, error["loc"][-1]))
    if kind == "sentence":
        return error["msg"]
    if kind == "secret":
        return f"`{followed[-1]}:` {error['msg']}"
    names = subject(found, followed)
    if kind == "greater_than_equal":
        return f"{names} is below {error['ctx']['ge']:,.10g}; give {error['ctx']['ge']:,.10g} or more"
    if kind == "less_than_equal":
        return f"{names} is above {error['ctx']['le']:,.10g}; give {error['ctx']['le']:,.10g} or less"
    if kind in _SHAPES:
        return f"{names} {wrong_shape(found, _SHAPES[kind])}"
    return f"{names} {error['msg']}"


def _complaints(
    value: Concept | tuple[object, ...] | dict[str, object], raw: Tree, *, skip: Collection[str] = ()
) -> Iterator[Complaint]:
    """Yield the complaints of a model and of the models in it, each with its place from `raw` on."""
    if isinstance(value, Concept) and isinstance(raw, Entries):
        mistaken = value.mistaken_keys(raw)
        yield from (each for each in value.complaints() if mistaken.isdisjoint(each.about))
    for part, each in _parts(value):
        if isinstance(each, Concept | tuple | dict) and part not in skip:
            below, followed = descend(raw, (part,))
            for at, text, _ in _complaints(each, below):
                yield Complaint((*followed, *at), text, (str(part),))


@cache
def _names_of(concept: type[Concept]) -> tuple[tuple[str, str], ...]:
    """Return the keys of a concept's fields with the fields' names."""
    return tuple((str(field.validation_alias or name), name) for name, field in concept.model_fields.items())


def _parts(value: Concept | tuple[object, ...] | dict[str, object]) -> Iterable[tuple[str | int, object]]:
    """Return what is in a model, tuple or mapping, each part with its key or position."""
    match value:
        case Concept():
            set_here = value.__dict__
            return [(key, set_here[name]) for key, name in _names_of(type(value))]
        case dict():
            return value.items()
        case _:
            return enumerate(value)
