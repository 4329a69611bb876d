"""Models: where their requests go, the wire, the replies, what they cost. One client for every provider."""

from .cassette import Cassette
from .chat import Chat
from .client import ModelClient
from .estimate import estimate_text, estimate_tokens
from .find_client import find_client
from .probe import PROBES, Probes, can_be_probed
from .providers import PROVIDERS, Provider
from .reply import Reply, RequestFailed
from .request import Choice, Listener, ToolSpec
from .target import Target, key_variable, resolve_target
from .transports import Script, register_script, unregister_script

__all__ = [
    "PROBES",
    "PROVIDERS",
    "Cassette",
    "Chat",
    "Choice",
    "Listener",
    "ModelClient",
    "Probes",
    "Provider",
    "Reply",
    "RequestFailed",
    "Script",
    "Target",
    "ToolSpec",
    "can_be_probed",
    "estimate_text",
    "estimate_tokens",
    "find_client",
    "key_variable",
    "register_script",
    "resolve_target",
    "unregister_script",
]
