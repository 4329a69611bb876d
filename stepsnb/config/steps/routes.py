"""Where a plan goes on after a step: by outcome (`to:`) or by what an agent decides (`verdicts:`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, WithJsonSchema

from ..concept import Complaint, Concept
from ..conversions import bad_value, read_name
from ..scalars import AtLeast1, Name
from ..tree import Entries, Items
from ..wording import wrong_shape

NEXT: Final = "next"
"""The target that means the step after this one."""

FAILURE: Final = "failure"
"""The entry of `verdicts:` that catches a step which failed or never decided."""


class Routes(Concept):
    """The steps that follow by outcome; an outcome that is not named goes its usual way."""

    success: Name | None = Field(default=None, description="A step of the same list, or `next`.")
    failure: Name | None = Field(default=None, description="A step of the same list, or `next`.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse routes that lead nowhere."""
        if self.success is None and self.failure is None:
            text = "`to:` routes nothing; give `success:` or `failure:`, or remove it"
            yield Complaint((), text, ("success", "failure"))


class Routed(Concept):
    """A step that can be followed by another than the next one."""

    to: Routes | None = Field(default=None, description="Steps to go on with, by outcome.")
    max_visits: AtLeast1 | None = Field(
        default=None, description="How often the step runs when routes lead back to it or before it."
    )


@dataclass(frozen=True, slots=True)
class VerdictEntry:
    """One entry of `verdicts:`: a name, and where the plan goes on when that is decided; None is the next step."""

    name: str
    target: str | None = None


def _read_entry(raw: Any) -> Any:
    if isinstance(raw, Items):
        raise bad_value(wrong_shape(raw, "a name"))
    if not isinstance(raw, Entries):
        value = read_name(raw)
        return VerdictEntry(value) if isinstance(value, str) else value
    if len(raw) != 1:
        raise bad_value("must be one name or one `NAME: STEP`; write a `- ` line for each")
    [(name, target)] = raw.items()
    return VerdictEntry(name, read_name(target))


Verdicts = tuple[
    Annotated[
        VerdictEntry,
        BeforeValidator(_read_entry),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": ["string", "number", "boolean"]},
                    {
                        "type": "object",
                        "minProperties": 1,
                        "maxProperties": 1,
                        "additionalProperties": {"type": "string"},
                    },
                ]
            }
        ),
    ],
    ...,
]
"""The entries of `verdicts:`, in order."""


def names_of_verdicts(entries: Verdicts) -> tuple[str, ...]:
    """Return what can be decided, in order, without the entry that catches failures."""
    return tuple(entry.name for entry in entries if not _catches_failures(entry))


def routes_of_verdicts(entries: Verdicts) -> dict[str, str]:
    """Return the targets by verdict, that of failures under `failure`."""
    return {entry.name: entry.target for entry in entries if entry.target is not None}


def verdict_complaints(entries: Verdicts | None) -> Iterator[Complaint]:
    """Refuse names to decide between that are none."""
    about = ("verdicts",)
    names = names_of_verdicts(entries or ())
    if entries is not None and not names:
        text = "`verdicts:` is empty; list the names to decide between, or remove it"
        if entries:
            text = f"`verdicts:` has only `{FAILURE}:`; list the names to decide between, or route with `to:`"
        yield Complaint(about, text, about)
    for index, entry in enumerate(entries or ()):
        if entry.name in (each.name for each in (entries or ())[:index]):
            yield Complaint((*about, index), f"`{entry.name}` stands twice in `verdicts:`; keep one", about)
        elif entry.name == FAILURE and entry.target is None:
            text = f"`{FAILURE}` is no verdict, it catches a step that fails; write `{FAILURE}: STEP`"
            yield Complaint((*about, index), text, about)


def _catches_failures(entry: VerdictEntry) -> bool:
    return entry.name == FAILURE and entry.target is not None
