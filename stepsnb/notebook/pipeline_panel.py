"""A loaded pipeline below its cell: its plan as a graph, inputs for its variables, Run, Next and Stop."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine import engine
from ..errors import InputError
from .cell import CellRun
from .display import DisplayPlace
from .panel import PanelHost

if TYPE_CHECKING:
    from ..api import LoadedPipeline
    from .given import MagicOptions
    from .loaded import Loaded

_LOOK_S = 0.25
"""How often the graph takes over how the steps stand."""

_VALUE_CHARACTERS = 200


class PipelinePanel:
    """Acts on a pipeline for the person who clicks; what it runs is shown below the panel, one run at a time."""

    def __init__(
        self, loaded: "Loaded", pipeline: "LoadedPipeline", options: "MagicOptions", *, host: PanelHost | None = None
    ) -> None:
        self._loaded = loaded
        self._pipeline = pipeline
        self._options = replace(options, parks=True)
        self._graphs = _graphs(pipeline)
        self._acting = threading.Lock()
        self._cell: CellRun | None = None
        self._is_busy = False
        self._host = host or PanelHost(self.act, {})
        self._host.act = self.act
        self._place = DisplayPlace(self._host.output, stays=True)
        self._host.show(self._state())

    def open(self) -> None:
        """Offer it to the front end, on the cell's thread."""
        self._host.open()

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asks for. Raises: StepsError with what is wrong."""
        match message:
            case {"t": "stop"}:
                if self._cell is not None:
                    self._cell.stop()
            case {"t": "run" | "next" as what, "job": str(job), "vars": Mapping() as values}:
                with self._acting:
                    self._start(what, job, {str(name): str(value) for name, value in values.items()})

    def _start(self, what: str, job: str, values: Mapping[str, str]) -> None:
        if self._is_busy:
            raise InputError("a run is under way; wait for its end, or stop it")
        options = replace(self._options, vars={**self._options.vars, **values})
        missing = [f"`(({name}))`" for name in self._pipeline.open_variables if name not in options.vars]
        if missing:
            raise InputError(f"no value yet for {', '.join(missing)}; fill it in above")
        self._loaded.adopt(self._pipeline, options)
        if what == "run":
            cell = self._loaded.run_job(job, options, place=self._place)
        else:
            self._loaded.go_to(job, options)
            cell = self._loaded.go_on(lambda run: run.next(), place=self._place)
        self._cell, self._is_busy = cell, True
        try:
            cell.go_on_in_background(then=self._ended)
        except BaseException:
            self._is_busy = False
            raise
        engine().start(self._follow(cell))

    async def _follow(self, cell: CellRun) -> None:
        while self._is_busy and cell is self._cell:
            self._host.show(self._state())
            await asyncio.sleep(_LOOK_S)

    def _ended(self) -> None:
        self._is_busy = False
        self._host.show(self._state())
        run = None if self._cell is None else self._cell.ended
        if run is not None and run.outcome is not None:
            self._host.say(f"job {run.job} {run.outcome}, run {run.run_id}")

    def _state(self) -> dict[str, Any]:
        remaining = self._loaded.remaining(self._pipeline)
        return {
            "kind": "pipeline",
            "title": self._pipeline.pipeline.file,
            "job": self._loaded.job or self._pipeline.jobs[0],
            "jobs": self._graphs,
            "vars": [_variable(name, value) for name, value in self._values().items()],
            "statuses": {} if self._cell is None else self._cell.statuses,
            "busy": self._is_busy,
            "next": remaining[0] if remaining else None,
        }

    def _values(self) -> dict[str, object]:
        return {name: self._options.vars.get(name, value) for name, value in self._pipeline.variables.items()}


def _graphs(pipeline: "LoadedPipeline") -> list[dict[str, Any]]:
    from ..view.graph import graph_json, plan_graph

    read = pipeline.pipeline
    return [{"name": job.name, "steps": graph_json(plan_graph(read, job))} for job in read.jobs]


def _variable(name: str, value: object) -> dict[str, Any]:
    """Describe a variable's input; what is no text, number or truth value is only shown."""
    if value is None or isinstance(value, str | int | float):
        text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        return {"name": name, "value": text, "editable": True}
    return {"name": name, "value": f"{type(value).__name__} from Python"[:_VALUE_CHARACTERS], "editable": False}
