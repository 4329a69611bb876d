"""One prompt, or several, put to variants of an agent at the same time: other models, other dials."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from ..config import FILES_ARTIFACT, Agent, Job, Pipeline, load_steps
from ..errors import InputError
from ..events import Event, Request, StepFinished, StepStarted
from ..run import total_cost_usd, total_usage
from ..suggest import unknown_name
from ..visible import visible
from .options import PathLike, RunOptions, RunPlace
from .pipeline import LoadedPipeline, load, start_run
from .run import Run, RunHandle

if TYPE_CHECKING:
    import pandas as pd

DIALS = ("model", "temperature", "top_p", "max_tokens", "reasoning_effort", "max_turns", "system")
"""What of an agent can be varied."""

_MOST = 100
_AT_A_TIME = 4
_JOB = "vary"
_NAME_CHARACTERS = 40
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Variant:
    """One combination: the `agent` made for it, what of the dials it has, and which message (from 1) with its text."""

    agent: str
    dials: Mapping[str, object]
    number: int
    message: str


def vary(
    agent: str,
    messages: str | Sequence[str],
    vary: Mapping[str, Sequence[object]],
    *,
    pipeline: LoadedPipeline | PathLike,
    verdicts: Sequence[str] | None = None,
    max_in_flight: int = _AT_A_TIME,
    **options: Unpack[RunOptions],
) -> "pd.DataFrame":
    """Put messages to variants of an agent, each to each, and return a row for every answer.

    `vary` gives the values of dials: `{"model": ["openai/a", "groq/b"], "temperature": [0, 0.7]}`; all combinations are
    tried, each with every one of `messages`, at most 100 in all. One run; `.attrs["run_id"]` of the frame is its id.

    Columns: one for each dial that varies, message (int64, from 1), outcome, verdict, note, text (texts), input_tokens
    (int64, cached ones too), output_tokens (int64), cost_usd (float64, NaN when a price is unknown), duration_s,
    error (text).

    Raises: InputError for an unknown agent or dial, a value that the dial does not take, or too many combinations; what
        `run` raises.
    """
    if not isinstance(pipeline, LoadedPipeline):
        pipeline = load(pipeline, vars=options.get("vars"), functions=options.get("functions"))
    texts = [messages] if isinstance(messages, str) else list(messages)
    handle, variants = start_variants(
        pipeline, agent, texts, vary, verdicts=verdicts, max_in_flight=max_in_flight, options=options
    )
    return Varied(handle.result(), variants).df()


def start_variants(
    pipeline: LoadedPipeline,
    agent: str,
    messages: Sequence[str],
    vary: Mapping[str, Sequence[object]],
    *,
    verdicts: Sequence[str] | None = None,
    max_in_flight: int = _AT_A_TIME,
    options: RunOptions,
) -> tuple[RunHandle, list[Variant]]:
    """Start the run of `vary` and return at once, with what is tried in it."""
    variants = _variants(agent, messages, vary)
    made = _agents(pipeline.pipeline.agent(agent), variants)
    place = RunPlace(options)

    def only_these(known: Pipeline) -> Pipeline:
        extended = known.model_copy(update={"agents": (*known.agents, *made)})
        steps = [_step(each, verdicts, has_files=bool(options.get("files"))) for each in variants]
        text = json.dumps([{"in_parallel": {"limit": max_in_flight, "steps": steps}}], ensure_ascii=False)
        plan = load_steps(text, pipeline=extended, file="<vary>", variables=options.get("vars") or {})
        return extended.model_copy(update={"jobs": (Job(name=_JOB, plan=plan),)})

    return start_run(pipeline, options, place, only_these), variants


class Varied:
    """What came of variants; shown in a cell it is a table, `df()` is that table and `run` the run."""

    def __init__(self, run: Run, variants: Sequence[Variant]) -> None:
        self.run = run
        self._variants = {variant.agent: variant for variant in variants}

    def df(self) -> "pd.DataFrame":
        """Return the table of `vary`."""
        import pandas as pd

        names = list(dict.fromkeys(name for each in self._variants.values() for name in each.dials))
        rows = list(self._rows())
        texts = ("outcome", "verdict", "note", "text", "error")
        columns = [*names, "message", "outcome", "verdict", "note", "text"]
        columns += ["input_tokens", "output_tokens", "cost_usd", "duration_s", "error"]
        frame = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(texts, "string"))
        for name in texts:
            frame[name] = frame[name].map(visible, na_action="ignore").astype("string")
        frame.attrs["run_id"] = self.run.run_id
        return frame

    def __repr__(self) -> str:
        return self._shown().to_string(max_colwidth=_SHOWN_CHARACTERS)

    def _repr_html_(self) -> str:
        import pandas as pd

        with pd.option_context("display.max_colwidth", _SHOWN_CHARACTERS):
            return str(self._shown().to_html(escape=True, border=0, na_rep=""))

    def _shown(self) -> "pd.DataFrame":
        """Return the table without columns that nothing is in."""
        return self.df().dropna(axis=1, how="all")

    def _rows(self) -> "list[dict[str, Any]]":
        agents = {e.step_id: e.agent for e in self.run.events if isinstance(e, StepStarted) and e.agent is not None}
        spent: dict[str, list[Event]] = {}
        for event in self.run.events:
            if isinstance(event, Request):
                spent.setdefault(event.step_id.partition(".")[0], []).append(event)
        took = {e.step_id: e.duration_s for e in self.run.events if isinstance(e, StepFinished)}
        found = {}
        for step in self.run.steps:
            variant = self._variants.get(agents.get(step.step_id) or "")
            if variant is None:
                continue
            events = tuple(spent.get(step.step_id, ()))
            usage, cost = total_usage(events), total_cost_usd(events)
            found[variant.agent] = {
                **variant.dials,
                "message": variant.number,
                "outcome": step.outcome.value,
                "verdict": step.verdict,
                "note": step.note,
                "text": step.text or None,
                "input_tokens": usage.prompt_tokens,
                "output_tokens": usage.output_tokens,
                "cost_usd": float("nan") if cost is None else float(cost),
                "duration_s": took.get(step.step_id, 0.0),
                "error": step.reason,
            }
        return [found[name] for name in self._variants if name in found]


def _variants(agent: str, messages: Sequence[str], vary: Mapping[str, Sequence[object]]) -> list[Variant]:
    for name, values in vary.items():
        if name not in DIALS:
            raise InputError(f"vary: {unknown_name('dial', name, DIALS)}")
        if isinstance(values, str) or not values:
            raise InputError(f"vary: give the values of `{name}` as a list, such as `[…, …]`")
    if not messages or not all(text.strip() for text in messages):
        raise InputError("vary: a message is empty; write what the agent is asked")
    combined = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    if len(combined) * len(messages) > _MOST:
        raise InputError(
            f"vary: makes {len(combined) * len(messages):,} requests at least, at most {_MOST}; give fewer values"
        )
    found: dict[str, Variant] = {}
    for dials in combined:
        for number, text in enumerate(messages, 1):
            name = _name(agent, dials, number, len(messages))
            if name in found:  # values that differ only where they are cut
                name = f"{name} #{len(found) + 1}"
            found[name] = Variant(name, dials, number, text)
    return list(found.values())


def _name(agent: str, dials: Mapping[str, object], number: int, messages: int) -> str:
    parts = [f"{name}={_short(value)}" for name, value in dials.items()]
    parts += [f"message={number}"] if messages > 1 else []
    return f"{agent} [{' '.join(parts)}]" if parts else f"{agent} [1]"


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _NAME_CHARACTERS else f"{text[: _NAME_CHARACTERS - 1]}…"


def _agents(agent: Agent, variants: Sequence[Variant]) -> list[Agent]:
    made = []
    for variant in variants:
        changed: dict[str, Any] = {"name": variant.agent}
        for name, value in variant.dials.items():
            if name == "model":
                changed["source"] = agent.source.model_copy(update={"model": str(value)})
            else:
                changed[name] = _checked(name, value)
        made.append(agent.model_copy(update=changed))
    return made


def _checked(name: str, value: object) -> object:
    """Return a dial's value as the agent takes it. Raises: InputError."""
    from pydantic import TypeAdapter, ValidationError

    known = Agent.model_fields[name]
    kind: Any = Annotated[known.annotation, *known.metadata] if known.metadata else known.annotation
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as exc:
        raise InputError(f"vary: `{name}: {value}`: {exc.errors()[0]['msg']}") from exc


def _step(variant: Variant, verdicts: Sequence[str] | None, *, has_files: bool) -> dict[str, object]:
    step: dict[str, object] = {"agent": variant.agent, "messages": [variant.message]}
    if verdicts:
        step["verdicts"] = list(verdicts)
    if has_files:
        step["inputs"] = [FILES_ARTIFACT]
    return step
