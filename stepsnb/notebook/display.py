"""What a cell shows of a run: one static bundle of HTML and text, shown once, or put in the live view's place."""

import contextvars
import html
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.display import display, update_display

if TYPE_CHECKING:
    from ..api import LoadedPipeline, Run

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


def state_bundle(state: dict[str, Any]) -> Bundle:
    """Draw a view's state without scripts or styles: what the saved notebook keeps."""
    from ..view import render_html, render_text

    return {"text/html": render_html(state), "text/plain": render_text(state)}


def show_below(value: object) -> None:
    """Show a value below what the running cell shows already."""
    display(value)  # type: ignore[no-untyped-call]


class Echo:
    """Keeps a cell's value from being shown again below the result it stands for."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._shown: object = None

    def shown(self, run: "Run") -> None:
        """Note that the running cell shows `run`."""
        self._shown = run

    def display(self, run: "Run") -> None:
        """Show nothing in the cell that shows the run; elsewhere leave it to the run's own representation."""
        if run is not self._shown:
            raise NotImplementedError  # IPython's way to go on with the next formatter

    def register(self) -> None:
        """Take over how the shell displays runs and loaded pipelines."""
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
            ("text/plain", pipeline, _print_pipeline),
            ("text/html", pipeline, pipeline_html),
        ]

    def _formatter(self, mime: str | None) -> Any:
        formatter = self._shell.display_formatter
        return formatter.ipython_display_formatter if mime is None else formatter.formatters[mime]


def pipeline_rows(loaded: "LoadedPipeline") -> list[tuple[str, str]]:
    """What a loaded pipeline holds: its jobs with their steps in order, and its agents with their models."""
    pipeline = loaded.pipeline
    rows = [
        (f"job {job.name}", " → ".join(_step_words(step.kind, step.name) for step in job.plan)) for job in pipeline.jobs
    ]
    for agent in pipeline.agents:
        facts = (agent.source.model or pipeline.defaults.model or "no model", agent.description)
        rows.append((f"agent {agent.name}", " · ".join(filter(None, facts))))
    return rows


def pipeline_html(loaded: "LoadedPipeline") -> str:
    """The rows as a table; names and descriptions are text, never markup."""
    rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in pipeline_rows(loaded))
    return f"<table>{rows}</table>"


def _print_pipeline(loaded: "LoadedPipeline", printer: Any, cycle: bool) -> None:
    printer.text("\n".join(f"{name}: {value}" for name, value in pipeline_rows(loaded)))


def _step_words(kind: str, name: str) -> str:
    return name if kind == "agent" else f"{name} ({kind})"
