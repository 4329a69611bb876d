"""An MCP server: a program of its own or an address, whose tools agents can be granted."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from .concept import Complaint, Concept
from .scalars import AnyText, AtLeast1, Endpoint, KeyVariable, Name, Text, one_of

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_LAST_PORT = 65_535
_OAUTH_KEYS = ("client_id", "client_secret_env", "callback_port", "scopes")


class McpAuth(Concept):
    """How a server is told who asks; secrets are named by the environment variable that holds them."""

    type: Annotated[Literal["none", "bearer", "oauth"], one_of("kind of `auth:`", "none", "bearer", "oauth")] = "none"
    api_key_env: KeyVariable | None = Field(default=None, description="`bearer`: the variable that holds the token.")
    client_id: Text | None = Field(
        default=None, description="`oauth`: of a client that is registered; unset: registered at the first login."
    )
    client_secret_env: KeyVariable | None = Field(
        default=None, description="`oauth`: the variable that holds the client's secret."
    )
    callback_port: AtLeast1 | None = Field(
        default=None, description="`oauth`: where this machine takes the answer of a login; unset: a free port."
    )
    scopes: tuple[Text, ...] = Field(default=(), description="`oauth`: what is asked for.")

    def complaints(self) -> Iterator[Complaint]:
        """Refuse keys that the kind of `auth:` does not read, and one that lacks its key."""
        if self.type == "bearer" and self.api_key_env is None:
            text = "`type: bearer` has no token; name the variable that holds it with `api_key_env:`"
            yield Complaint(("type",), text, ("type", "api_key_env"))
        if self.type != "bearer" and self.api_key_env is not None:
            text = f"`api_key_env:` does nothing with `type: {self.type}`; write `type: bearer`, or remove it"
            yield Complaint(("api_key_env",), text, ("type", "api_key_env"))
        for key in _OAUTH_KEYS:
            if self.type != "oauth" and key in self.model_fields_set:
                text = f"`{key}:` does nothing with `type: {self.type}`; write `type: oauth`, or remove it"
                yield Complaint((key,), text, ("type", key))
        if self.client_secret_env is not None and self.client_id is None:
            text = "`client_secret_env:` is the secret of a client that is not named; add `client_id:`"
            yield Complaint(("client_secret_env",), text, ("client_id", "client_secret_env"))
        if self.callback_port is not None and self.callback_port > _LAST_PORT:
            text = f"`callback_port: {self.callback_port}` is no port; give 1 to {_LAST_PORT}"
            yield Complaint(("callback_port",), text, ("callback_port",))


class McpServer(Concept):
    """One entry of `mcp_servers:`."""

    name: Name
    endpoint: Endpoint | None = Field(default=None, description="Address of a streamable HTTP server, such as `…/mcp`.")
    command: Text | None = Field(default=None, description="A program that speaks MCP on its standard streams.")
    args: tuple[AnyText, ...] = Field(default=(), description="Arguments of the program.")
    cwd: Text | None = Field(
        default=None, description="Folder the program runs in, relative to the pipeline file; unset: that file's."
    )
    auth: McpAuth = McpAuth()

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a server that cannot be reached, or in two ways, and a name no tool could begin with."""
        if not _NAME.fullmatch(self.name):
            text = f"a server cannot be called `{self.name}`, tools are `SERVER__TOOL`; use letters, digits, `_`, `-`"
            yield Complaint(("name",), text, ("name",))
        if "__" in self.name:
            text = f"no server can be called `{self.name}`, `__` parts it from its tools; use `_`"
            yield Complaint(("name",), text, ("name",))
        if self.endpoint is None and self.command is None:
            text = f"server `{self.name}` cannot be reached; give `command:` or `endpoint:`"
            yield Complaint((), text, ("endpoint", "command"))
        if self.endpoint is not None and self.command is not None:
            text = "has `endpoint:` and `command:`; a server is reached in one way, so remove one"
            yield Complaint(("command",), text, ("endpoint", "command"))
        for key in ("args", "cwd"):
            if self.endpoint is not None and self.command is None and key in self.model_fields_set:
                text = f"`{key}:` is for a server with `command:`, this one has `endpoint:`; remove it"
                yield Complaint((key,), text, ("endpoint", "command", key))
        if self.command is not None and self.auth.type == "oauth":
            text = "`type: oauth` is for a server with `endpoint:`; hand a program its token with `type: bearer`"
            yield Complaint(("auth", "type"), text, ("command", "auth"))
