"""Loads pipelines and cells of steps: text in, checked models out, or one error that lists every problem."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from .document import read_document
from .includes import Includes
from .pipeline import Pipeline
from .plan_checks import check_plan, check_step
from .plan_reader import StepReader
from .problems import Problems
from .reader import read_tree
from .references import names_of, tasks_of
from .steps import Step, StepBase
from .text_file import read_text_file
from .tree import Entries, Items
from .var_scopes import VarScopes
from .variables import Variables, deferred_names
from .wording import shape

AnyStep = TypeVar("AnyStep", bound=StepBase)


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
    read = read_tree(text, problems, variables or {})
    root = problems.root = read.root
    if not isinstance(root, Entries):
        what = "this is a list of steps" if isinstance(root, Items) else f"this is {shape(root)}"
        instead = "write it under `jobs:` and `plan:`, or load a pipeline first and then run it as steps of that one"
        problems.root = None
        problems.add(root.mark, (), f"{what}, not a pipeline; {instead}")
        raise problems.error()
    base_dir = base_dir or Path.cwd()
    includes = Includes(problems, base_dir, read.variables, variables or {})
    given = {"file": file, "base_dir": base_dir, "source_text": text}
    pipeline = read_document(root, problems, includes, given)
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
    read = read_tree(text, problems, variables or {})
    root = problems.root = read.root
    if not isinstance(root, Items):
        what = "this is a pipeline" if isinstance(root, Entries) and "jobs" in root else f"this is {shape(root)}"
        problems.add(root.mark, (), f"{what}, not a list of steps; begin each step with `- `")
        raise problems.error()
    if not root:
        problems.add(root.mark, (), "this list has no steps; write at least one")
    includes = Includes(problems, pipeline.base_dir, read.variables, variables or {})
    steps = StepReader(problems, includes, tasks_of(pipeline), job=job).read_list(root, ())
    check_plan(steps, problems, names_of(pipeline), job=job, available=None)
    problems.raise_all()
    return tuple(each.step for each in steps if each.step is not None)


def resolve_step(step: AnyStep, variables: Mapping[str, str], pipeline: Pipeline) -> AnyStep:
    """Return `step` with the values of `((name))` that earlier `load_var` steps have set.

    Variables without a value yet stay as they are. Of a block only its own keys are resolved; what it holds is
    resolved when its turn comes.

    Raises: ConfigError, located like at load time, when the step cannot be with these values.
    """
    deferred = step.deferred
    if deferred is None or deferred.names.isdisjoint(variables):
        return step
    problems = Problems(step.where.file, job=deferred.job)
    problems.root = deferred.root
    scopes = VarScopes.waiting_for(deferred_names(deferred.raw) - variables.keys())
    raw = Variables(variables, problems, scopes).expand_tree(deferred.raw, deferred.path)
    reader = StepReader(problems, None, tasks_of(pipeline), job=deferred.job)
    read = reader.read(raw, deferred.path, deferred.more)
    check_step(read, problems, names_of(pipeline))
    problems.raise_all()
    if not isinstance(read.step, type(step)):  # pragma: no cover  # a step that cannot be built is a problem
        raise problems.error()
    return read.step
