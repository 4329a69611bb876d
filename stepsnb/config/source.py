"""Which model an agent talks to, and how it is reached."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from .concept import Complaint, Concept
from .scalars import Endpoint, Flag, KeyVariable, ModelName, PythonVariable, one_of


class Source(Concept):
    """The model and its server.

    With `endpoint` or `client`, `model` goes out as it is; without, the text before its first `/` names the provider.
    """

    model: ModelName | None = Field(default=None, description="`PROVIDER/MODEL`; unset: `defaults.model`.")
    endpoint: Endpoint | None = Field(
        default=None, description="Base URL of an OpenAI-compatible server, such as `…/v1`."
    )
    api_key_env: KeyVariable | None = Field(default=None, description="Environment variable that holds the key.")
    client: PythonVariable | None = Field(
        default=None, description="Variable of the notebook with an `openai` client that makes the requests."
    )
    tool_mode: Annotated[Literal["auto", "native", "json"], one_of("tool mode", "auto", "native", "json")] = "auto"
    string_tool_choice: Flag | None = Field(
        default=None, description="Send `tool_choice` as a string; unset: the provider's way."
    )
    stream: Flag = True

    def complaints(self) -> Iterator[Complaint]:
        """Refuse two ways to one server."""
        for key in ("endpoint", "api_key_env"):
            if self.client is not None and getattr(self, key) is not None:
                yield Complaint(
                    (key,), f"`{key}:` does nothing beside `client:`, which has its own; remove one of them"
                )
