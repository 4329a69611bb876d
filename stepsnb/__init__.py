"""stepsnb: run LLM agents from notebooks. Everything is imported on first use, so that importing this stays light."""

__version__ = "0.1.0"
