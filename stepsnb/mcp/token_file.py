"""Where the logins at servers are kept: one file each, for this user alone."""

import asyncio
import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from ..config import McpServer
from ..errors import InputError

_POLL_S = 0.05
_EARLY_S = 10.0
"""A token that ends sooner is refreshed: it has to last until the server has read the request."""


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """A login at one address, as a file keeps it; times are seconds since 1970.

    `client_secret` is that of a client that was registered at the login; one that the pipeline names is in the
    environment. `resource` is what the token is for, as the authorization server wants to hear it.
    """

    endpoint: str
    access_token: str
    token_endpoint: str
    client_id: str
    client_secret: str | None = None
    auth_method: str | None = None
    refresh_token: str | None = None
    scope: str | None = None
    resource: str | None = None
    expires_at: float | None = None
    version: int = 1

    @property
    def has_expired(self) -> bool:
        """Whether the token is of no more use."""
        return self.expires_at is not None and time.time() > self.expires_at - _EARLY_S

    @property
    def secrets(self) -> list[str]:
        """What must not be seen."""
        return [each for each in (self.access_token, self.refresh_token, self.client_secret) if each]


class TokenFile:
    """The file of a server's login. Servers with the same address, client and scopes share it, no others do."""

    def __init__(self, server: McpServer) -> None:
        from platformdirs import user_data_path

        auth = server.auth
        key = json.dumps([server.endpoint, auth.client_id, sorted(auth.scopes)])
        self._server = server
        self.path = user_data_path("stepsnb") / "mcp" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def read(self) -> Login | None:
        """Return the login, None when there is none. Raises: InputError for a file that cannot be read."""
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise self._error(f"cannot be read: {(exc.strerror or str(exc)).lower()}") from exc
        try:
            login = msgspec.json.decode(raw, type=Login)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise self._error("is damaged; delete it and log in again") from exc
        # A file that was copied to another name must not send its token to another address.
        return login if login.endpoint == self._server.endpoint else None

    def write(self, login: Login) -> None:
        """Keep a login in the place of the one before. Raises: InputError."""
        beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.parent.chmod(0o700)
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(msgspec.json.encode(login))
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(self.path)
            finally:
                beside.unlink(missing_ok=True)
        except OSError as exc:
            raise self._error(f"cannot be written: {(exc.strerror or str(exc)).lower()}") from exc

    def delete(self) -> bool:
        """Forget the login; return whether there was one."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as exc:
            raise self._error(f"cannot be deleted: {(exc.strerror or str(exc)).lower()}") from exc
        return True

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Keep other processes from refreshing the same login; a refresh token may be good for one use only."""
        fd = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                await asyncio.sleep(_POLL_S)
            yield
        finally:
            os.close(fd)

    def _error(self, what: str) -> InputError:
        return InputError(f"MCP server `{self._server.name}`: its login `{self.path}` {what}")
