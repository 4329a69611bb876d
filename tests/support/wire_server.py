"""A loopback HTTP server that writes exact bytes: what only a socket shows (splits, cuts, keep-alives)."""

import contextlib
import json
import socket
import threading
from dataclasses import dataclass, field
from typing import Any

Step = bytes | float | None
"""Bytes are one write, a number is a pause in seconds, None closes the connection at once."""

SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNKED_END = b"0\r\n\r\n"


def chunked(data: bytes) -> bytes:
    """Frame bytes as one chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


@dataclass
class WireServer:
    """Answers each request with the next queued steps; without any left, with status 500.

    What is asked beside a conversation (`GET`) is kept apart in `probes` and told that there is no such thing, unless
    `queues_probes`: it is a request like any other then.
    """

    requests: list[Received] = field(default_factory=list)
    probes: list[Received] = field(default_factory=list)
    queues_probes: bool = False
    connections: int = 0
    client_left: threading.Event = field(default_factory=threading.Event)
    """Set when a client closes its connection while an answer is under way."""

    def __post_init__(self) -> None:
        self._answers: list[list[Step]] = []
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._run(self._accept)

    def answers(self, *steps: Step) -> "WireServer":
        """Queue an answer written exactly so, status line and headers included."""
        self._answers.append(list(steps))
        return self

    def streams(self, *steps: Step, is_cut: bool = False) -> "WireServer":
        """Queue an event stream: each bytes step is one chunk and one write; `is_cut` leaves the last chunk out."""
        framed = [chunked(step) if isinstance(step, bytes) else step for step in steps]
        return self.answers(SSE_HEAD, *framed, *([None] if is_cut else [CHUNKED_END]))

    def says(self, status: int, body: object, **headers: str) -> "WireServer":
        """Queue a plain answer: JSON, or bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "text/html" if data[:1] == b"<" else "application/json"
        fields = {"content-type": kind, "content-length": str(len(data)), **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        return self.answers(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + data)

    def close(self) -> None:
        """Stop listening, close every connection and wait for the threads."""
        self._closing.set()
        for each in [self._listener, *self._sockets]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(5)

    def _run(self, target: Any, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets.append(connection)
            self._run(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while (received := _read_request(connection)) is not None:
                if received.method == "GET" and not self.queues_probes:
                    self.probes.append(received)
                    connection.sendall(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n")
                    continue
                self.requests.append(received)
                steps = self._answers.pop(0) if self._answers else [b"HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n"]
                for step in steps:
                    if step is None:
                        return
                    if isinstance(step, bytes):
                        connection.sendall(step)
                    elif self._client_leaves_within(connection, step):
                        self.client_left.set()
                        return

    def _client_leaves_within(self, connection: socket.socket, seconds: float) -> bool:
        connection.settimeout(seconds)
        try:
            return connection.recv(1, socket.MSG_PEEK) == b""
        except TimeoutError:
            return False
        except OSError:
            return True
        finally:
            with contextlib.suppress(OSError):
                connection.settimeout(None)


def _read_request(connection: socket.socket) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    method, path, _ = first.split(" ")
    return Received(method, path, headers, body)
