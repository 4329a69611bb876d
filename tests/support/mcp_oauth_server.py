"""An MCP server that lets in only who has logged in, with its own authorization server. Usage: PORT FOLDER.

Each line of FOLDER/log is a thing that happened (`authorized SCOPES`, `issued`, `refreshed`, `registered`). The files
of FOLDER say how it behaves: `deny` (a person says no), `lifetime` (seconds of a token), `revoked` (no token and no
refresh is any good), `ended` (tokens issued before it was written are no good, refreshing is).
"""

import secrets
import sys
import time
from pathlib import Path

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

PORT, FOLDER = int(sys.argv[1]), Path(sys.argv[2])
KNOWN = OAuthClientInformationFull(
    client_id="known",
    client_secret="its-secret",
    redirect_uris=[AnyUrl("http://127.0.0.1/callback")],
    token_endpoint_auth_method="client_secret_basic",
    scope="read write",
)


def log(line: str) -> None:
    with (FOLDER / "log").open("a") as file:
        file.write(line + "\n")


class AnyLoopbackPort(OAuthClientInformationFull):
    """A client known beforehand, whose answers go to any port of this machine (RFC 8252, 7.3)."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        assert redirect_uri is not None
        return redirect_uri


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    def __init__(self) -> None:
        self.clients = {"known": AnyLoopbackPort(**KNOWN.model_dump())}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: dict[str, tuple[AccessToken, float]] = {}
        self.refreshes: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        log("registered")
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if (FOLDER / "deny").exists():
            raise AuthorizeError("access_denied", "Kari said no")
        log(f"authorized {' '.join(params.scopes or [])}")
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        log("issued")
        return self.issue(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return None if (FOLDER / "revoked").exists() else self.refreshes.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        log("refreshed")
        del self.refreshes[refresh_token.token]  # good for one use
        return self.issue(client.client_id, scopes or refresh_token.scopes, f"http://127.0.0.1:{PORT}/mcp")

    def issue(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        lifetime = FOLDER / "lifetime"
        seconds = int(lifetime.read_text()) if lifetime.exists() else 3600
        token, refresh = f"access-{secrets.token_urlsafe(16)}", f"refresh-{secrets.token_urlsafe(16)}"
        access = AccessToken(token=token, client_id=client_id, scopes=scopes, resource=resource)
        self.tokens[token] = access, time.time()
        self.refreshes[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes)
        return OAuthToken(access_token=token, expires_in=seconds, refresh_token=refresh, scope=" ".join(scopes) or None)

    async def load_access_token(self, token: str) -> AccessToken | None:
        access, issued = self.tokens.get(token, (None, 0.0))
        ended = FOLDER / "ended"
        if (FOLDER / "revoked").exists() or (ended.exists() and issued < ended.stat().st_mtime):
            return None
        return access

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """Nobody asks for it."""


provider = Provider()
server = MCPServer(
    "vault",
    auth_server_provider=provider,
    auth=AuthSettings(
        issuer_url=f"http://127.0.0.1:{PORT}",
        resource_server_url=f"http://127.0.0.1:{PORT}/mcp",
        validate_token_resource=False,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["read", "write"], default_scopes=["read", "write"]
        ),
    ),
)


@server.tool()
def open_vault() -> str:
    """Say what is in the vault."""
    return "a pearl"


app = server.streamable_http_app(stateless_http=True, json_response=True, host="127.0.0.1")
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
