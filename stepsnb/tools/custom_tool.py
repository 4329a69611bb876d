"""A custom tool: a shell program with the arguments of a call put into it."""

from typing import Any

from pydantic import ConfigDict, Field, create_model

from ..config import CustomGrant
from ..effects import RetryPolicy
from ..errors import InputError
from ..templates import TemplateProblem, render, required_arguments, template_arguments
from .base import Tool, ToolContext, ToolResult
from .shell import run_program


def custom_tool(grant: CustomGrant, *, policy: RetryPolicy | None = None) -> Tool:
    """Build a tool that renders `run` with the arguments of a call and runs it in the working directory.

    Its arguments are the `.args` references of `run`, all of them texts. One is required unless each use of it stands
    in a `default` or an `index`. Pinned ones are not among them.

    Raises: InputError for a `run` that is no template.
    """
    try:
        names, needed = template_arguments(grant.run), required_arguments(grant.run)
    except TemplateProblem as exc:
        raise InputError(f"tool `{grant.name}`: `run:` {exc}") from exc
    offered = [name for name in names if name not in grant.args]

    async def call(arguments: dict[str, str], ctx: ToolContext) -> ToolResult:
        try:
            script = render(grant.run, {"args": arguments})
        except TemplateProblem as exc:
            return ToolResult.error(f"the program could not be made: {exc.reason}")
        return _told(await run_program(script, ctx))

    return Tool(
        name=grant.name,
        description=grant.description,
        parameters={
            "type": "object",
            "properties": {name: {"type": "string"} for name in offered},
            "required": [name for name in offered if name in needed],
            "additionalProperties": False,
        },
        call=call,
        check=_checker(grant.name, names, needed),
        pins=grant.args,
        required=grant.required,
        max_calls=grant.max_calls,
        max_output_bytes=grant.max_output_bytes,
        keeps_time=True,
        policy=policy,
    )


def _told(result: ToolResult) -> ToolResult:
    """Return what a program printed as it is when it did well and printed only there."""
    data = result.data or {}
    if result.is_error or data["stderr"] or not data["stdout"]:
        return result
    return ToolResult(data["stdout"], data=data, is_truncated=result.is_truncated)


def _checker(tool: str, names: tuple[str, ...], needed: tuple[str, ...]) -> Any:
    """Return what turns the arguments of a call into texts by name; those that may be missing stay away."""
    # Named by number, so that an argument may be called what a pydantic model's own members are called.
    fields: dict[str, Any] = {
        f"argument_{number}": (str, Field(... if name in needed else "", alias=name))
        for number, name in enumerate(names)
    }
    model = create_model(tool, __config__=ConfigDict(extra="forbid", coerce_numbers_to_str=True), **fields)

    def check(arguments: dict[str, Any]) -> dict[str, str]:
        # Models write null for what they leave out.
        arguments = {name: value for name, value in arguments.items() if value is not None or name in needed}
        checked: dict[str, str] = model.model_validate(arguments).model_dump(by_alias=True, exclude_unset=True)
        return checked

    return check
