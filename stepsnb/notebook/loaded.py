"""What a notebook has loaded: the pipeline, and the run that its cells work on one after another."""

import json
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import InputError
from ..settings import STOP_PROMPT_S
from ..suggest import unknown_name
from .ask_key import ask_for_keys
from .cell import CellRun, Starter, can_prompt, has_front_end
from .display import DisplayPlace, Echo, show_below
from .given import Functions, MagicOptions
from .pictures import picture_files
from .relay import CellRelay
from .watch import CellWatch

if TYPE_CHECKING:
    from ..api import LoadedPipeline, OpenRun, PipelinePicker, Run, RunHandle, Variant
    from ..api.options import RunOptions
    from ..events import Event
    from ..people import Asker

CELL = "cell"
"""How messages call a pipeline written in a cell: `cell:3:5: …`, with the line as the cell shows it."""


class Loaded:
    """The notebook's pipeline and open run; the magics act on it."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.options = MagicOptions()
        self.echo = Echo(shell, self._open_controls)
        self.last_run_id: str | None = None
        self._pipeline: LoadedPipeline | None = None
        self._job: str | None = None
        self._open: tuple[OpenRun, CellRelay] | None = None
        self._given: weakref.WeakKeyDictionary[object, MagicOptions] = weakref.WeakKeyDictionary()

    @property
    def pipeline(self) -> "LoadedPipeline":
        """The loaded pipeline; raises InputError when there is none."""
        if self._pipeline is None:
            raise InputError("no pipeline is loaded; load one with `%steps load FILE` or a `%%steps` cell")
        return self._pipeline

    @property
    def job(self) -> str | None:
        """The job that `next` and `step` work on; None for the only one."""
        return self._job

    @property
    def has_pipeline(self) -> bool:
        """Whether a pipeline is loaded."""
        return self._pipeline is not None

    @property
    def has_open_run(self) -> bool:
        """Whether a run is open, waiting for the next cell."""
        return self._open is not None and not self._open[0].is_finished

    @property
    def step_names(self) -> list[str]:
        """Names of the steps that `%steps step` may go to."""
        if self._open is not None:
            return self._open[0].remaining
        if self._pipeline is None:
            return []
        return [s.name for job in self._pipeline.pipeline.jobs if self._job in (None, job.name) for s in job.plan]

    def variables(self, names: list[str]) -> dict[str, object]:
        """Look up the variables that `--use` names; raises InputError for one that does not exist."""
        namespace = self.shell.user_ns
        for name in names:
            if name not in namespace:
                raise InputError(f"`--use {name}`: {unknown_name('Python variable', name, self.variable_names)}")
        return {name: namespace[name] for name in names}

    @property
    def variable_names(self) -> list[str]:
        """Names of what the person has defined in the notebook."""
        hidden = self.shell.user_ns_hidden
        return sorted(n for n in self.shell.user_ns if not n.startswith("_") and n not in hidden)

    def load(
        self, path_or_text: str | Path, options: MagicOptions, *, job: str | None = None, leave_open: bool = False
    ) -> "LoadedPipeline":
        """Load a pipeline in the place of the one before, whose open run ends; nothing runs yet.

        With `leave_open`, its variables may get their values later.
        """
        from .. import api

        functions = Functions(self.shell.user_ns)
        pipeline = api.load(path_or_text, vars=options.vars, functions=functions, name=CELL, leave_open=leave_open)
        self._replace(pipeline, job, options)
        self._given[pipeline] = options
        return pipeline

    def pick(self, options: MagicOptions) -> "PipelinePicker":
        """Return the pipelines to pick from; its display lets a person do that, with these options for the runs."""
        from ..api import PipelinePicker

        picker = PipelinePicker(vars=options.vars, functions=Functions(self.shell.user_ns))
        self._given[picker] = options
        return picker

    def options_of(self, shown: object) -> MagicOptions:
        """Return the options that a pipeline or picker was loaded with by a magic; none for any other."""
        return self._given.get(shown, MagicOptions())

    def _open_controls(self, shown: "LoadedPipeline | PipelinePicker") -> None:
        """Put a panel below the cell that shows a pipeline or picker, where somebody may click in it."""
        from ..api import LoadedPipeline
        from .picker_panel import PickerPanel
        from .pipeline_panel import PipelinePanel

        if not has_front_end(self.shell):
            return
        options = self.options_of(shown)
        if isinstance(shown, LoadedPipeline):
            PipelinePanel(self, shown, options).open()
        else:
            PickerPanel(self, shown, options).open()

    def _replace(self, pipeline: "LoadedPipeline", job: str | None, options: MagicOptions) -> None:
        if self._open is not None:
            self._open[0].abandon().wait(STOP_PROMPT_S)
        self._pipeline, self._job, self._open, self.options = pipeline, job, None, options

    def adopt(self, pipeline: "LoadedPipeline", options: MagicOptions) -> None:
        """Make a pipeline the loaded one unless it is that already; the open run of the one before ends."""
        if pipeline is not self._pipeline:
            self._replace(pipeline, None, options)

    def go_to(self, job: str, options: MagicOptions) -> None:
        """Have the next step be one of `job`: of its open run, or of a new one where none is open."""
        if self._open is not None and self._open[0].is_finished:
            self._open = None
        if self._open is not None and self._open[0].job != job:
            self._open[0].abandon().wait(STOP_PROMPT_S)
            self._open = None
        if self._open is None:
            self._job, self.options = job, options

    def remaining(self, pipeline: "LoadedPipeline") -> list[str]:
        """Return the steps that the open run of a pipeline has left; none when it has no open run."""
        if pipeline is not self._pipeline or self._open is None:
            return []
        return self._open[0].remaining

    def run_job(
        self,
        job: str | None,
        options: MagicOptions,
        *,
        keep_as: str | None = None,
        place: DisplayPlace | None = None,
    ) -> CellRun:
        """Prepare a cell that runs a whole job of the loaded pipeline; `place` is where it shows it."""
        start = partial(self.pipeline.start, job or self._job, **options.to_arguments())
        return self._cell(start, keep_as, place, asks_keys=options.replay is None)

    def in_background(self, cell: CellRun, *, keep_as: str | None = None) -> "RunHandle":
        """Start what a cell was prepared for, and return its handle at once, which is what the cell keeps."""
        handle = cell.go_on_in_background()
        if keep_as is not None:
            self.shell.push({keep_as: handle})
        return handle

    def watch(self, job: str | None, options: MagicOptions, *, interval: str, once: bool) -> CellWatch:
        """Prepare a cell that runs jobs of the loaded pipeline whenever there is something new for them."""
        from ..api.due import Watch
        from ..api.watching import read_interval

        if options.memory:
            raise InputError(
                "`%steps watch` keeps its runs in the store, which says what is new; load without `--memory`"
            )
        interval_s = read_interval(interval, name="--interval")
        watched = Watch(self.pipeline, job or self._job, store=options.store, interval_s=interval_s)
        return CellWatch(watched, lambda name: self.run_job(name, options), once=once)

    def resume(self, run_id: str, options: MagicOptions, *, keep_as: str | None = None) -> CellRun:
        """Prepare a cell that goes on with a run that ended early; its view begins with what was done before."""
        from ..api import start_resume

        events, arguments = self._again(run_id, options)

        def start(*, asker: "Asker", on_event: Callable[["Event"], None]) -> "RunHandle":
            for event in events:
                on_event(event)
            return start_resume(run_id, **arguments, asker=asker, on_event=on_event)

        return self._cell(start, keep_as)

    def replay(self, run_id: str, from_step: str, options: MagicOptions, *, keep_as: str | None = None) -> CellRun:
        """Prepare a cell that runs a job again from one of the steps of a run on, in a new run."""
        from ..api import start_replay

        _, arguments = self._again(run_id, options)
        return self._cell(partial(start_replay, run_id, from_step=from_step, **arguments), keep_as)

    def _again(self, run_id: str, options: MagicOptions) -> tuple[list["Event"], dict[str, Any]]:
        """Return what happened in a run, and what it takes to go on with it.

        One whose pipeline was written in a cell goes on with that of the last such cell, which may have been mended.
        """
        from ..api.options import store_root
        from ..events import RunStarted
        from ..store import Store, run_events

        events = run_events(Store(store_root(options.store)), run_id)
        started = next((event for event in events if isinstance(event, RunStarted)), None)
        arguments = {name: value for name, value in options.to_arguments().items() if name != "files"}
        arguments["functions"] = Functions(self.shell.user_ns)
        own = self._pipeline
        if own is not None and started is not None and started.pipeline == own.pipeline.file == CELL:
            arguments["pipeline"] = own
        return events, arguments

    def run_message(
        self,
        agent: str,
        message: str,
        options: MagicOptions,
        *,
        images: list[str] | None = None,
        keep_as: str | None = None,
    ) -> CellRun:
        """Prepare a cell that sends one message to an agent, in a run of its own.

        `images` are paths, or variables that hold pictures; they go with the message.
        """
        if not message:
            raise InputError("the message is empty; write it below `%%agent NAME`")
        from ..config import FILES_ARTIFACT

        def start(*, asker: "Asker", on_event: Callable[["Event"], None]) -> "RunHandle":
            with tempfile.TemporaryDirectory() as folder:
                pictures = picture_files(images or [], self.shell.user_ns, Path(folder))
                given = replace(options, files=[*(options.files or []), *map(str, pictures)] or None)
                step: dict[str, object] = {"agent": agent, "messages": [message]}
                if given.files:
                    step["inputs"] = [FILES_ARTIFACT]
                if pictures:
                    step["images"] = [f"{FILES_ARTIFACT}/{picture.name}" for picture in pictures]
                # JSON is YAML: whatever the message holds stays one text.
                text = json.dumps([step], ensure_ascii=False)
                arguments = given.to_arguments()
                return self.pipeline.start_steps(text, name=CELL, **arguments, asker=asker, on_event=on_event)

        return self._cell(start, keep_as, asks_keys=options.replay is None)

    def run_variants(
        self,
        agent: str,
        messages: list[str],
        dials: dict[str, list[str]],
        options: MagicOptions,
        *,
        verdicts: list[str] | None = None,
        keep_as: str | None = None,
    ) -> CellRun:
        """Prepare a cell that puts messages to variants of an agent, and shows a table of them behind the run."""
        from ..api import Varied, start_variants

        tried: list[Variant] = []

        def start(*, asker: "Asker", on_event: Callable[["Event"], None]) -> "RunHandle":
            given = cast("RunOptions", {**options.to_arguments(), "asker": asker, "on_event": on_event})
            handle, variants = start_variants(self.pipeline, agent, messages, dials, verdicts=verdicts, options=given)
            tried.extend(variants)
            return handle

        def on_end(run: "Run") -> None:
            self.last_run_id = run.run_id
            self.echo.shown(run)
            varied = Varied(run, tried)
            show_below(varied)
            if keep_as is not None:
                self.shell.push({keep_as: varied})

        return CellRun(start, shell=self.shell, on_end=on_end)

    def go_on(
        self,
        part: Callable[["OpenRun"], "RunHandle"],
        *,
        keep_as: str | None = None,
        place: DisplayPlace | None = None,
    ) -> CellRun:
        """Prepare a cell that does a part of the open run, which the first such cell opens."""
        open_run, relay = self._open or self._open_run(self._job, self.options)

        def start(*, asker: "Asker", on_event: Callable[["Event"], None]) -> "RunHandle":
            relay.attach(asker, on_event)
            return part(open_run)

        return self._cell(start, keep_as, place, asks_keys=self.options.replay is None)

    def step(self, name: str, *, keep_as: str | None = None) -> CellRun:
        """Prepare a cell that runs up to a step; one that has run already begins a fork of the run before it."""
        if self._open is not None and self._open[0].has_run(name):
            self._fork(name)
        return self.go_on(lambda run: run.step(name), keep_as=keep_as)

    def run_steps(self, text: str, job: str | None, options: MagicOptions, *, keep_as: str | None = None) -> CellRun:
        """Prepare a cell that runs steps of its own in the open run, or in a new one after the last has ended.

        The same cell run again begins a fork of the run before it.
        """
        first = None if self._open is None else self._open[0].first_step_of(text)
        if first is not None:
            self._fork(first)
        elif not self.has_open_run:
            self._open_run(job or self._job, options)
        return self.go_on(lambda run: run.run_steps(text, vars=options.vars, file=CELL), keep_as=keep_as)

    def _fork(self, from_step: str) -> None:
        """Go on in a new run with what the open one had before a step; the open one is left as it is."""
        assert self._open is not None
        earlier, relay = self._open[0], CellRelay()
        forked = self.pipeline.fork(
            earlier, from_step=from_step, **self.options.to_arguments(), asker=relay, on_event=relay.on_event
        )
        if not earlier.is_finished:
            earlier.leave(forked).wait()
        self._open = (forked, relay)

    def _open_run(self, job: str | None, options: MagicOptions) -> tuple["OpenRun", CellRelay]:
        relay = CellRelay()
        after = None if self._open is None else self._open[0]
        arguments = options.to_arguments()
        opened = self.pipeline.open(job, after=after, **arguments, asker=relay, on_event=relay.on_event)
        self._open = (opened, relay)
        return self._open

    def _cell(
        self, start: Starter, keep_as: str | None, place: DisplayPlace | None = None, *, asks_keys: bool = True
    ) -> CellRun:
        def on_end(run: "Run") -> None:
            self.last_run_id = run.run_id
            if not cell.is_in_background:
                self.echo.shown(run)
            if keep_as is not None:
                self.shell.push({keep_as: run})

        def begin(*, asker: "Asker", on_event: Callable[["Event"], None]) -> "RunHandle":
            if asks_keys and not cell.is_in_background and self._pipeline is not None and can_prompt(self.shell):
                ask_for_keys(self._pipeline)
            return start(asker=asker, on_event=on_event)

        cell = CellRun(begin, shell=self.shell, on_end=on_end, place=place)
        return cell
