"""`context:` of a step: what it gets to read of the decisions of others."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field

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


def context_path_complaints(paths: Sequence[str], inputs: Sequence[str]) -> Iterator[Complaint]:
    """Refuse files that are in no input of the step, and a file named twice."""
    seen: set[PurePosixPath] = set()
    for index, text in enumerate(paths):
        path = PurePosixPath(text)
        entry, at = f"`context_paths[{index}]`", ("context_paths", index)
        if path.is_absolute() or "\\" in text:
            yield Complaint(at, f"{entry} `{text}` is no relative path; write `INPUT/FILE` with slashes")
        elif ".." in path.parts:
            yield Complaint(at, f"{entry} `{text}` leads out of its input; write `INPUT/FILE` without `..`")
        elif not path.parts or path.parts[0] not in inputs:
            have = f"declared: {', '.join(inputs)}" if inputs else "declare the artifact that holds it under `inputs:`"
            yield Complaint(at, f"{entry} `{text}` lies in no input of this step; {have}", ("inputs",))
        elif len(path.parts) == 1:
            yield Complaint(
                at, f"{entry} `{text}` names no file in the input `{path}`; write `{path}/FILE`", ("inputs",)
            )
        elif path in seen:
            yield Complaint(at, f"{entry} `{text}` is there already; keep one")
        seen.add(path)
