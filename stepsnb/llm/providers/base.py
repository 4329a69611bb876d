"""What there is to say about a provider; each file beside this one says it about one."""

from typing import Literal

import msgspec


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of an OpenAI-compatible API, as data.

    `name` is the prefix of its models. `base_url` ends in the version (`…/v1`); the environment variable
    `base_url_env` replaces it. `key_env` holds the key, None means that none is needed. `prices_id` is the
    provider's id in genai-prices, None when nothing there is about it. `has_model_windows` says that its list of
    models tells their context windows. `advice` is what to do when nothing answers at the address.

    What its API is particular about: `sends_thinking` (a message with calls goes back with the thinking before them),
    `signs_calls` (calls go back with their signatures), `short_call_ids` (nine letters and digits), `answers_tools`
    (after a tool's result the model speaks before the user does). `pins_sessions` sends an id that keeps an agent's
    requests together, and models whose names begin with one of `marks_cache` get a cache marker.

    Whether it is there, and takes the key, is asked at `probe_path`, which lists its models unless it has another name;
    with the key in `probe_key_header` too where that path wants it there, and with `probe_headers`.
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
    sends_thinking: bool = False
    signs_calls: bool = False
    short_call_ids: bool = False
    answers_tools: bool = False
    pins_sessions: bool = False
    marks_cache: tuple[str, ...] = ()
    probe_path: str = "models"
    probe_key_header: str | None = None
    probe_headers: tuple[tuple[str, str], ...] = ()
    advice: str = "check the network, or set `source.endpoint`"
