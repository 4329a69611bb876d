"""llama.cpp's `llama-server`, started by the user. Source: llama.cpp, tools/server/README."""

from .base import Provider

LLAMA_SERVER = Provider(
    name="llama-server",
    base_url="http://127.0.0.1:8080/v1",
    has_model_windows=True,
    advice="start it (`llama-server -m MODEL.gguf`), or set `source.endpoint`",
)
