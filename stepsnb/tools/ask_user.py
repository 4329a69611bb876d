"""The tool `ask_user`: a question for the person who runs the pipeline."""

from functools import partial

from pydantic import Field

from ..effects import RetryPolicy
from .base import AskRequest, Tool, ToolContext, ToolResult
from .builtin import Arguments, builtin_tool


class AskUserArguments(Arguments):
    """What to ask."""

    question: str = Field(min_length=1, description="The question, with what the person needs to know to answer it.")
    options: list[str] | None = Field(None, description="The answers to choose from, if there are a few.")


async def ask_user(
    args: AskUserArguments,
    ctx: ToolContext,
    *,
    default: str | None,
    timeout_s: float | None,
    options_required: bool,
    answered_by: str | None,
) -> ToolResult:
    """Ask, and return `{answered, answer, source}` with `note` when nobody answered.

    Raises: Aborted when nobody answered and there is no default.
    """
    if ctx.ask is None:
        return ToolResult.error("nobody can be asked here; go on with what you know, and say what you assumed")
    options = tuple(option for option in args.options or () if option.strip())
    reply = await ctx.ask(
        AskRequest(
            text=args.question,
            options=tuple(dict.fromkeys(options)),
            options_required=options_required,
            default=default,
            timeout_s=timeout_s,
            answered_by=answered_by,
        )
    )
    data = {"answered": reply.answered, "answer": reply.answer, "source": reply.source}
    return ToolResult.of(data if reply.note is None else {**data, "note": reply.note})


def ask_user_tool(
    *,
    default: str | None = None,
    timeout_s: float | None = None,
    options_required: bool = False,
    answered_by: str | None = None,
    required: bool = False,
    policy: RetryPolicy | None = None,
) -> Tool:
    """Build the tool as a grant shapes it."""
    call = partial(
        ask_user, default=default, timeout_s=timeout_s, options_required=options_required, answered_by=answered_by
    )
    return builtin_tool("ask_user", AskUserArguments, call, required=required, waits_for_person=True, policy=policy)
