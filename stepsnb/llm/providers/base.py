"""What there is to say about a provider; each file beside this one says it about one."""

from typing import Literal

import msgspec


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of an OpenAI-compatible API, as data.

    `name` is the prefix of its models. `base_url` ends in the version (`…/v1`); the environment variable
    `base_url_env` replaces it. `key_env` holds the key, None means that none is needed. `prices_id` is the
    provider's id in genai-prices, None when nothing there is about it. `has_model_windows` says that its list of
    models tells their context windows. `advice` is what to do when nothing answers at the address.
    """

    name: str
    base_url: str | None = None
    base_url_env: str | None = None
    key_env: str | None = None
    tool_mode: Literal["native", "json"] = "native"
    string_tool_choice: bool = False
    max_tokens_key: str = "max_tokens"
    default_max_tokens: int | None = None
    reports_usage: bool = True
    is_free: bool = False
    prices_id: str | None = None
    has_model_windows: bool = False
    advice: str = "check the network, or set `source.endpoint`"
