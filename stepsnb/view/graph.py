"""The plan of a job as a graph, before anything runs: steps, the blocks around them, and where they route to."""

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from ..config import AgentStep, ApprovalStep, Axis, EnsembleStep, GetStep, Job, Pipeline, Step
from ..config.steps.across import Crossed
from ..config.steps.routes import Routed
from ..visible import one_line
from .words import count_words

_NAME_CHARACTERS = 80
_IN_ORDER = ("do", "try")
_LABELS = {"in_parallel": "in parallel", "load_var": "load var"}


@dataclass(frozen=True, slots=True)
class GraphRoute:
    """A way out of a step other than to the next one: `on` an outcome or verdict to the step called `to`."""

    on: str
    to: str


@dataclass(frozen=True, slots=True)
class GraphStep:
    """One step of a plan as it is drawn.

    `path` is its place in the plan, as in `plan()`, `depth` how many blocks are around it, `in_order` whether the
    steps inside it follow one another (others go side by side), `facts` what there is to say about it in words.
    """

    path: str
    name: str
    kind: str
    depth: int
    in_order: bool
    facts: str
    routes: tuple[GraphRoute, ...] = ()

    @property
    def words(self) -> str:
        """Its name, what it is, and where it leads, on one line."""
        return " · ".join(filter(None, (self.title, self.facts, self.routes_words)))

    @property
    def title(self) -> str:
        """Its name and what it is; blocks are called by their kind, and agents need no other word."""
        kind = _LABELS.get(self.kind, self.kind)
        if self.name == self.kind:
            return kind
        return self.name if self.kind == "agent" else f"{self.name} ({kind})"

    @property
    def routes_words(self) -> str:
        """Where it leads, in words; empty when only to the next step."""
        return ", ".join(f"{route.on} → {route.to}" for route in self.routes)


def plan_graph(pipeline: Pipeline, job: Job) -> list[GraphStep]:
    """Return the steps of a job's plan, each before those inside it; a matrix is one step, its hooks are left out."""
    return list(_steps(pipeline, job.plan, "", 0))


def graph_json(steps: Sequence[GraphStep]) -> list[dict[str, object]]:
    """Return a graph as plain data for a front end."""
    return [{**asdict(step), "title": step.title} for step in steps]


def graph_text(name: str, steps: Sequence[GraphStep]) -> str:
    """Draw a graph as text: on one line where steps only follow one another, else a line each."""
    if all(step.depth == 0 and not step.routes for step in steps):
        return f"job {name}: " + " → ".join(step.title for step in steps)
    return "\n".join([f"job {name}:", *("  " * (step.depth + 1) + step.words for step in steps)])


def graph_html(name: str, steps: Sequence[GraphStep]) -> str:
    """Draw a graph as nested lists, which read well without styles: numbered where steps follow one another."""
    lines = [f"<p><b>job {html.escape(name)}</b></p>", "<ol>"]
    open_tags = ["ol"]
    for index, step in enumerate(steps):
        while len(open_tags) > step.depth + 1:
            lines.append(f"</{open_tags.pop()}></li>")
        lines.append(f"<li>{html.escape(step.words)}")
        if index + 1 < len(steps) and steps[index + 1].depth > step.depth:
            open_tags.append("ol" if step.in_order else "ul")
            lines.append(f"<{open_tags[-1]}>")
        else:
            lines.append("</li>")
    while len(open_tags) > 1:
        lines.append(f"</{open_tags.pop()}></li>")
    return "".join([*lines, "</ol>"])


def _steps(pipeline: Pipeline, steps: Sequence[Step], prefix: str, depth: int) -> Iterator[GraphStep]:
    for index, step in enumerate(steps):
        path = f"{prefix}{index}"
        routes = tuple(GraphRoute(on, one_line(to, _NAME_CHARACTERS)) for on, to in _routes(step).items())
        in_order = step.kind in _IN_ORDER
        name = one_line(step.name, _NAME_CHARACTERS)
        yield GraphStep(path, name, step.kind, depth, in_order, _facts(pipeline, step), routes)
        yield from _steps(pipeline, step.held, f"{path}.", depth + 1)


def _routes(step: Step) -> Mapping[str, str]:
    """Return where a step leads by verdict and outcome, `failure` and `success` among them."""
    targets: dict[str, str] = {}
    if isinstance(step, AgentStep | EnsembleStep):
        targets.update(step.routes)
    if isinstance(step, Routed) and step.to is not None:
        ways = {"success": step.to.success, "failure": step.to.failure}
        targets.update({on: target for on, target in ways.items() if target is not None})
    return targets


def _facts(pipeline: Pipeline, step: Step) -> str:
    facts: list[str] = []
    match step:
        case AgentStep():
            facts.append(pipeline.agent(step.agent).source.model or pipeline.defaults.model or "no model")
        case EnsembleStep():
            facts.append(f"decided by {step.decide}")
        case ApprovalStep():
            facts.append(step.message)
        case GetStep() if step.resource != step.get:
            facts.append(f"of {step.resource}")
    if isinstance(step, Crossed) and step.across is not None:
        facts.append(_cells(step.across.axes))
    if step.when is not None:
        facts.append("guarded by `when`")
    if isinstance(step, Routed | EnsembleStep) and step.max_visits is not None:
        facts.append(f"at most {count_words(step.max_visits, 'visit')}")
    return one_line(" · ".join(facts), 2 * _NAME_CHARACTERS)


def _cells(axes: Sequence[Axis]) -> str:
    """Say what a matrix goes across, and how many cells that makes where it is known before the run."""
    names = ", ".join(axis.var for axis in axes)
    sizes = [len(axis.values) for axis in axes if axis.values is not None]
    if len(sizes) < len(axes):
        return f"across {names}"
    return f"across {names}, {count_words(math.prod(sizes), 'cell')}"
