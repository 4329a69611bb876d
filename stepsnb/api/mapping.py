"""An agent asked once for each row of a DataFrame, and a DataFrame of what it said."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from ..errors import InputError
from ..events import Event, Request, StepStarted
from ..run import total_cost_usd
from ..suggest import unknown_name
from ..visible import visible
from .options import PathLike, RunOptions
from .pipeline import LoadedPipeline, load
from .run import Run

if TYPE_CHECKING:
    import pandas as pd

Prompt: TypeAlias = "str | Callable[[Mapping[str, Any]], str]"
"""A text with `((COLUMN))` for the values of a row, or a function of the row."""

_AGENT = "map"
_COLUMN = re.compile(r"\(\((.+?)\)\)")
_GIVEN = ("outcome", "text", "verdict", "note", "data", "cost_usd", "error")
_MESSAGE = "{{ index (fromJson .vars.row) 1 }}"


def map_rows(
    agent: str | Mapping[str, object],
    df: "pd.DataFrame",
    prompt: Prompt,
    *,
    pipeline: LoadedPipeline | PathLike | None = None,
    verdicts: list[str] | None = None,
    output: Mapping[str, object] | type | None = None,
    max_in_flight: int = 4,
    budget: Mapping[str, object] | None = None,
    **options: Unpack[RunOptions],
) -> "pd.DataFrame":
    """Ask an agent once for each row of `df` and return the rows with what it said beside them.

    One run with a matrix of a cell for each row: a row that fails leaves the others alone, and a Stop keeps what is
    done. The run is stored as any other; `.attrs["run_id"]` of the frame is its id.

    Args:
        agent: An agent of `pipeline`; without one a model such as `openrouter/VENDOR/MODEL`, or an entry as `agents:`
            has them (`{"source": {"model": …}, "system": …}`).
        df: The rows; its index is kept.
        prompt: The message, with `((COLUMN))` for the values of the row (missing ones are empty), or a function that
            is given the row as a dictionary.
        verdicts: What the agent decides between.
        output: A JSON Schema, or a pydantic model: what the agent hands in is in the column `data`.
        max_in_flight: How many rows are asked about at the same time.
        budget: Of the whole, such as `{"tokens": 100_000, "reserve_per_cell": 2_000}`.

    Columns: those of `df`; outcome (`succeeded`, `failed`, `errored`, `aborted`; text), text, verdict and note (texts,
    missing where there is none), data (objects), cost_usd (float64, NaN when a price is unknown), error (text).

    Raises: InputError for a column that is not there, or one of the names above; what `run` raises.
    """
    import pandas as pd

    if not isinstance(df, pd.DataFrame):
        raise InputError(f"map: give the rows as a DataFrame, not as {type(df).__name__}")
    taken = [str(name) for name in df.columns if name in _GIVEN]
    if taken:
        raise InputError(f"map: column `{taken[0]}` is one that the result adds; rename it")
    prompts = list(_prompts(df, prompt))
    step: dict[str, object] = {
        "across": [{"var": "row", "values": [_value(number, text) for number, text in enumerate(prompts)]}],
        "max_in_flight": max_in_flight,
        "agent": agent if isinstance(agent, str) and pipeline is not None else _AGENT,
        "prompt": _MESSAGE,
    }
    if verdicts is not None:
        step["verdicts"] = list(verdicts)
    if budget is not None:
        step["budget"] = dict(budget)
    if output is not None:
        step["output"] = {"python": output.__name__} if isinstance(output, type) else dict(output)
        if isinstance(output, type):
            options["functions"] = {**(options.get("functions") or {}), output.__name__: output}
    if not prompts:
        return _joined(df, {}, None)
    run = _loaded(agent, pipeline, options).start_steps(json.dumps([step]), name="<map>", **options).result()
    frame = _joined(df, dict(_answers(run)), run.error)
    frame.attrs["run_id"] = run.run_id
    return frame


def _value(number: int, text: str) -> str:
    """Write a row's number and message as the value of its cell, in which no `((name))` stands to be filled in."""
    return json.dumps([number, text], ensure_ascii=False).replace("((", "\\u0028(")


def _prompts(df: "pd.DataFrame", prompt: Prompt) -> Iterator[str]:
    names = {str(name): name for name in df.columns}
    rows = df.to_dict("records")
    if callable(prompt):
        for row in rows:
            yield str(prompt({str(name): value for name, value in row.items()}))
        return
    for name in _COLUMN.findall(prompt):
        if name not in names:
            raise InputError(f"map: {unknown_name('column', name, names)}")
    for row in rows:
        yield _COLUMN.sub(lambda found, row=row: _text(row[names[found[1]]]), prompt)  # type: ignore[misc]


def _text(value: object) -> str:
    import pandas as pd

    is_missing = value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))  # type: ignore[call-overload]
    return "" if is_missing else str(value)


def _loaded(
    agent: str | Mapping[str, object], pipeline: LoadedPipeline | PathLike | None, options: RunOptions
) -> LoadedPipeline:
    if isinstance(pipeline, LoadedPipeline):
        return pipeline
    if pipeline is not None:
        return load(pipeline, vars=options.get("vars"), functions=options.get("functions"))
    entry = {"source": {"model": agent}, "tools": []} if isinstance(agent, str) else dict(agent)
    document = {
        "agents": [{**entry, "name": _AGENT}],
        "jobs": [{"name": _AGENT, "plan": [{"agent": _AGENT, "prompt": "never sent"}]}],
    }
    return load(json.dumps(document), name="<map>")


def _answers(run: Run) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield what came of each row, by its number; of a cell that was tried again, of its last attempt."""
    places = {
        event.step_id: int(json.loads(event.coordinates["row"])[0])
        for event in run.events
        if isinstance(event, StepStarted) and "row" in event.coordinates
    }
    spent: dict[str, list[Event]] = {step_id: [] for step_id in places}
    for event in run.events:
        owner = event.step_id.partition(".")[0]  # what a sub-agent uses is the row's
        if isinstance(event, Request) and owner in spent:
            spent[owner].append(event)
    for step in run.steps:
        if step.step_id in places:
            cost = total_cost_usd(tuple(spent[step.step_id]))
            yield (
                places[step.step_id],
                {
                    "outcome": step.outcome.value,
                    "text": _shown(step.text) or None,
                    "verdict": step.verdict,
                    "note": _shown(step.note),
                    "data": step.data,
                    "cost_usd": float("nan") if cost is None else float(cost),
                    "error": _shown(step.reason),
                },
            )


def _shown(text: str | None) -> str | None:
    """Make control characters of a text visible, as in all tables."""
    return None if text is None else visible(text)


def _joined(df: "pd.DataFrame", answers: Mapping[int, dict[str, object]], error: str | None) -> "pd.DataFrame":
    import pandas as pd

    never = {"outcome": "aborted", "cost_usd": 0.0, "error": error or "never asked"}
    rows = [answers.get(number, never) for number in range(len(df))]
    found = pd.DataFrame(rows, columns=list(_GIVEN), index=df.index)
    kinds = {name: "string" for name in _GIVEN if name not in ("data", "cost_usd")}
    return pd.concat([df, found.astype({**kinds, "data": "object", "cost_usd": "float64"})], axis=1)
