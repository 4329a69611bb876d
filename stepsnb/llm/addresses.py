"""Addresses of model servers: completed, judged, and made fit for showing."""

import ipaddress
from urllib.parse import urlsplit, urlunsplit


def is_http(url: str) -> bool:
    """Whether a text is a usable http address."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("ascii" if (parts.hostname or "").isascii() else "idna")
        return parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:  # a port beyond 65535, an IPv6 address without its bracket, letters no host name has
        return False


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def show_url(url: str) -> str:
    """Return a URL without the user name and password it may carry, and without its query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def add_path(base_url: str, path: str) -> str:
    """Return the address of `path` below a base URL, whose query stays at the end."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, f"{parts.path.rstrip('/')}/{path}", parts.query, ""))


def to_base_url(address: str, default: str) -> str:
    """Complete an address as servers take it in their own variables (`0.0.0.0`, `host:port`, a URL without path).

    What is missing (scheme, port, path) comes from `default`; the address a server listens on everywhere becomes
    the loopback one.
    """
    model = urlsplit(default)
    completed = address if "://" in address else f"{model.scheme}://{address}"
    try:
        given = urlsplit(completed)
        port = given.port or (None if "://" in address else model.port)
    except ValueError:  # `is_http` says no to it
        return completed
    host = given.hostname or model.hostname or ""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - recognised, not bound
        host = "127.0.0.1"
    netloc = f"[{host}]" if ":" in host else host
    if port is not None:
        netloc = f"{netloc}:{port}"
    path = given.path.rstrip("/") or model.path
    return urlunsplit((given.scheme, netloc, path, "", ""))
