"""What a server's program sees of the environment: what programs need to run, and what its entry names."""

import os

from ..config import McpServer

_NAMES = frozenset(
    {
        *("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER"),
        *("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
        *("CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"),
    }
)
"""A program that is not ours is not given the keys of model providers, which stand in the environment too."""


def server_environment(server: McpServer) -> dict[str, str]:
    """Return the whole environment of a server's program."""
    named = {server.auth.api_key_env}
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _NAMES or name.startswith("LC_") or name in named
    }
