"""Sends the token of an earlier login, and has it refreshed when it has ended."""

import base64
import time
from collections.abc import AsyncGenerator
from urllib.parse import quote

import httpx2
import msgspec
from mcp.shared.auth import OAuthToken
from pydantic import ValidationError

from ..config import McpServer
from ..errors import InputError
from ..keys import find_key
from .token_file import Login, TokenFile

_REFUSED = 401


class LoginAuth(httpx2.Auth):
    """The login of one connection.

    A run never logs in: nobody may be there, and where it could is not known. `advice` says what to do when the
    server refuses a request; `secrets` are the tokens that were sent.
    """

    def __init__(self, server: McpServer) -> None:
        """Read the login. Raises: InputError for a file that cannot be read, or a client's secret that is not set."""
        self._server = server
        self._file = TokenFile(server)
        self._login = self._file.read()
        self._secret = client_secret(server)
        self.secrets = [] if self._secret is None else [self._secret]
        self._take(self._login)

    @property
    def advice(self) -> str:
        """What to do about a refusal."""
        again = "nobody has logged in" if self._login is None else "its login has ended or was withdrawn"
        return f"{again}; log in with `stepsnb mcp login FILE {self._server.name}`"

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request with the token; refresh that first when it has ended, and once after a refusal."""
        used, response = self._login, None
        if used is None or not used.has_expired:
            _authorize(request, used)
            response = yield request
            if used is None or response.status_code != _REFUSED:
                return
        was_asked = False
        async with self._file.locked():
            self._take(self._file.read())
            # Unless another process has refreshed it, or logged in or out, meanwhile.
            if self._login is not None and self._login.access_token == used.access_token and used.refresh_token:
                answer = yield _refresh_request(used, used.client_secret or self._secret)
                was_asked = True
                await answer.aread()
                new = _refreshed(used, answer)
                if new is not None:
                    self._file.write(new)
                    self._take(new)
        if response is None or was_asked or (self._login is not None and self._login.access_token != used.access_token):
            # Also after a refresh that was refused: what the request gets is the answer to what was sent last.
            _authorize(request, self._login)
            yield request

    def _take(self, login: Login | None) -> None:
        self._login = login
        if login is not None:
            self.secrets += [each for each in login.secrets if each not in self.secrets]


def client_secret(server: McpServer) -> str | None:
    """Return the secret of the client that the pipeline names. Raises: InputError when it is not set."""
    variable = server.auth.client_secret_env
    if variable is None:
        return None
    secret = find_key(variable)
    if not secret:
        raise InputError(
            f"MCP server `{server.name}`: {variable} is not set; set it in the environment before the kernel starts"
        )
    return secret


def _authorize(request: httpx2.Request, login: Login | None) -> None:
    if login is not None:
        request.headers["Authorization"] = f"Bearer {login.access_token}"


def _refresh_request(login: Login, secret: str | None) -> httpx2.Request:
    """Ask for a new token. Source: RFC 6749, 6 and 2.3.1; RFC 8707, 2."""
    data = {"grant_type": "refresh_token", "refresh_token": login.refresh_token or "", "client_id": login.client_id}
    if login.resource is not None:
        data["resource"] = login.resource
    headers = {}
    if secret and login.auth_method == "client_secret_post":
        data["client_secret"] = secret
    elif secret and login.auth_method == "client_secret_basic":
        pair = f"{quote(login.client_id, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return httpx2.Request("POST", login.token_endpoint, data=data, headers=headers)


def _refreshed(login: Login, response: httpx2.Response) -> Login | None:
    """Return the login with its new token; None when it was refused. What the answer leaves out stays as it was."""
    if response.status_code != httpx2.codes.OK:
        return None
    try:
        token = OAuthToken.model_validate_json(response.content)
    except ValidationError:
        return None
    return msgspec.structs.replace(
        login,
        access_token=token.access_token,
        refresh_token=token.refresh_token or login.refresh_token,
        scope=token.scope or login.scope,
        expires_at=None if token.expires_in is None else time.time() + token.expires_in,
    )
