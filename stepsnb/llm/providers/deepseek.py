"""DeepSeek. Source: api-docs.deepseek.com, "Thinking mode": the thinking before a call has to be sent back."""

from .base import Provider

DEEPSEEK = Provider(
    name="deepseek",
    base_url="https://api.deepseek.com/v1",
    key_env="DEEPSEEK_API_KEY",
    prices_id="deepseek",
    sends_thinking=True,
)
