"""Carries requests past a cassette: what comes back from the network is recorded, or comes from the cassette alone."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec

from ..cassette import Cassette, Failure, chunks_of

_KEPT_HEADERS = ("content-type", "content-encoding", "retry-after")
_FAILURES: dict[str, type[httpx.TransportError]] = {
    each.__name__: each
    for each in (
        *(httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.ReadTimeout),
        *(httpx.WriteError, httpx.WriteTimeout, httpx.RemoteProtocolError, httpx.ProxyError),
    )
}


class RecordingTransport(httpx.AsyncBaseTransport):
    """Sends requests on, and records each with its response once that has come to its end."""

    def __init__(self, inner: httpx.AsyncBaseTransport, cassette: Cassette, model: str) -> None:
        self._inner = inner
        self._cassette = cassette
        self._model = model

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request on."""
        asked: dict[str, Any] = msgspec.json.decode(request.content)
        try:
            response = await self._inner.handle_async_request(request)
        except httpx.TransportError as exc:
            failure = Failure(kind=type(exc).__name__, text=str(exc))
            self._cassette.add(self._model, asked, status=None, headers={}, chunks=[], failure=failure)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
        response.stream = _Tapped(response.stream, self._cassette, self._model, asked, response.status_code, headers)
        return response


class _Tapped(httpx.AsyncByteStream):
    """A body that is recorded while it is read."""

    def __init__(
        self,
        body: httpx.AsyncByteStream,
        cassette: Cassette,
        model: str,
        asked: dict[str, Any],
        status: int,
        headers: dict[str, str],
    ) -> None:
        self._body = body
        self._cassette = cassette
        self._model = model
        self._asked = asked
        self._status = status
        self._headers = headers
        self._chunks: list[bytes] = []
        self._is_recorded = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._body:
                self._chunks.append(chunk)
                yield chunk
        except httpx.TransportError as exc:
            self._record(Failure(kind=type(exc).__name__, text=str(exc)))
            raise
        except asyncio.CancelledError:
            self._is_recorded = True  # stopped by a person or a clock: not what the model said
            raise
        self._record(None)

    async def aclose(self) -> None:
        """Let go of the connection; what nobody reads on behind is no part of the response."""
        if self._chunks:
            self._record(None)
        await self._body.aclose()

    def _record(self, failure: Failure | None) -> None:
        if not self._is_recorded:
            self._is_recorded = True
            self._cassette.add(
                self._model,
                self._asked,
                status=self._status,
                headers=self._headers,
                chunks=self._chunks,
                failure=failure,
            )


class ReplayingTransport(httpx.AsyncBaseTransport):
    """Answers requests from a cassette; one that is not in it is refused, with what is different."""

    def __init__(self, cassette: Cassette, model: str) -> None:
        self._cassette = cassette
        self._model = model

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        found = self._cassette.answer(self._model, msgspec.json.decode(request.content))
        if isinstance(found, str):
            body = msgspec.json.encode({"error": {"message": found, "type": "cassette"}})
            return httpx.Response(400, headers={"content-type": "application/json"}, content=body)
        if found.status is None:
            raise _error(found.failure)
        return httpx.Response(found.status, headers=found.headers, stream=_Recorded(chunks_of(found), found.failure))


class _Recorded(httpx.AsyncByteStream):
    def __init__(self, chunks: list[bytes], failure: Failure | None) -> None:
        self._chunks = chunks
        self._failure = failure

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._failure is not None:
            raise _error(self._failure)


def _error(failure: Failure | None) -> httpx.TransportError:
    return httpx.ReadError("lost") if failure is None else _FAILURES.get(failure.kind, httpx.ReadError)(failure.text)
