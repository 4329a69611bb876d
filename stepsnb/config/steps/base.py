"""What every kind of step has."""

from collections.abc import Iterator, Sequence

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from ..assertion import StepAssert
from ..concept import Complaint, Concept
from ..problems import Where
from ..scalars import OneAttempt


class StepBase(Concept):
    """A step of a plan; `where` is the place it begins in its file."""

    where: SkipJsonSchema[Where] = Field(default=Where("<code>", 1, 1), exclude=True, repr=False)
    attempts: OneAttempt | None = Field(default=None, description="1: a step that fails is not repeated.")


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
