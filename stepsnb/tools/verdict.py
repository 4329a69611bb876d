"""The tool `verdict`: how a step that has to decide says what it decided."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from pydantic import Field, create_model

from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, description_of
from .schema import schema_of

VERDICT: Final = "verdict"


def verdict_tool(
    names: Sequence[str],
    *,
    note_required: bool,
    on_verdict: Callable[[str, str | None], None],
    refuse: Callable[[], str | None],
) -> Tool:
    """Build the tool; the model chooses one of `names` and may say why.

    Args:
        note_required: Whether it has to say why.
        on_verdict: Told the verdict and its note; a later call counts instead of an earlier one.
        refuse: Says what has to be done before a verdict, None when nothing has.
    """
    note: tuple[Any, Any] = (str, Field(min_length=1, description="Why, for whoever reads the verdict."))
    if not note_required:
        note = (str | None, Field(None, description="Why, for whoever reads the verdict."))
    choice: tuple[Any, Any] = (Literal[tuple(names)], Field(description="What you decided."))
    arguments = create_model("VerdictArguments", __base__=Arguments, verdict=choice, note=note)

    async def call(args: Any, ctx: ToolContext) -> ToolResult:
        if (first := refuse()) is not None:
            return ToolResult.error(first)
        text = (args.note or "").strip()
        if note_required and not text:
            return ToolResult.error("`note` is blank; say in a sentence or two why you decided so")
        on_verdict(args.verdict, text or None)
        return ToolResult.of({"verdict": args.verdict, "recorded": True})

    return Tool(
        name=VERDICT,
        description=description_of(VERDICT),
        parameters=schema_of(arguments),
        call=call,
        check=arguments.model_validate,
    )
