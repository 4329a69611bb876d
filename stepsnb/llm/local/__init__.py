"""Real models on this machine, without key or network: their weights, and the server in a child process."""

from .catalog import LOCAL_MODELS, LocalModel, local_model
from .server import ServerInfo, server_for, stop_servers
from .weights import cache_dir, fetch_weights

__all__ = [
    "LOCAL_MODELS",
    "LocalModel",
    "ServerInfo",
    "cache_dir",
    "fetch_weights",
    "local_model",
    "server_for",
    "stop_servers",
]
