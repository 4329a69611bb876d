"""Paths in the artifacts of a step, as far as they can be judged before it runs."""

from collections.abc import Sequence
from pathlib import PurePosixPath


def input_file_problem(text: str, inputs: Sequence[str] | None) -> str | None:
    """Say why `text` names no file in one of `inputs`, beginning with a verb; None when it may.

    None for `inputs` means every artifact there is.
    """
    path = PurePosixPath(text)
    if is_open(text):
        return None
    if path.is_absolute() or "\\" in text:
        return "is no relative path; write `INPUT/FILE` with slashes"
    if ".." in path.parts:
        return "leads out of its input; write `INPUT/FILE` without `..`"
    if not path.parts or (inputs is not None and path.parts[0] not in inputs):
        have = f"declared: {', '.join(inputs)}" if inputs else "declare the artifact that holds it under `inputs:`"
        return f"lies in no input of this step; {have}"
    if len(path.parts) == 1:
        return f"names no file in the input `{path}`; write `{path}/FILE`"
    return None


def directory_problem(text: str, artifacts: Sequence[str]) -> str | None:
    """Say why `text` is no directory in one of `artifacts`, beginning with a verb; None when it may be."""
    path = PurePosixPath(text)
    if is_open(text):
        return None
    if path.is_absolute() or "\\" in text or ".." in path.parts:
        return "leads out of the step's directory; write `ARTIFACT` or `ARTIFACT/FOLDER`"
    if not path.parts or path.parts[0] not in artifacts:
        have = (
            f"declared: {', '.join(artifacts)}" if artifacts else "declare the artifact under `inputs:` or `outputs:`"
        )
        return f"lies in no input or output of this step; {have}"
    return None


def is_open(text: str) -> bool:
    """Whether the artifact a path begins with is known only during the run."""
    first = text.partition("/")[0]
    return "{{" in first or "((" in first
