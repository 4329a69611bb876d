"""A sub-agent as a tool: one request in, the text of its answer out."""

from collections.abc import Awaitable, Callable

from pydantic import Field

from ..config import AgentGrant
from ..effects import RetryPolicy
from ..errors import Aborted, StepsError
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments
from .schema import schema_of

Spawn = Callable[[str, ToolContext], Awaitable[ToolResult]]
"""Holds a conversation with the agent of one grant: its first message, and the caller's context, to its answer."""


class SubAgentArguments(Arguments):
    """What to hand over."""

    request: str = Field(min_length=1, description="The whole task: the agent sees nothing of this conversation.")


def sub_agent_tool(
    grant: AgentGrant, spawn: Spawn, *, description: str | None = None, policy: RetryPolicy | None = None
) -> Tool:
    """Build a tool that hands a request to an agent and returns the text it answers with.

    Args:
        description: The child's own, for a grant without one.
        policy: The clocks of a call; starting the child again is the business of `spawn`.

    A question of the child's that nobody answers ends the step, as it would in the caller's own conversation; its
    other failures are data.
    """
    text = grant.description or description or f"Hand a request to the agent `{grant.agent}`, and get its answer back."

    async def call(arguments: SubAgentArguments, ctx: ToolContext) -> ToolResult:
        try:
            return await spawn(arguments.request, ctx)
        except Aborted:
            raise
        except StepsError as exc:
            return ToolResult.error(str(exc))

    return Tool(
        name=grant.name,
        description=text,
        parameters=schema_of(SubAgentArguments),
        call=call,
        check=SubAgentArguments.model_validate,
        runs_together=True,
        waits_for_person=True,
        policy=policy,
    )
