"""What there is to draw, as numbers: nothing here knows how."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .. import store as frames
from ..errors import InputError
from ..suggest import unknown_name
from ..visible import one_line

if TYPE_CHECKING:
    import pandas as pd

_LABEL_CHARACTERS = 40
_WAITING = "waiting for a person"
_CLASSES: Final = {
    "input_tokens": "input",
    "cached_input_tokens": "cached input",
    "cache_write_tokens": "cache writes",
    "output_tokens": "output",
}


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for each label, stacked of series with a value for each label."""

    title: str
    unit: str
    labels: list[str]
    series: dict[str, list[float]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Spans:
    """Lanes over time: of each what happened when, as kind, start and duration in seconds since the beginning."""

    title: str
    lanes: list[str]
    spans: list[list[tuple[str, float, float]]]
    kinds: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over counted points, with marks at points and a level each that none should reach; None for no level."""

    title: str
    unit: str
    lines: dict[str, list[float]]
    levels: dict[str, float | None] = field(default_factory=dict)
    marks: dict[str, list[int]] = field(default_factory=dict)


Picture: TypeAlias = "Bars | Spans | Lines"


def picture_of(store: frames.Store, kind: str, run_id: str | None) -> Picture:
    """Gather what a picture shows; of every run when `run_id` is None.

    Raises: InputError for an unknown kind or run, or a kind that is about one run; StoreError.
    """
    if kind not in _MAKERS:
        raise InputError(f"plot: {unknown_name('kind', kind, _MAKERS)}")
    make, is_of_one = _MAKERS[kind]
    if is_of_one and run_id is None:
        raise InputError(f"plot: `{kind}` is of one run; name it")
    return make(store, run_id)


def _cost(store: frames.Store, run_id: str | None) -> Bars:
    requests = frames.requests_df(store, run_id)
    requests["day"] = requests["created_at"].dt.strftime("%Y-%m-%d")
    days = sorted(requests["day"].dropna().unique())
    models = _names(requests["model"])
    sums = requests.groupby(["day", "model"], observed=True)["cost_usd"].sum()
    series = {_label(model): [float(sums.get((day, model), 0.0)) for day in days] for model in models}
    is_unknown = bool((requests["cost_usd"].isna() & requests["error"].isna()).any())
    note = "incomplete: the price of some requests is unknown" if is_unknown else ""
    return Bars("Cost per day", "US dollars", days, series, note)


def _tokens(store: frames.Store, run_id: str | None) -> Bars:
    cost = frames.cost_df(store, run_id)
    by = "step" if run_id is not None else "job"
    labels = _names(cost[by])
    sums: Any = cost.groupby(by, observed=True)[list(_CLASSES)].sum()
    series = {shown: [float(sums.loc[label, name]) for label in labels] for name, shown in _CLASSES.items()}
    return Bars(f"Tokens per {by}", "tokens", [_label(label) for label in labels], series)


def _timeline(store: frames.Store, run_id: str | None) -> Spans:
    steps = frames.steps_df(store, run_id).dropna(subset=["started_at"]).sort_values("started_at", kind="stable")
    if steps.empty:
        return Spans("Timeline", [], [])
    began = steps["started_at"].min()
    requests, calls = frames.requests_df(store, run_id), frames.tool_calls_df(store, run_id)
    asked = frames.questions_df(store)
    asked = asked[asked["run_id"] == run_id]
    lanes: list[str] = []
    spans: list[list[tuple[str, float, float]]] = []
    for row in steps.to_dict("records"):
        own = [("step", _since(began, row["started_at"]), float(row["duration_s"] or 0.0))]
        own += _ended(began, "model", requests, row["step_id"], "latency_s")
        own += _ended(began, "tool", calls, row["step_id"], "duration_s")
        waits = asked[(asked["step_id"] == row["step_id"]) & asked["answered_at"].notna()].to_dict("records")
        own += [(_WAITING, _since(began, w["asked_at"]), _since(w["asked_at"], w["answered_at"])) for w in waits]
        lanes.append(_label(str(row["name"])))
        spans.append([(kind, max(start, 0.0), length) for kind, start, length in own])
    found = {kind for own in spans for kind, _, _ in own}
    return Spans("Timeline", lanes, spans, [kind for kind in ("step", "model", "tool", _WAITING) if kind in found])


def _ended(began: Any, kind: str, frame: "pd.DataFrame", step_id: object, took: str) -> list[tuple[str, float, float]]:
    """Return when the rows of a step were under way: a record is made when something has ended."""
    rows = frame[(frame["step_id"] == step_id) & frame[took].notna()].to_dict("records")
    return [(kind, _since(began, row["created_at"]) - float(row[took]), float(row[took])) for row in rows]


_USED: Final = """
SELECT step_id, (payload ->> 'used')::DOUBLE AS used, (payload ->> 'compact_at')::DOUBLE AS compact_at, seq
FROM events WHERE kind = 'context_usage' AND run_id = $run ORDER BY seq
"""
_COMPACTED: Final = "SELECT step_id, seq FROM compactions WHERE run_id = $run AND error IS NULL ORDER BY seq"


def _context(store: frames.Store, run_id: str | None) -> Lines:
    names = dict(frames.steps_df(store, run_id)[["step_id", "name"]].itertuples(index=False, name=None))
    with store.session() as db:
        used = db.execute(_USED, {"run": run_id}).fetchall()
        compacted = db.execute(_COMPACTED, {"run": run_id}).fetchall()
    lines: dict[str, list[float]] = {}
    levels: dict[str, float | None] = {}
    places: dict[str, list[int]] = {}
    for step_id, tokens, compact_at, seq in used:
        label = _label(f"{names.get(step_id) or step_id} ({step_id})")
        lines.setdefault(label, []).append(float(tokens or 0.0))
        places.setdefault(label, []).append(seq)
        levels[label] = compact_at
    marks: dict[str, list[int]] = {}
    for step_id, seq in compacted:
        label = _label(f"{names.get(step_id) or step_id} ({step_id})")
        marks.setdefault(label, []).append(sum(place < seq for place in places.get(label, ())))
    return Lines("Context", "tokens", lines, levels, marks)


def _verdicts(store: frames.Store, run_id: str | None) -> Bars:
    steps = frames.steps_df(store, run_id)
    steps = steps[steps["verdict"].notna() & steps["kind"].isin(("agent", "ensemble"))]  # blocks pass theirs on
    labels, verdicts = _names(steps["name"]), _names(steps["verdict"])
    counts = steps.groupby(["name", "verdict"], observed=True).size()
    series = {_label(each): [float(counts.get((label, each), 0)) for label in labels] for each in verdicts}
    return Bars("Verdicts", "steps", [_label(label) for label in labels], series)


_MAKERS: Final[Mapping[str, tuple[Callable[[frames.Store, str | None], Picture], bool]]] = {
    "cost": (_cost, False),
    "tokens": (_tokens, False),
    "timeline": (_timeline, True),
    "context": (_context, True),
    "verdicts": (_verdicts, False),
}

KINDS: Final = tuple(_MAKERS)
"""The kinds of pictures."""


def _names(column: "pd.Series[Any]") -> list[str]:
    return [str(name) for name in dict.fromkeys(column.dropna())]


def _label(text: str) -> str:
    return one_line(text, _LABEL_CHARACTERS)


def _since(began: Any, moment: Any) -> float:
    return float((moment - began).total_seconds())
