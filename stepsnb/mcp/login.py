"""Logs in at a server: a person says yes in a browser, and the token is kept for the runs that follow."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from ..config import McpServer
from ..errors import InputError, McpError
from .callback import Callback, listening
from .connection import Connection
from .login_auth import client_secret
from .token_file import Login, TokenFile

OnAddress = Callable[[str], None]
"""Is handed the address where a person logs in."""


async def log_in(server: McpServer, base_dir: Path, on_address: OnAddress, *, timeout_s: float) -> Path:
    """Log in and keep the token; return the file it is kept in.

    Raises: McpError when the server or the person says no, or nobody says anything for `timeout_s`; InputError for a
    server without `type: oauth`, a port that is taken, or a client's secret that is not set.
    """
    if server.auth.type != "oauth":
        raise InputError(f"MCP server `{server.name}` needs no login; one with `auth: {{type: oauth}}` does")
    file = TokenFile(server)
    async with listening(server.auth.callback_port) as callback:
        flow = _Flow(server, callback, on_address)
        connection = Connection(server, base_dir, auth=flow)
        try:
            async with asyncio.timeout(timeout_s):
                await connection.open()
                await connection.list_tools()
        except TimeoutError as exc:
            text = f"MCP server `{server.name}`: nobody logged in within {timeout_s:g} s; try again"
            raise McpError(text, retryable=False) from exc
        except McpError as exc:
            if flow.failure is None:
                raise
            raise McpError(f"MCP server `{server.name}`: the login failed: {flow.failure}", retryable=False) from exc
        finally:
            await connection.close()
    login = flow.login()
    if login is None:
        raise McpError(f"MCP server `{server.name}` lets everybody in; remove its `auth:`", retryable=False)
    file.write(login)
    return file.path


class _Nothing:
    """A storage that has nothing: each login is a new one."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Leave it to `log_in`, which keeps more than that."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Leave it to `log_in` as well."""


class _Metadata(OAuthClientMetadata):
    """What is asked for; scopes that the pipeline names are not replaced by all that a server offers."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "scope" or self.scope is None:
            super().__setattr__(name, value)


class _Flow(OAuthClientProvider):
    """The SDK's flow, with the person at the end of a callback; `failure` is why it ended."""

    def __init__(self, server: McpServer, callback: Callback, on_address: OnAddress) -> None:
        secret, auth = client_secret(server), server.auth
        method = "client_secret_basic" if secret else "none"
        address = AnyUrl(callback.address)
        client = None
        if auth.client_id is not None:
            client = OAuthClientInformationFull(
                client_id=auth.client_id,
                client_secret=secret,
                redirect_uris=[address],
                token_endpoint_auth_method=method,
            )
        metadata = _Metadata(
            client_name="stepsnb",
            redirect_uris=[address],
            scope=" ".join(auth.scopes) or None,
            token_endpoint_auth_method="none",  # noqa: S106 - a method
        )
        assert server.endpoint is not None
        super().__init__(server.endpoint, metadata, _Nothing(client), self._send_there, self._answer)
        self._server, self._callback, self._on_address = server, callback, on_address
        self.failure: str | None = None

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Go through the SDK's flow, and remember how it failed: the transport above it does not say."""
        flow = super().async_auth_flow(request)
        try:
            step = await anext(flow)
            while True:
                step = await flow.asend((yield step))
        except StopAsyncIteration:
            return
        except (OAuthFlowError, InputError, ValueError) as exc:
            self.failure = str(exc)
            raise
        finally:
            await flow.aclose()

    def login(self) -> Login | None:
        """Return what came of it; None when the server never asked for a token."""
        context = self.context
        token, client = context.current_tokens, context.client_info
        if token is None or client is None or client.client_id is None:
            return None
        is_own = self._server.auth.client_id is None
        wants_resource = context.should_include_resource_param(context.protocol_version)
        return Login(
            endpoint=context.server_url,
            access_token=token.access_token,
            refresh_token=token.refresh_token,
            scope=token.scope,
            expires_at=None if token.expires_in is None else time.time() + token.expires_in,
            token_endpoint=self._token_endpoint,
            client_id=client.client_id,
            client_secret=client.client_secret if is_own else None,
            auth_method=client.token_endpoint_auth_method,
            resource=context.get_resource_url() if wants_resource else None,
        )

    @property
    def _token_endpoint(self) -> str:
        """Where tokens are refreshed; a server without metadata has it beside itself, as the SDK takes it too."""
        context = self.context
        if context.oauth_metadata is not None:
            return str(context.oauth_metadata.token_endpoint)
        return urljoin(context.get_authorization_base_url(context.server_url), "/token")

    async def _send_there(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https"):
            raise OAuthFlowError(f"the server wants the login to be at `{address[:200]}`, which is no web address")
        self._callback.state = parse_qs(parts.query).get("state", [""])[0]
        self._on_address(address)

    async def _answer(self) -> AuthorizationCodeResult:
        answer = await self._callback.wait()
        if "error" in answer:
            raise OAuthFlowError(f"it was refused: {answer.get('error_description') or answer['error']}")
        return AuthorizationCodeResult(code=answer.get("code", ""), state=answer.get("state"), iss=answer.get("iss"))
