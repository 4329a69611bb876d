"""Mistral. Sources: docs.mistral.ai, "Chat completion API" and "Function calling"; mistral-common, its validators.

It refuses what it does not know (`stream_options` among it: usage comes unasked), ids of calls in another form than its
own, and a user's message right behind a tool's result.
"""

from .base import Provider

MISTRAL = Provider(
    name="mistral",
    base_url="https://api.mistral.ai/v1",
    key_env="MISTRAL_API_KEY",
    reports_usage=False,
    prices_id="mistral",
    has_model_windows=True,
    short_call_ids=True,
    answers_tools=True,
)
