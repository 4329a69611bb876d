"""What every kind of step has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from pydantic import Field, InstanceOf
from pydantic.json_schema import SkipJsonSchema

from ..assertion import StepAssert
from ..concept import Complaint, Concept
from ..deferred import Deferred
from ..problems import Where
from ..scalars import DurationS, StepAttempts, Text

if TYPE_CHECKING:
    from . import Step

HOOKS: Final = ("on_success", "on_failure", "on_error", "on_abort", "ensure")
"""Keys of the steps that run when a step or job has ended: one of the first four, then `ensure`."""


class Hooked(Concept):
    """Something with hooks: a step or a job."""

    on_success: "Step | None" = Field(default=None, description="Runs when this has succeeded.")
    on_failure: "Step | None" = Field(default=None, description="Runs when this said no.")
    on_error: "Step | None" = Field(default=None, description="Runs when the machinery broke.")
    on_abort: "Step | None" = Field(default=None, description="Runs when somebody stopped it.")
    ensure: "Step | None" = Field(default=None, description="Runs last, whatever happened.")

    @property
    def hooks(self) -> "Mapping[str, Step]":
        """The hooks that are set, by key, in the order of `HOOKS`."""
        hooks = {key: getattr(self, key) for key in HOOKS}
        return {key: step for key, step in hooks.items() if step is not None}


class StepBase(Hooked):
    """A step of a plan; `where` is the place it begins in its file.

    `deferred` is what `resolve_step` needs when the step uses variables that an earlier `load_var` sets; None when
    there are none.
    """

    loader_fields: ClassVar[frozenset[str]] = frozenset({"where", "deferred"})

    where: SkipJsonSchema[Where] = Field(default=Where("<code>", 1, 1), exclude=True, repr=False)
    deferred: SkipJsonSchema[InstanceOf[Deferred] | None] = Field(default=None, exclude=True, repr=False)
    when: Text | None = Field(default=None, description="A guard for `sh -c`: exit 0 runs the step, others skip it.")

    @property
    def held(self) -> "tuple[Step, ...]":
        """The steps inside it, without its hooks; none for a step that does its own work."""
        return ()

    def walk(self) -> "Iterator[Step]":
        """Yield this step, then those inside it and its hooks, each followed by its own."""
        yield self  # type: ignore[misc]  # every subclass is a member of the union
        for each in (*self.held, *self.hooks.values()):
            yield from each.walk()


class Bounded(Concept):
    """A step that can be tried again and has a deadline."""

    attempts: StepAttempts | None = Field(default=None, description="How often it is tried; unset: once.")
    timeout_s: DurationS | None = Field(default=None, validation_alias="timeout", description='"0" means none.')


def artifact_complaints(inputs: Sequence[str], outputs: Sequence[str]) -> Iterator[Complaint]:
    """Refuse a name listed twice."""
    for key, names in (("inputs", inputs), ("outputs", outputs)):
        for index, name in enumerate(names):
            if name in names[:index]:
                yield Complaint((key, index), f"`{name}` stands twice in `{key}:`; keep one", (key,))


def file_complaints(asserted: StepAssert | None, outputs: Sequence[str]) -> Iterator[Complaint]:
    """Refuse asserted files that no declared output can hold."""
    for index, file in enumerate(asserted.files if asserted else ()):
        output, *parts = file.split("/")
        at = ("assert", "files", index)
        if output not in outputs:
            have = f"declared: {', '.join(outputs)}" if outputs else f"declare `outputs: [{output or 'NAME'}]`"
            yield Complaint(at, f"asserted file `{file}` lies in no output of this step; {have}", ("outputs", "assert"))
        elif not any(parts) or ".." in parts:
            text = f"asserted file `{file}` names no file in the output `{output}`; write `{output}/FILE`"
            yield Complaint(at, text, ("assert",))
