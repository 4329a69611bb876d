"""Loads pipelines and starts their runs."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

from ..config import Job, Pipeline, load_file, load_steps, load_text
from ..engine import engine
from ..errors import ConfigError, InputError
from ..events import Event, StepSkipped, StepStarted
from ..llm import key_variable
from ..people import GivenAnswers, Ladder, Mailbox
from ..plan import build_plan
from ..run import JobRun, Recorder, RunResult, RunSetup, StepCache, new_run_id, past_of
from ..run.context import RunContext
from ..run.meter import Meter, cap_meter
from ..run.scope import Scope
from ..store import open_spool
from ..suggest import unknown_name
from ..workspace import ArtifactTree, RunWorkspace, gather_files
from .open_variables import AskedVariables
from .options import (
    Functions,
    PathLike,
    RunOptions,
    RunPlace,
    cassette_of,
    current_folder,
    files_of,
    functions_of,
    secrets_of,
)
from .plan import plan_frame
from .run import OpenRun, Run, RunHandle

if TYPE_CHECKING:
    import pandas as pd

    from .picking import PipelinePicker

_YAML_SUFFIXES = (".yml", ".yaml")


@overload
def load(
    path_or_text: str | os.PathLike[str],
    *,
    vars: Mapping[str, object] | None = None,
    functions: Functions | None = None,
    name: str = "<text>",
    leave_open: bool = False,
) -> "LoadedPipeline": ...


@overload
def load(
    path_or_text: None = None,
    *,
    vars: Mapping[str, object] | None = None,
    functions: Functions | None = None,
) -> "PipelinePicker": ...


def load(
    path_or_text: str | os.PathLike[str] | None = None,
    *,
    vars: Mapping[str, object] | None = None,
    functions: Functions | None = None,
    name: str = "<text>",
    leave_open: bool = False,
) -> "LoadedPipeline | PipelinePicker":
    """Load a pipeline from a file or from its YAML text; without one, return what a person can pick one with.

    A one-line string that ends in `.yml` or `.yaml` is a path, anything else text; relative paths inside a
    pipeline start at its file's folder, or at the current one for a text. `name` stands for the text in messages.
    With `leave_open`, variables may be without a value until a run (`LoadedPipeline.open_variables`); one that stands
    for something other than a text needs its value here all the same.

    Raises: ConfigError listing every problem as `file:line:column: …`.
    """
    if path_or_text is None:
        from .picking import PipelinePicker

        return PipelinePicker(vars=vars, functions=functions)
    if isinstance(path_or_text, str) and path_or_text.strip() and not set(path_or_text) & set("\n:.[{"):
        raise ConfigError(
            f"`{path_or_text}` is no pipeline, and a path ends in `.yml` or `.yaml`; hand other paths in as a `Path`"
        )
    is_path = isinstance(path_or_text, os.PathLike) or (
        "\n" not in path_or_text and path_or_text.strip().endswith(_YAML_SUFFIXES)
    )
    folder = current_folder()

    def read(variables: Mapping[str, object]) -> Pipeline:
        if is_path:
            return load_file(Path(path_or_text), variables=variables)
        return load_text(str(path_or_text), file=name, base_dir=folder, variables=variables)

    asked = AskedVariables(vars or {}, stands_in=leave_open)
    try:
        pipeline = read(asked)
    except ConfigError:
        if leave_open and asked.without_value:  # what is wrong may be what stands in for a value
            read(vars or {})
        raise
    return LoadedPipeline(pipeline, vars or {}, functions, used=asked.names)


def run_job(pipeline: "LoadedPipeline | PathLike", job: str | None = None, **options: Unpack[RunOptions]) -> Run:
    """Run a job of a pipeline (the only one when not named) to its end and return the run, whatever its outcome.

    `pipeline` is a loaded one, or what `load` takes. Options: see `RunOptions`.

    Raises: what `load` and `LoadedPipeline.run` raise.
    """
    if not isinstance(pipeline, LoadedPipeline):
        pipeline = load(pipeline, vars=options.get("vars"), functions=options.get("functions"))
    return pipeline.run(job, **options)


class LoadedPipeline:
    """A pipeline that has been read and checked; runs of it are independent of each other.

    `pipeline` is its model. What changes in its file afterwards is not seen: load it again.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        variables: Mapping[str, object],
        functions: Functions | None,
        *,
        used: Sequence[str] = (),
    ) -> None:
        self.pipeline = pipeline
        self._variables = dict(variables)
        self._functions = functions
        self._used = tuple(used)

    @property
    def variables(self) -> dict[str, object]:
        """The variables its text uses, in order, with the values they were given; None without one."""
        return {name: self._variables.get(name) for name in self._used}

    @property
    def open_variables(self) -> tuple[str, ...]:
        """Those of them that have no value yet, so that each run needs one."""
        return tuple(name for name, value in self.variables.items() if value is None)

    @property
    def jobs(self) -> list[str]:
        """Names of its jobs, in order."""
        return [job.name for job in self.pipeline.jobs]

    @property
    def key_variables(self) -> dict[str, str]:
        """The variables that hold the keys of its agents' models, each with the first agent that needs it."""
        found: dict[str, str] = {}
        for agent in self.pipeline.agents:
            variable = key_variable(agent.source, self.pipeline.defaults.model)
            if variable is not None:
                found.setdefault(variable, agent.name)
        return found

    def plan(
        self,
        job: str | None = None,
        *,
        vars: Mapping[str, object] | None = None,
        files: Sequence[PathLike] | PathLike | None = None,
        store: PathLike | None = None,
    ) -> "pd.DataFrame":
        """Say of each step of a job (the only one when not named) what a run would do with it; nothing runs.

        Columns, all texts: step (its name), kind; action: `run`, `reuse` or `skip`; reason, in words; path, its place
        in the plan (`2.0` is the first step inside the third one, `3[a=1]` a cell, `4.ensure` a hook), parent, the
        path of the block around it (missing for a step of the job's own); hash, its identity. The steps are in
        order, each before those inside it. What only a run can tell counts as `run`.

        Raises: InputError for an unknown job, missing variable or file; WorkspaceError for a `path` resource that is
            not there; StoreError when the store cannot be read.
        """
        return plan_frame(self._adapted({"vars": vars}), job, files=files, store=store)

    def run(self, job: str | None = None, **options: Unpack[RunOptions]) -> Run:
        """Run a job (the only one when not named) to its end and return the run, whatever its outcome.

        Works in scripts, notebook cells and inside another running loop. Options: see `RunOptions`.

        Raises: InputError for an unknown job, missing variable or bad option; StoreError when the store fails.
        """
        return self.start(job, **options).result()

    def start(self, job: str | None = None, **options: Unpack[RunOptions]) -> RunHandle:
        """Start a job and return at once; await the handle for the `Run`, or `cancel()` it."""
        place = RunPlace(options)
        return _start(self._build(job, options, place), place)

    def start_steps(self, text: str, *, name: str = "<cell>", **options: Unpack[RunOptions]) -> RunHandle:
        """Start a run of nothing but a YAML list of steps, which use this pipeline's agents and resources.

        The run's job has the first step's name. `name` stands for the list in messages.

        Raises: ConfigError where the list is wrong; and what `start` raises.
        """
        place = RunPlace(options)

        def only_these(pipeline: Pipeline) -> Pipeline:
            steps = load_steps(text, pipeline=pipeline, file=name, variables=self._with(options))
            return pipeline.model_copy(update={"jobs": (Job(name=steps[0].name, plan=steps),)})

        return _start(self._build(None, options, place, adapt=only_these), place)

    def open(self, job: str | None = None, *, after: OpenRun | None = None, **options: Unpack[RunOptions]) -> OpenRun:
        """Open a run that goes on cell by cell, from the artifacts and decisions of `after`, a run that has ended."""
        place = RunPlace(options) if after is None else after.place
        run = self._build(job, options, place, after)
        return OpenRun(run, self._adapted(options), place, self._with(options))

    def fork(self, earlier: OpenRun, *, from_step: str, **options: Unpack[RunOptions]) -> OpenRun:
        """Open a run with what `earlier` had before it began `from_step`; what came after is not part of it.

        Nothing that is taken over runs again. The new run has `forked_from`.

        Raises: InputError for a step that has not run there.
        """
        events = earlier.events
        begun = [e.name for e in events if isinstance(e, StepStarted | StepSkipped) and e.node is not None]
        if from_step not in begun:
            raise InputError(f"run {earlier.run_id}: {unknown_name('step', from_step, begun)}")
        root = earlier.place.root
        past = past_of(events, root, before=from_step)
        setup = RunSetup(past.trees, past.decisions, past=past, forked_from=earlier.run_id, forked_at=from_step)
        run = self._build(earlier.job, options, earlier.place, setup=setup)
        return OpenRun(run, self._adapted(options), earlier.place, self._with(options))

    def start_again(
        self,
        job: str,
        setup: RunSetup,
        *,
        options: RunOptions,
        run_id: str | None = None,
        before: Sequence[Event] = (),
        hold: ExitStack,
    ) -> RunHandle:
        """Start a run of which an earlier one got a part done; `before` are the events it has already.

        What `hold` has to undo is taken over, and done when the run has ended.
        """
        place = RunPlace(options)
        run = self._build(job, options, place, setup=setup, run_id=run_id, before=before)
        return _start(run, place, hold.pop_all())

    def _with(self, options: RunOptions) -> dict[str, object]:
        return {**self._variables, **(options.get("vars") or {})}

    def _adapted(self, options: RunOptions) -> Pipeline:
        if not options.get("vars") and not self.open_variables:
            return self.pipeline
        known = self.pipeline
        return load_text(known.source_text, file=known.file, base_dir=known.base_dir, variables=self._with(options))

    def _build(
        self,
        job: str | None,
        options: RunOptions,
        place: RunPlace,
        after: OpenRun | None = None,
        adapt: Callable[[Pipeline], Pipeline] = lambda pipeline: pipeline,
        setup: RunSetup | None = None,
        run_id: str | None = None,
        before: Sequence[Event] = (),
    ) -> JobRun:
        unknown = set(options) - set(RunOptions.__annotations__)
        if unknown:
            raise InputError(f"unknown option `{min(unknown)}`; there are: {', '.join(RunOptions.__annotations__)}")
        functions = functions_of(options.get("functions"), self._functions)
        mailbox = Mailbox(place.root) if place.is_kept else None
        ladder = Ladder(
            GivenAnswers.from_value(options.get("answers")),
            options.get("asker"),
            mailbox=mailbox,
            parks=options.get("parks", False),
        )
        whole = self._adapted(options)
        pipeline = adapt(whole)
        plan = build_plan(pipeline, job)
        run_id = run_id or new_run_id()
        kept = pipeline.workspace
        work_root = pipeline.base_dir / kept.root if kept is not None and kept.root is not None else None
        workspace = RunWorkspace(place.root, run_id, work_root=work_root)
        artifacts: list[ArtifactTree] = [] if after is None else list(after.artifacts)
        if files := files_of(options):
            artifacts.append(gather_files(files, base_dir=current_folder(), workspace=workspace))
        recorder = Recorder(
            run_id,
            sink=open_spool(place.root) if place.is_kept else None,
            watchers=[on_event] if (on_event := options.get("on_event")) else (),
            secrets=secrets_of(whole, plan.job.plan),
            before=before,
        )
        context = RunContext(
            pipeline=pipeline,
            workspace=workspace,
            recorder=recorder,
            ladder=ladder,
            functions=functions,
            variables=self._with(options),
            scope=Scope(meter=Meter(cap_meter(place.root))) if place.is_kept else Scope(),
            cache=StepCache(place.root, kept.cache if kept is not None else None) if place.is_kept else None,
        )
        if (cassette := cassette_of(options)) is not None:
            cassette.hide = recorder.redact
            context.cassette = cassette
        context.asked.recall(before, mailbox)
        if setup is None:
            decisions = {} if after is None else after.decisions
            setup = RunSetup(tuple(artifacts), decisions, forked_from=None if after is None else after.run_id)
        elif artifacts:
            setup = replace(setup, artifacts=tuple(artifacts))
        return JobRun(plan, context, setup)


def _start(run: JobRun, place: RunPlace, hold: ExitStack | None = None) -> RunHandle:
    async def run_all() -> RunResult:
        with hold or nullcontext(), place.held():  # a handle that nobody keeps must not take the run's files with it
            return await run.run_all()

    return RunHandle(run.run_id, engine().start(run_all()), place, run.watch)


def start_run(
    loaded: LoadedPipeline, options: RunOptions, place: RunPlace, adapt: Callable[[Pipeline], Pipeline]
) -> RunHandle:
    """Start the only job of what `adapt` makes of a pipeline."""
    return _start(loaded._build(None, options, place, adapt=adapt), place)
