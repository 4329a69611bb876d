"""Holds the conversation of an agent: that of a step, or that of an agent which another one calls."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..agent import (
    AgentDeps,
    AgentResult,
    ModelSource,
    Obligations,
    OwedCall,
    StopReason,
    SyntheticCall,
    ToolRunner,
    budget_of,
    build_system_text,
    run_agent,
)
from ..config import Agent, AgentGrant, CustomGrant, OutputSpec
from ..effects import EffectFailed, agent_layers, attempts_layer, policy_for, run_effect
from ..errors import Aborted, ErrorCode, StepsError
from ..events import CompactionBudget, MessageAdded, Note, StepFinished, StepStarted
from ..llm import ModelClient
from ..messages import Picture, cut_utf8, system
from ..outcome import Outcome
from ..settings import DELEGATE_BUDGET_PERCENT, MAX_TURNS, STEP_TIMEOUT_S, TASK_OUTPUT_BYTES
from ..tools import (
    SUBMIT_OUTPUT,
    VERDICT,
    AskReply,
    AskRequest,
    Spawn,
    Tool,
    ToolContext,
    ToolResult,
    build_tools,
    find_output,
    submit_output_tool,
    verdict_tool,
)
from .context import StepContext
from .funding import check_price, unfunded
from .meter import Meter
from .models import Models


def first_set(*values: float | None, default: float) -> float:
    """The first value that is set."""
    return next((value for value in values if value is not None), default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a conversation is about, and what it owes at its end; None takes the agent's own value.

    `tools` are granted besides the agent's own.
    """

    agent: Agent
    messages: Sequence[str]
    selected: Sequence[str | CustomGrant] | None = None
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    max_turns: int | None = None
    attempts: int | None = None
    timeout_s: float | None = None
    opening: Sequence[SyntheticCall] = ()
    images: Sequence[Picture] = ()
    verdicts: Sequence[str] = ()
    note_required: bool = False
    output: OutputSpec | None = None
    tools: Sequence[Tool] = ()
    files: Sequence[str] = ()
    calls: Sequence[OwedCall] = ()
    nudge: bool = False

    @property
    def decision_names(self) -> list[str]:
        """The synthesized tools it ends with."""
        return [VERDICT] * bool(self.verdicts) + [SUBMIT_OUTPUT] * (self.output is not None)

    @property
    def deadline_s(self) -> float | None:
        """The conversation's wall-clock time in seconds; None when it has no bound."""
        return first_set(self.timeout_s, self.agent.timeout_s, default=STEP_TIMEOUT_S) or None


@dataclass(slots=True)
class Decided:
    """What a conversation decided with its synthesized tools; `data` is its typed output, `output` that as JSON."""

    verdict: str | None = None
    note: str | None = None
    data: object = None
    output: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A conversation that is over: how it stopped, what it owed and what it decided."""

    result: AgentResult
    obligations: Obligations
    decided: Decided

    def judge(self) -> tuple[Outcome, str | None]:
        """The outcome it has as it stands, and why."""
        match self.result.stop:
            case StopReason.PROVIDER:
                return Outcome.ERRORED, self.result.reason
            case StopReason.BUDGET:
                return Outcome.ERRORED, self.result.reason
            case StopReason.OWED | StopReason.EMPTY | StopReason.LOOPING:
                return Outcome.FAILED, self.result.reason
            case StopReason.ANSWERED | StopReason.WRAPPED_UP:
                return Outcome.SUCCEEDED, None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A conversation that was recorded as a step of its own; `held` is None when it did not come to its end."""

    outcome: Outcome
    reason: str | None
    held: Held | None


class Conversations:
    """The conversations of one agent step: its own, and those of the agents it calls, each recorded apart."""

    def __init__(self, models: Models, *, max_questions: int) -> None:
        self._models = models
        self._max_questions = max_questions
        self._asked = 0
        self._children = 0

    async def hold(self, brief: Brief, ctx: StepContext) -> Held:
        """Hold one conversation to its end.

        Raises what ends a step at once: `Aborted`, `InputError`, `WorkspaceError` and cancellation.
        """
        agent = brief.agent
        passed = ctx.run.sources_passed.get(agent.name, 0)
        clients = [self._models.of(agent), *self._models.fallback_of(agent)][passed:]
        for client in clients:
            check_price(client.target, agent.name, ctx.meter)
        remote = await self._remote_tools(brief, ctx)
        own = build_tools(
            agent.tools,
            selected=brief.selected,
            functions=ctx.run.functions,
            retry=agent.retry,
            remote=remote,
            describe=lambda name: ctx.run.pipeline.agent(name).description,
            spawn=lambda grant: self._spawner(grant, brief, ctx),
        )
        granted = (*own, *brief.tools)
        decided, attempts = Decided(), brief.attempts or agent.attempts
        names = [tool.name for tool in granted]
        decisions = brief.decision_names
        obligations = Obligations(
            required=[tool.name for tool in granted if tool.required],
            decisions=decisions,
            files=brief.files,
            calls=brief.calls,
            nudge=brief.nudge,
            has_file=ctx.has_file,
            is_constrained=clients[0].target.tool_mode == "json",
            tools=[*names, *decisions],
        )
        ctx.owed = obligations.unmet
        tools = (*granted, *_decision_tools(brief, decided, obligations, ctx))
        first, *others = (partial(self._open, client, tools, agent, ctx) for client in clients)
        source = await first()
        deps = AgentDeps(
            chat=source.chat,
            model=source.model,
            fallback=others,
            messages=brief.messages,
            tools=self._runner(tools, agent, ctx),
            emit=ctx.emit,
            obligations=obligations,
            max_turns=int(first_set(brief.max_turns, agent.max_turns, default=MAX_TURNS)),
            window=source.window,
            is_free=source.is_free,
            opening=brief.opening,
            images=brief.images,
            policy=policy_for("llm", *agent_layers("llm", agent.retry), attempts_layer(attempts)),
            executor=source.executor,
            budget=source.budget,
            summarizer=source.summarizer,
            deadline=ctx.time_left,
            breach=ctx.meter.breach,
        )
        text = build_system_text(agent.system, inputs=brief.inputs, outputs=brief.outputs, timeout_s=ctx.timeout_s)
        ctx.emit(MessageAdded(role="system", text=text))
        result = await run_agent(deps, [system(text)])
        if passed and not result.fallback:
            result = replace(result, fallback_model=clients[0].target.label)
        if result.fallback and result.stop is not StopReason.PROVIDER:
            # Pinned: the next conversation of this agent in the run begins where this one could be held.
            before = ctx.run.sources_passed.get(agent.name, 0)
            ctx.run.sources_passed[agent.name] = max(before, passed + result.fallback)
        return Held(result, obligations, decided)

    async def _open(self, client: ModelClient, tools: Sequence[Tool], agent: Agent, ctx: StepContext) -> ModelSource:
        """Get a source of an agent ready for a conversation; says of what size that may be."""
        await client.prepare(lambda text: ctx.emit(Note(text=text)))
        window, target = await client.window(), client.target
        budget = budget_of(compact_after_tokens=agent.compact_after_tokens, window=window.tokens, source=window.source)
        ctx.emit(
            CompactionBudget(compact_at=budget.compact_at, window=budget.window, window_source=budget.window_source)
        )
        return ModelSource(
            chat=client.open([tool.spec for tool in tools]),
            model=target.label,
            window=window.tokens,
            is_free=target.price is not None and not (target.price.input or target.price.output),
            executor=self._models.room_of(agent) if client is self._models.of(agent) else None,
            budget=budget,
            summarizer=client.open([]),
            is_constrained=target.tool_mode == "json",
        )

    async def _remote_tools(self, brief: Brief, ctx: StepContext) -> dict[str, tuple[Tool, ...]]:
        """Fetch what MCP servers have of the tools the conversation uses. Raises: McpError, InputError."""
        grants = brief.agent.mcp_grants(brief.selected)
        return await ctx.run.servers.tools_of(grants, retry=brief.agent.retry, emit=ctx.emit)

    def _runner(self, tools: Sequence[Tool], agent: Agent, ctx: StepContext) -> ToolRunner:
        context = ToolContext(root=ctx.root, ask=self._asker(agent.name, ctx), shell=ctx.shell)
        return ToolRunner(tools, context=context, emit=ctx.emit, settle=ctx.run.recorder.settle)

    def _asker(self, agent: str, ctx: StepContext) -> Callable[[AskRequest], Awaitable[AskReply]]:
        """Return the way an agent asks; the deadline stands still while somebody is waited on."""

        async def ask(request: AskRequest) -> AskReply:
            if (known := ctx.run.asked.known(request)) is not None and ctx.run.ask_elsewhere is None:
                return known  # nobody is interrupted by that
            if self._asked >= self._max_questions:
                many = self._max_questions
                note = f"this step may ask {many} questions (`max_questions`) and has asked them; decide yourself"
                return AskReply(answered=False, answer="", source="refused", note=note)
            self._asked += 1
            with ctx.deadline_held():
                respond = None if request.answered_by is None else partial(self._respond, request, ctx)
                return await ctx.run.ask(request, step_id=ctx.step_id, agent=agent, respond=respond)

        return ask

    async def _respond(self, request: AskRequest, ctx: StepContext) -> str | None:
        """Have an agent answer a question in people's place; None when it could not, so that a person is asked."""
        responder = ctx.run.pipeline.agent(request.answered_by or "")
        self._children += 1
        brief = Brief(agent=responder, messages=(request.for_agent,))
        step_id = f"{ctx.step_id}.{self._children}"
        try:
            ended = await self.hold_recorded(brief, ctx, step_id=step_id, step_kind="sub_agent")
        except Aborted:
            return None  # it asked somebody itself, who said nothing
        return ended.held.result.text if ended.held is not None and ended.outcome.is_good else None

    def _spawner(self, grant: AgentGrant, caller: Brief, ctx: StepContext) -> Spawn:
        async def spawn(request: str, call: ToolContext) -> ToolResult:
            child = ctx.run.pipeline.agent(grant.agent)
            brief = Brief(agent=child, messages=(request,), inputs=caller.inputs, outputs=caller.outputs)
            policy = policy_for("subagent", *agent_layers("subagent", caller.agent.retry))
            try:
                # Its model is asked for its window here; until that is known there is no child.
                await run_effect(policy, lambda now: self._models.of(child).window(), where=f"agent `{child.name}`")
            except EffectFailed as exc:
                return ToolResult.error(str(exc))
            meter = ctx.meter.share(self._percent_of(caller.agent, ctx), child.budget, f"agent `{child.name}`")
            if (refusal := unfunded(meter, child, request)) is not None:
                return ToolResult.error(refusal, code=ErrorCode.BUDGET_EXCEEDED)
            self._children += 1
            ended = await self.hold_recorded(
                brief,
                ctx,
                step_id=f"{ctx.step_id}.{self._children}",
                step_kind="sub_agent",
                limit_s=policy.total_timeout_s or math.inf,
                call=call,
                meter=meter,
            )
            if ended.held is None or not ended.outcome.is_good:
                return ToolResult.error(f"agent `{child.name}` {ended.outcome}: {ended.reason}")
            return ToolResult(ended.held.result.text)

        return spawn

    @staticmethod
    def _percent_of(agent: Agent, ctx: StepContext) -> int:
        default = ctx.run.pipeline.defaults.delegate_budget_percent or DELEGATE_BUDGET_PERCENT
        return agent.delegate_budget_percent or default

    async def hold_recorded(
        self,
        brief: Brief,
        ctx: StepContext,
        *,
        step_id: str,
        step_kind: str,
        limit_s: float = math.inf,
        call: ToolContext | None = None,
        meter: Meter | None = None,
    ) -> Recorded:
        """Hold a conversation within a step and record it as a step of its own below that one.

        It ends with its agent's deadline, after `limit_s`, or with what is left of the step's. `call` is the tool call
        it answers, `meter` counts what it spends. Raises: `Aborted` and cancellation, recorded as *aborted*.
        """
        child, began = brief.agent, time.monotonic()
        meter = meter or Meter.of(child.budget, f"agent `{child.name}`", ctx.meter)
        emit = ctx.run.emitter(step_id, meter)
        emit(
            StepStarted(
                name=child.name,
                step_kind=step_kind,
                parent_id=ctx.step_id,
                call_id=None if call is None else call.call_id,
                agent=child.name,
                model=self._models.of(child).target.label,
                tools=[*child.tool_names, *(tool.name for tool in brief.tools)],
            )
        )

        def record(outcome: Outcome, reason: str | None, held: Held | None = None) -> None:
            emit(
                StepFinished(
                    name=child.name,
                    step_kind=step_kind,
                    outcome=outcome,
                    reason=reason,
                    duration_s=time.monotonic() - began,
                    response=None if held is None else cut_utf8(held.result.text, TASK_OUTPUT_BYTES),
                    wrapped_up=held is not None and held.result.stop is StopReason.WRAPPED_UP,
                    fallback_model=None if held is None else held.result.fallback_model,
                )
            )

        left = ctx.time_left()
        call_s = math.inf
        if call is not None and call.deadline is not None:
            call_s = max(call.deadline - asyncio.get_running_loop().time(), 0.0)
        limit_s = min(brief.deadline_s or math.inf, limit_s, call_s, left[0] if left else math.inf)
        clock = asyncio.timeout(None if limit_s == math.inf else limit_s)
        held = None
        try:
            async with clock:
                held = await self.hold(brief, ctx.within(clock, limit_s, step_id=step_id, emit=emit, meter=meter))
            outcome, reason = held.judge()
        except TimeoutError:
            if not clock.expired():
                raise
            outcome, reason = Outcome.FAILED, f"timed out after {limit_s:g} s"
        except asyncio.CancelledError:
            if call is not None and call.deadline is not None and asyncio.get_running_loop().time() >= call.deadline:
                record(Outcome.FAILED, "timed out (`timeout:` of the grant)")
            else:
                record(Outcome.ABORTED, "stopped with the step that called it")
            raise
        except Aborted as exc:
            record(Outcome.ABORTED, str(exc))
            raise
        except StepsError as exc:
            outcome, reason = Outcome.ERRORED, str(exc)
        record(outcome, reason, held)
        return Recorded(outcome, reason, held)


def _decision_tools(brief: Brief, decided: Decided, obligations: Obligations, ctx: StepContext) -> list[Tool]:
    """Build the tools the conversation ends with; what they are given is kept in `decided`."""
    tools = []
    if brief.verdicts:

        def on_verdict(verdict: str, note: str | None) -> None:
            decided.verdict, decided.note = verdict, note

        tools.append(
            verdict_tool(
                brief.verdicts,
                note_required=brief.note_required,
                on_verdict=on_verdict,
                refuse=obligations.decision_waits_for,
            )
        )
    if brief.output is not None:

        def on_output(data: object, text: str) -> None:
            decided.data, decided.output = data, text

        shape = find_output(brief.output, ctx.run.functions)
        tools.append(submit_output_tool(shape, on_output=on_output, refuse=obligations.decision_waits_for))
    return tools
