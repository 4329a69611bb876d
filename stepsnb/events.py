"""The one stream of events that live views, the store and exports are all folded from.

An event's `kind` is its class name in snake case. Whoever emits fills the fields of the class; the recorder
stamps `run_id`, `seq` (from 0 within a run) and `at` (seconds since 1970, UTC) and the step's emitter `step_id`.
"""

import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from .messages import Role
from .usage import Usage

Emit = Callable[["Event"], None]
"""Where events are handed in; without a subscriber it is a no-op."""


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Event(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="kind", tag=_snake):
    """What every event carries."""

    run_id: str = ""
    step_id: str = ""
    seq: int = -1
    at: float = 0.0

    @property
    def kind(self) -> str:
        """The event's name, as stored and shown."""
        return str(self.__struct_config__.tag)


class PlanNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of the plan, for drawing it before it runs; `parent` is the index of its block or None."""

    name: str
    step_kind: str
    parent: int | None = None


class RunStarted(Event):
    """A job run began; `plan` is its steps in order, `forked_from` the run whose artifacts it goes on with.

    `forked_at` is the step of that run from whose start on nothing is taken over, when it was forked there.
    `run_history` is how many finished runs of the job are kept, None for all of them.
    `source_text`, `base_dir` and `variables` (as JSON texts) are what it takes to load the pipeline again.
    """

    pipeline: str = ""
    job: str = ""
    forked_from: str | None = None
    forked_at: str | None = None
    run_history: int | None = None
    tags: dict[str, str] = {}
    plan: list[PlanNode] = []
    source_text: str = ""
    base_dir: str = ""
    variables: dict[str, str] = {}


class RunResumed(Event):
    """A run that had ended, or was cut off, goes on; what it got done is not done again."""

    pipeline: str = ""
    job: str = ""
    forked_from: str | None = None
    run_history: int | None = None


class StepStarted(Event):
    """A step began; for an agent step `agent`, `model` and the tools it was granted are filled.

    `node` is the step's place in the plan, the same in every run of it, `parts` the digests of what it does. A
    sub-agent's conversation is recorded like a step of kind `sub_agent`: `parent_id` is the step that called it,
    `call_id` the tool call it answers.
    """

    name: str = ""
    step_kind: str = ""
    index: int = 0
    parent_id: str | None = None
    coordinates: dict[str, str] = {}
    hash: str = ""
    attempt: int = 1
    agent: str | None = None
    model: str | None = None
    tools: list[str] = []
    call_id: str | None = None
    node: str | None = None
    parts: dict[str, str] = {}


class StepSkipped(Event):
    """A step did not execute: its guard said no, or its result was reused.

    `response` and `output` are those of the result that was reused, as in `StepFinished`.
    """

    name: str = ""
    step_kind: str = ""
    index: int = 0
    reason: str = ""
    reused: bool = False
    parent_id: str | None = None
    node: str | None = None
    hash: str = ""
    parts: dict[str, str] = {}
    response: str | None = None
    output: str | None = None


class StepTakenOver(Event):
    """A step counts as done because the run this one goes on from got it done; its own record is there.

    `step_id` is the one it has there, `from_run` that run. `outcome`, `reason`, `verdict`, `note` and `output` are how
    it ended there, `artifacts` the names of what it left.
    """

    name: str = ""
    step_kind: str = ""
    index: int = 0
    parent_id: str | None = None
    node: str | None = None
    from_run: str = ""
    outcome: str = ""
    reason: str | None = None
    verdict: str | None = None
    note: str | None = None
    output: str | None = None
    artifacts: list[str] = []


class StepFinished(Event):
    """A step ended. `response` is an agent's last text or a task's standard output, bounded.

    `output` is the JSON text of an agent's typed output; `is_final` says that no route may catch how it ended.
    """

    name: str = ""
    step_kind: str = ""
    outcome: str = ""
    reason: str | None = None
    duration_s: float = 0.0
    verdict: str | None = None
    note: str | None = None
    response: str | None = None
    wrapped_up: bool = False
    fallback_model: str | None = None
    output: str | None = None
    is_final: bool = False


class Output(Event):
    """What a task's command printed: at most 16 KB a stream, with the true sizes."""

    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    stdout_bytes: int = 0
    stderr_bytes: int = 0


class Artifact(Event):
    """A tree of files a step left behind; `path` is relative to the store's folder."""

    name: str = ""
    path: str = ""
    digest: str = ""
    files: list[str] = []
    bytes: int = 0


class ResourceVersion(Event):
    """A version of a resource a step fetched, or made (`from_check` is off then).

    `check_order` counts up with what checks of the resource found; 0 where none has listed the version.
    """

    resource: str = ""
    version: dict[str, str] = {}
    from_check: bool = True
    check_order: int = 0


class MessageAdded(Event, tag="message"):
    """A system or user message entered the history; replies and results have events of their own.

    `images` says of each image that went with it its name, media type and bytes.
    """

    role: Role = "user"
    text: str = ""
    synthetic: bool = False
    images: list[str] = []


class TurnStarted(Event):
    """A request for the next reply is about to be sent; turns count from 1 within a step."""

    turn: int = 0
    model: str = ""


class TextDelta(Event):
    """A piece of streamed text; seen live, never stored."""

    delta: str = ""
    turn: int = 0


class ThinkingDelta(Event):
    """A piece of streamed thinking; seen live, never stored."""

    delta: str = ""
    turn: int = 0


class TextChunk(Event):
    """Streamed text as stored while a reply is under way, so that a crash keeps it."""

    text: str = ""
    turn: int = 0


class StoredCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call as part of a stored reply."""

    id: str
    name: str
    arguments: str


class TurnFinished(Event):
    """A whole reply. `text` None means that the provider sent none.

    `marks` names what was wrong with it (`messages.Mark`). A `synthetic` one holds calls that no model made, whose
    results were put into the opening request.
    """

    turn: int = 0
    model: str = ""
    finish_reason: str | None = None
    text: str | None = None
    thinking: str = ""
    tool_calls: list[StoredCall] = []
    marks: list[str] = []
    synthetic: bool = False


class Tool(Event):
    """One tool call: `start` (the intent), `update` (progress), `end` (the result the model saw).

    `args` is what the model sent, also where it could not be read. `denied_by` says what refused to run it: `grant`,
    `max_calls`, `arguments` or `output_limit`; `code` is the error code of a call that failed.
    """

    phase: Literal["start", "update", "end"] = "start"
    turn: int = 0
    call_id: str = ""
    tool: str = ""
    args: str = ""
    result: str = ""
    ok: bool = True
    repaired: bool = False
    promoted: bool = False
    truncated: bool = False
    spilled_to: str | None = None
    duration_s: float | None = None
    denied_by: str | None = None
    code: str | None = None


class Request(Event):
    """One HTTP request to a model. `cost_usd` is a decimal text, None when no price is known."""

    turn: int = 0
    attempt: int = 1
    model: str = ""
    status: int | None = None
    error: str | None = None
    retry_after_s: float | None = None
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: str | None = None
    price_source: str | None = None
    latency_s: float | None = None
    first_token_s: float | None = None

    @property
    def usage(self) -> Usage:
        """Its tokens."""
        return Usage(
            input_tokens=self.input_tokens,
            cached_input_tokens=self.cached_input_tokens,
            cache_write_tokens=self.cache_write_tokens,
            output_tokens=self.output_tokens,
            reasoning_tokens=self.reasoning_tokens,
        )

    @property
    def may_be_billed(self) -> bool:
        """Whether it may cost something: all but a request that was refused and used no tokens.

        The store's view `step_costs` has the same rule.
        """
        was_accepted = self.status is not None and 200 <= self.status <= 299
        return self.error is None or was_accepted or self.usage.total_tokens > 0


class ContextUsage(Event):
    """How full the context window is, in tokens; `total` and `compact_at` None when not known."""

    used: int = 0
    total: int | None = None
    compact_at: int | None = None


class Question(Event):
    """Something asked of a person: first `asked`, then `answered` or `expired`, under one `question_id`.

    With `takes_reason` a reason may follow the option, behind a colon. `source` says who answered: `given`, `widget`,
    `prompt`, `agent`, `mailbox` or `default`.
    """

    phase: Literal["asked", "answered", "expired"] = "asked"
    question_id: str = ""
    agent: str = ""
    text: str = ""
    options: list[str] = []
    options_required: bool = False
    takes_reason: bool = False
    default: str | None = None
    expires_at: float | None = None
    answer: str | None = None
    source: str | None = None
    answered_by: str | None = None


class Nudge(Event):
    """The model was told what it still owes, or that its time is running out."""

    about: Literal["owed", "deadline"] = "owed"
    owed: list[str] = []
    text: str = ""


class Retry(Event):
    """Something is tried again.

    `effect` is `llm`, `tool`, `subagent` or `connector`. A `replay` sends again what gave no output, after `wait_s`.
    The other kinds ask a model to go on: its reply was `dropped`, cut at its output limit (`length`), `empty`, or
    announced a call that was not there (`lost-call`). `attempt` is the one that begins now, of `max_attempts`.
    """

    effect: str = "llm"
    turn: int = 0
    call_id: str | None = None
    attempt: int = 0
    max_attempts: int = 0
    reason: str = ""
    code: str | None = None
    retry_kind: Literal["replay", "dropped", "recovery", "length", "lost-call", "empty"] = "replay"
    wait_s: float = 0.0


class Failover(Event):
    """A model is down and its attempts are spent: the conversation goes on with another one."""

    turn: int = 0
    from_model: str = ""
    to_model: str = ""
    reason: str = ""


class CompactionBudget(Event):
    """When a conversation will be summarised, in tokens (None: never), and the window it follows from.

    `window_source` is `agent`, `catalogue`, `server` or `assumed`; `compact_at` may be the agent's own.
    """

    compact_at: int | None = None
    window: int = 0
    window_source: str = ""


class Compaction(Event):
    """A conversation was summarised: `start`, then `end` with the summary, or with the `error` that prevented it.

    `before` and `after` are estimated tokens. After the system message and the summary the history goes on with its
    last `kept` messages.
    """

    phase: Literal["start", "end"] = "start"
    auto: bool = True
    turn: int = 0
    before: int = 0
    after: int | None = None
    kept: int = 0
    summary: str | None = None
    error: str | None = None


class LoopWarning(Event):
    """The model was told that it makes the same call with the same result again and again."""

    turn: int = 0
    tool: str = ""
    count: int = 0
    text: str = ""


class ContextTruncated(Event):
    """A server reports far fewer prompt tokens than were sent: it cut the conversation without saying so."""

    turn: int = 0
    sent: int = 0
    reported: int = 0


class Note(Event):
    """Something worth saying that is not part of the conversation, such as the progress of a download."""

    text: str = ""


class RunLeft(Event):
    """A run was left where it stood, without an outcome: `forked_to` is the run that goes on from it instead."""

    forked_to: str = ""
    duration_s: float = 0.0


class RunFinished(Event):
    """A job run ended; `error` is the message a person sees when it did not succeed."""

    outcome: str = ""
    error: str | None = None
    duration_s: float = 0.0


AnyEvent = (
    RunStarted
    | RunResumed
    | StepStarted
    | StepSkipped
    | StepTakenOver
    | StepFinished
    | Output
    | Artifact
    | ResourceVersion
    | MessageAdded
    | TurnStarted
    | TextDelta
    | ThinkingDelta
    | TextChunk
    | TurnFinished
    | Tool
    | Request
    | ContextUsage
    | Question
    | Nudge
    | Retry
    | Failover
    | CompactionBudget
    | Compaction
    | LoopWarning
    | ContextTruncated
    | Note
    | RunLeft
    | RunFinished
)

LIVE_ONLY = (TextDelta, ThinkingDelta)
"""Kinds that views see and the store never does."""

_decoder = msgspec.json.Decoder(AnyEvent)
_encoder = msgspec.json.Encoder()


def encode_event(event: Event) -> bytes:
    """Encode an event as one line of JSON without a line end."""
    return _encoder.encode(event)


def decode_event(data: bytes | str) -> Any:
    """Decode what `encode_event` made; raises `msgspec.DecodeError` on anything else."""
    return _decoder.decode(data)
