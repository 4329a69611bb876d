"""Fixtures every test may use."""

import signal
import socket

import pytest

pytest_plugins = ["tests.support.fixtures_llm"]

_LOOPBACK = {"127.0.0.1", "::1", "localhost", ""}


# Started in the background of a shell, this process and those it starts would be deaf to an interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections that would leave this machine; unix sockets stay allowed."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in _LOOPBACK and not str(address[0]).startswith("127."):
            raise RuntimeError(f"a test tried to reach {address!r}; only loopback is allowed")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


_LATER = ("corpus", "e2e", "notebook", "notebooks", "browser", "docs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what is fast first: units, then whole pipelines, notebooks, the browser, the docs."""

    def rank(item: pytest.Item) -> int:
        places = item.path.relative_to(item.config.rootpath).parts
        return max((_LATER.index(place) + 1 for place in places if place in _LATER), default=0)

    items.sort(key=rank)
