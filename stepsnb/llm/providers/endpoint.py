"""Any OpenAI-compatible server that `source.endpoint` names; it is no prefix of models."""

from .base import Provider

ENDPOINT = Provider(
    name="endpoint",
    has_model_windows=True,
    advice="check that the server runs, and `source.endpoint`",
)
