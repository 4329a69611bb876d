"""LM Studio's local server. Source: lmstudio.ai/docs, "OpenAI compatibility"."""

from .base import Provider

LMSTUDIO = Provider(
    name="lmstudio",
    base_url="http://127.0.0.1:1234/v1",
    string_tool_choice=True,
    has_model_windows=True,
    advice="start its server (`lms server start`), or set `source.endpoint`",
)
