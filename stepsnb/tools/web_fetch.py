"""The tool `web_fetch`: a page of the web, reached only where the grant lets it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from ..effects import RetryPolicy
from ..messages import cut_utf8
from ..settings import WEB_FETCH_BYTES, WEB_FETCH_S
from .base import Tool, ToolContext, ToolResult
from .builtin import Arguments, builtin_tool
from .web_fence import Fence, FetchRefused

if TYPE_CHECKING:
    from .web_client import Resolve


class WebFetchArguments(Arguments):
    """What to fetch."""

    url: str = Field(min_length=1, description="The address, with `http://` or `https://`.")


async def web_fetch(
    args: WebFetchArguments, ctx: ToolContext, *, fence: Fence, resolve: "Resolve | None" = None
) -> ToolResult:
    """Fetch, and return `{status, content_type, body, truncated}`; a refusal names what can be reached."""
    # Imported here: most runs fetch nothing, and an HTTP client takes its time.
    from . import web_client

    try:
        async with asyncio.timeout(WEB_FETCH_S):
            page = await web_client.fetch(args.url, fence, resolve=resolve or web_client.resolve)
    except TimeoutError:
        return ToolResult.error(f"`{args.url}` did not come within {WEB_FETCH_S:g} s; fetch something smaller")
    except FetchRefused as exc:
        return ToolResult.error(f"`{args.url}` is refused: {exc}")
    except web_client.FetchFailed as exc:
        return ToolResult.error(f"`{args.url}` could not be fetched: {exc}", retryable=True)
    text = web_client.to_text(page)
    if text is None:
        text = f"({page.content_type or 'this'} is no text, so it is not shown)"
    body = cut_utf8(text, WEB_FETCH_BYTES)
    is_cut = page.is_cut or len(body) < len(text)
    data = {"status": page.status, "content_type": page.content_type, "body": body, "truncated": is_cut}
    return ToolResult.of(data, is_truncated=is_cut)


def web_fetch_tool(
    *, allow: Sequence[str] = (), policy: RetryPolicy | None = None, resolve: "Resolve | None" = None
) -> Tool:
    """Build the tool; `allow` are the hosts it reaches, none means whatever is public."""
    fence = Fence(tuple(allow))
    tool = builtin_tool(
        "web_fetch",
        WebFetchArguments,
        partial(web_fetch, fence=fence, resolve=resolve),
        is_read_only=True,
        spills=False,
        policy=policy,
    )
    reach = f"Only {fence.words} can be reached" if allow else "Only public hosts can be reached"
    return replace(tool, description=f"{tool.description} {reach}; anything else is refused.")
