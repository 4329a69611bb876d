"""What a cell shows of a run: one static bundle of HTML and text, shown once, or put in the live view's place."""

import contextvars
import html
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.display import display, update_display

if TYPE_CHECKING:
    from ..api import LoadedPipeline, PipelinePicker, Run

T = TypeVar("T")

Bundle = dict[str, Any]


class CellOutput:
    """The output area of one cell, reachable from any thread.

    The kernel routes output by a context variable; whatever it handles while the cell runs (a click, say) would
    take later output of other threads elsewhere, so each send runs in a copy of the context the cell started in.
    """

    def __init__(self) -> None:
        self._context = contextvars.copy_context()

    def run(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call `function` as the cell would."""
        return self._context.copy().run(function, *args, **kwargs)

    def show(self, bundle: Bundle, *, display_id: str | None = None) -> None:
        """Add a display to the cell."""
        ids = {} if display_id is None else {"display_id": display_id}
        self.run(display, bundle, raw=True, **ids)

    def replace(self, bundle: Bundle, *, display_id: str) -> None:
        """Put `bundle` in the place of an earlier display."""
        self.run(update_display, bundle, raw=True, display_id=display_id)


class DisplayPlace:
    """One place in a cell's output: what is shown there takes the place of what was there before.

    One that `stays` takes the next run too, when the last has ended.
    """

    def __init__(self, output: CellOutput | None = None, *, stays: bool = False) -> None:
        self.output = output or CellOutput()
        self._stays = stays
        self._display_id = f"stepsnb-{uuid.uuid4().hex[:12]}"
        self._is_taken = False

    def show(self, bundle: Bundle, *, is_last: bool = True) -> None:
        """Show `bundle`; nothing that is the first and the last there needs an id for what would replace it."""
        if self._is_taken:
            self.output.replace(bundle, display_id=self._display_id)
        elif is_last and not self._stays:
            self.output.show(bundle)
        else:
            self.output.show(bundle, display_id=self._display_id)
            self._is_taken = True


def state_bundle(state: dict[str, Any]) -> Bundle:
    """Draw a view's state without scripts or styles: what the saved notebook keeps."""
    from ..view import render_html, render_text

    return {"text/html": render_html(state), "text/plain": render_text(state)}


def show_below(value: object) -> None:
    """Show a value below what the running cell shows already."""
    display(value)  # type: ignore[no-untyped-call]


class Echo:
    """How the shell shows runs, pipelines and pickers; a run that its cell has shown already is not shown again.

    `open_controls` puts what acts on a pipeline or picker below it.
    """

    def __init__(self, shell: Any, open_controls: "Callable[[LoadedPipeline | PipelinePicker], None]") -> None:
        self._shell = shell
        self._open_controls = open_controls
        self._shown: object = None

    def shown(self, run: "Run") -> None:
        """Note that the running cell shows `run`."""
        self._shown = run

    def display(self, run: "Run") -> None:
        """Show nothing in the cell that shows the run; elsewhere leave it to the run's own representation."""
        if run is not self._shown:
            raise NotImplementedError  # IPython's way to go on with the next formatter

    def display_with_controls(self, shown: "LoadedPipeline | PipelinePicker") -> None:
        """Open the controls, and leave the value itself to the next formatters."""
        self._open_controls(shown)
        raise NotImplementedError

    def register(self) -> None:
        """Take over how the shell displays them."""
        self._shell.events.register("pre_run_cell", self._next_cell)
        for mime, type_name, function in self._formatters():
            self._formatter(mime).for_type_by_name(*type_name, function)

    def unregister(self) -> None:
        """Give it back."""
        self._shell.events.unregister("pre_run_cell", self._next_cell)
        for mime, type_name, _ in self._formatters():
            self._formatter(mime).pop(".".join(type_name), None)

    def _next_cell(self, _: object) -> None:
        self._shown = None

    def _formatters(self) -> list[tuple[str | None, tuple[str, str], Callable[..., object]]]:
        # By name: a type must not be imported before somebody uses it.
        run, pipeline = ("stepsnb.api.run", "Run"), ("stepsnb.api.pipeline", "LoadedPipeline")
        return [
            (None, run, self.display),
            (None, pipeline, self.display_with_controls),
            (None, ("stepsnb.api.picking", "PipelinePicker"), self.display_with_controls),
            ("text/plain", pipeline, _print_pipeline),
            ("text/html", pipeline, pipeline_html),
        ]

    def _formatter(self, mime: str | None) -> Any:
        formatter = self._shell.display_formatter
        return formatter.ipython_display_formatter if mime is None else formatter.formatters[mime]


def pipeline_text(loaded: "LoadedPipeline") -> str:
    """What a loaded pipeline holds, as text: its jobs with the steps of their plans, its agents with their models."""
    from ..view.graph import graph_text, plan_graph

    pipeline = loaded.pipeline
    jobs = [graph_text(job.name, plan_graph(pipeline, job)) for job in pipeline.jobs]
    return "\n".join([*jobs, *(": ".join(row) for row in _agent_rows(loaded)), *_open_words(loaded)])


def pipeline_html(loaded: "LoadedPipeline") -> str:
    """The same as lists and a table; names and descriptions are text, never markup."""
    from ..view.graph import graph_html, plan_graph

    pipeline = loaded.pipeline
    jobs = "".join(graph_html(job.name, plan_graph(pipeline, job)) for job in pipeline.jobs)
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in _agent_rows(loaded))
    table = f"<table>{rows}</table>" if rows else ""
    return jobs + table + "".join(f"<p>{html.escape(words)}</p>" for words in _open_words(loaded))


def _agent_rows(loaded: "LoadedPipeline") -> list[tuple[str, str]]:
    pipeline = loaded.pipeline
    models = [(agent, agent.source.model or pipeline.defaults.model or "no model") for agent in pipeline.agents]
    return [(f"agent {agent.name}", " · ".join(filter(None, (model, agent.description)))) for agent, model in models]


def _open_words(loaded: "LoadedPipeline") -> list[str]:
    """Say which variables have no value yet."""
    if not loaded.open_variables:
        return []
    names = " ".join(loaded.open_variables)
    return [f"needs values for: {', '.join(loaded.open_variables)}; give them with `%steps run --use {names}`"]


def _print_pipeline(loaded: "LoadedPipeline", printer: Any, cycle: bool) -> None:
    printer.text(pipeline_text(loaded))
