"""`context:` of a step: what it gets to read of the decisions of others."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field

from ..artifact_paths import input_file_problem
from ..concept import Complaint, Concept
from ..scalars import one_of

ContextMode = Literal["verdict", "note", "full"]


class StepContextFrom(Concept):
    """The steps whose decision a step reads: only the verdict, with the note, or with the whole last text."""

    from_: dict[str, Annotated[ContextMode, one_of("part of a decision", "verdict", "note", "full")]] = Field(
        validation_alias="from", description="`STEP: verdict`, `note` or `full`; the step declares `verdicts`."
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a context of nothing."""
        if not self.from_:
            yield Complaint(("from",), "`context.from:` names no step; write `STEP: verdict`, or remove `context:`")


def input_file_complaints(key: str, paths: Sequence[str], inputs: Sequence[str]) -> Iterator[Complaint]:
    """Refuse files under `key` that are in no input of the step, and a file named twice."""
    seen: set[PurePosixPath] = set()
    for index, text in enumerate(paths):
        path = PurePosixPath(text)
        entry, at = f"`{key}[{index}]`", (key, index)
        if problem := input_file_problem(text, inputs):
            yield Complaint(at, f"{entry} `{text}` {problem}", (key, "inputs"))
        elif path in seen:
            yield Complaint(at, f"{entry} `{text}` is there already; keep one")
        seen.add(path)
