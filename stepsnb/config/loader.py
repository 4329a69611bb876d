"""Loads pipelines and cells of steps: text in, checked models out, or one error that lists every problem."""

from collections.abc import Mapping
from pathlib import Path

from .document import read_document, read_plan
from .pipeline import Pipeline
from .problems import Problems
from .reader import read_tree
from .references import names_of
from .steps import Step
from .text_file import read_text_file
from .tree import Entries, Items
from .wording import shape


def load_file(path: str | Path, *, variables: Mapping[str, object] | None = None) -> Pipeline:
    """Load the pipeline in a file; relative paths in it start at the file's folder.

    Raises: ConfigError when the file cannot be read, or with every problem in it.
    """
    path = Path(path)
    return load_text(read_text_file(path), file=str(path), base_dir=path.absolute().parent, variables=variables)


def load_text(
    text: str,
    *,
    file: str = "<cell>",
    base_dir: Path | None = None,
    variables: Mapping[str, object] | None = None,
) -> Pipeline:
    """Load a pipeline from its YAML text.

    `file` is its name in messages, `base_dir` where relative paths start (the current folder when None), and
    `variables` holds the values of `((name))`.

    Raises: ConfigError with one line `file:line:column: what; what instead` for each problem.
    """
    problems = Problems(file)
    root = problems.root = read_tree(text, problems, variables or {})
    if not isinstance(root, Entries):
        what = "this is a list of steps" if isinstance(root, Items) else f"this is {shape(root)}"
        instead = "write it under `jobs:` and `plan:`, or load a pipeline first and then run it as steps of that one"
        problems.root = None
        problems.add(root.mark, (), f"{what}, not a pipeline; {instead}")
        raise problems.error()
    pipeline = read_document(root, problems, file=file, base_dir=base_dir or Path.cwd(), text=text)
    if problems or pipeline is None:
        raise problems.error()
    return pipeline


def load_steps(
    text: str,
    *,
    pipeline: Pipeline,
    job: str | None = None,
    file: str = "<cell>",
    variables: Mapping[str, object] | None = None,
) -> tuple[Step, ...]:
    """Load a list of steps that use the agents and resources of `pipeline`; `job` names their job in messages.

    Whether their inputs are there shows when they run, as an earlier cell may have made them.

    Raises: ConfigError with one line `file:line:column: what; what instead` for each problem.
    """
    problems = Problems(file, job=job)
    root = problems.root = read_tree(text, problems, variables or {})
    if not isinstance(root, Items):
        what = "this is a pipeline" if isinstance(root, Entries) and "jobs" in root else f"this is {shape(root)}"
        problems.add(root.mark, (), f"{what}, not a list of steps; begin each step with `- `")
        raise problems.error()
    if not root:
        problems.add(root.mark, (), "this list has no steps; write at least one")
    steps = read_plan(root, (), problems, names_of(pipeline.agents, pipeline.resources), available=None)
    problems.raise_all()
    return tuple(step for step in steps if step is not None)
