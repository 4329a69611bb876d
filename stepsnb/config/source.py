"""Which model an agent talks to, and how it is reached."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from . import unsupported
from .concept import Concept
from .scalars import Endpoint, Flag, KeyVariable, ModelName, one_of
from .unsupported import Unsupported


class Source(Concept):
    """The model and its server.

    With `endpoint`, `model` goes out as it is; without, the text before its first `/` names the provider.
    """

    unsupported_keys: ClassVar[Unsupported] = unsupported.SOURCE

    model: ModelName | None = Field(default=None, description="`PROVIDER/MODEL`; unset: `defaults.model`.")
    endpoint: Endpoint | None = Field(
        default=None, description="Base URL of an OpenAI-compatible server, such as `…/v1`."
    )
    api_key_env: KeyVariable | None = Field(default=None, description="Environment variable that holds the key.")
    tool_mode: Annotated[Literal["auto", "native", "json"], one_of("tool mode", "auto", "native", "json")] = "auto"
    string_tool_choice: Flag | None = Field(
        default=None, description="Send `tool_choice` as a string; unset: the provider's way."
    )
    stream: Flag = True
