"""Requests through a client that the user brings along, with its address, key, headers, proxies and time limits.

What comes back is read as bytes wherever the client gives them (`with_streaming_response`, which OpenAI's SDK and those
made by the same generator have), so that parsing, assembly and repair are the same as over our own transports. A client
that has only `chat.completions.create` gives objects; they are written as JSON again.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from inspect import iscoroutinefunction, unwrap
from typing import Any

import httpx
import msgspec

from .client_errors import Lost, translate_client_error, without_secrets
from .client_thread import in_thread
from .connection import read_body
from .reader import ReplyReader
from .reply import RequestFailed
from .response import Response
from .target import Target
from .transports.network import network


class ClientLink:
    """The link over a user's client; made by `link_client`."""

    def __init__(self, target: Target, client: Any, *, is_shared: bool) -> None:
        self.target = target
        self._completions = client.chat.completions
        self._is_shared = is_shared
        key = getattr(client, "api_key", None)
        self._secrets = {key} if isinstance(key, str) and key else set[str]()

    async def post(self, body: bytes, reader: ReplyReader) -> None:
        """Send one request, as `Link` says; a call of a sync client lives in a thread of its own."""
        status: int | None = None
        try:
            async with self._open(msgspec.json.decode(body)) as response:
                status = reader.status = response.status
                reader.content_type = response.content_type
                await read_body(self.target, response.chunks, reader, Lost)
        except Lost as lost:
            raise translate_client_error(self.target, status, lost.cause, self._secrets) from lost.cause
        except RequestFailed as failure:
            raise without_secrets(failure, self._secrets) from failure.__cause__

    def _open(self, body: dict[str, Any]) -> AbstractAsyncContextManager[Response[AsyncGenerator[bytes, None]]]:
        streaming = getattr(self._completions, "with_streaming_response", None)
        if streaming is None:
            create = self._completions.create
            if iscoroutinefunction(unwrap(create)):
                return _objects_async(create, body)
            return in_thread(lambda: _objects(create, body))
        if self._is_shared:
            body["extra_headers"] = {"Connection": "close"}
        manager = streaming.create(**body)
        if hasattr(manager, "__aenter__"):
            return _raw_async(manager)
        return in_thread(lambda: _raw(manager))


async def link_client(target: Target, client: Any) -> ClientLink:
    """Prepare a user's client for requests: its own retries off, its connections on the running loop.

    Connections of an async client belong to the loop that opened them, and the user goes on using theirs. A client
    that made its HTTP client itself therefore gets our connections. One that was given a client keeps it, and each
    of its connections ends with its response, lest the user finds one of another loop.
    """
    options: dict[str, Any] = {"max_retries": 0}
    is_shared = False
    pool = getattr(client, "_client", None)
    if hasattr(pool, "aclose"):
        if type(pool).__name__ == "AsyncHttpxClientWrapper":
            transport = await network(target.base_url)
            options["http_client"] = httpx.AsyncClient(transport=transport, follow_redirects=True)
        else:
            is_shared = True
    if hasattr(client, "with_options"):
        client = client.with_options(**options)
    return ClientLink(target, client, is_shared=is_shared)


@contextmanager
def _raw(manager: Any) -> Iterator[Response[Iterator[bytes]]]:
    with manager as response:
        yield Response(
            response.status_code,
            response.headers.get("content-type", ""),
            response.iter_bytes(),
            getattr(response, "http_response", None),
        )


@asynccontextmanager
async def _raw_async(manager: Any) -> AsyncGenerator[Response[AsyncGenerator[bytes, None]], None]:
    try:
        response = await manager.__aenter__()
    except Exception as exc:
        raise Lost(exc) from exc
    try:
        yield Response(response.status_code, response.headers.get("content-type", ""), _lossy(response.iter_bytes()))
    finally:
        await manager.__aexit__(None, None, None)


@contextmanager
def _objects(create: Any, body: dict[str, Any]) -> Iterator[Response[Iterator[bytes]]]:
    given = create(**body)
    try:
        if _is_reply(given):
            yield Response(200, "application/json", iter([_to_json(given)]))
        else:
            yield Response(200, "text/event-stream", (_to_event(item) for item in given))
    finally:
        if callable(close := getattr(given, "close", None)):
            close()


@asynccontextmanager
async def _objects_async(
    create: Any, body: dict[str, Any]
) -> AsyncGenerator[Response[AsyncGenerator[bytes, None]], None]:
    try:
        given = await create(**body)
    except Exception as exc:
        raise Lost(exc) from exc
    try:
        if _is_reply(given):
            yield Response(200, "application/json", _lossy(_each([_to_json(given)])))
        elif hasattr(given, "__aiter__"):
            yield Response(200, "text/event-stream", _lossy(_to_event(item) async for item in given))
        else:
            yield Response(200, "text/event-stream", _lossy(_each(_to_event(item) for item in given)))
    finally:
        if iscoroutinefunction(close := getattr(given, "close", None)):
            await close()


async def _each(items: Iterable[bytes]) -> AsyncGenerator[bytes, None]:
    for item in items:
        yield item


async def _lossy(chunks: Any) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in chunks:
            yield chunk
    except Exception as exc:
        raise Lost(exc) from exc


def _is_reply(given: Any) -> bool:
    return isinstance(given, dict) or hasattr(given, "choices")


def _to_event(item: Any) -> bytes:
    return b"data: " + _to_json(item) + b"\n\n"


def _to_json(item: Any) -> bytes:
    return msgspec.json.encode(item, enc_hook=_to_builtins)


def _to_builtins(value: Any) -> Any:
    """Write a pydantic model, or any object that has its fields as attributes, as JSON can hold it."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_unset=True)
    return vars(value)
