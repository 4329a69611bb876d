"""The child process that serves one GGUF file over llama.cpp's own HTTP server.

It is run by path and imports nothing of stepsnb, so it starts at once and whatever way stepsnb was imported.
Once the model is loaded it prints one JSON line, `{"port": N}`. It ends when its standard input does: the pipe
closes with the parent, also when that is killed outright.
"""

import argparse
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

_HOST = "127.0.0.1"
_WATCH_S = 1.0
_POLL_S = 0.05
_WARNINGS = 2
"""llama.cpp's log level: what a person needs to see why a model does not load."""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until the parent is gone."""
    parser = argparse.ArgumentParser(description="Serve a GGUF file until standard input ends.")
    parser.add_argument("--model", required=True, help="path of the GGUF file")
    parser.add_argument("--alias", required=True, help="name of the model on the wire")
    parser.add_argument("--port", type=int, default=0, help="port on loopback; 0 picks a free one")
    parser.add_argument("--context", type=int, required=True, help="context window in tokens")
    parser.add_argument("--slots", type=int, required=True, help="requests answered at once; they share the context")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--temperature", type=float, required=True)
    parser.add_argument("--top-p", type=float, required=True)
    parser.add_argument("--repeat-penalty", type=float, required=True)
    parser.add_argument("--llama-server", help="a llama-server program to use instead of the package xllamacpp")
    args = parser.parse_args(argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this ends
    return _run_program(args) if args.llama_server else _run_package(args)


def _announce(port: int) -> None:
    sys.stdout.write(json.dumps({"port": port}) + "\n")
    sys.stdout.flush()


def _is_parent_gone(parent: int) -> bool:
    """Wait a moment; True when standard input ended or another process became our parent.

    The second covers a copy of the pipe held open by a fork of the parent.
    """
    readable, _, _ = select.select([0], [], [], _WATCH_S)
    return bool(readable and not os.read(0, 4096)) or os.getppid() != parent


def _run_package(args: argparse.Namespace) -> int:
    import xllamacpp

    parent = os.getppid()
    params = xllamacpp.CommonParams()
    params.model.path = args.model
    params.model_alias = {args.alias}
    params.n_ctx = args.context
    params.n_parallel = args.slots
    params.hostnames = [_HOST]
    params.port = args.port
    params.use_jinja = True
    params.cpuparams.n_threads = args.threads
    params.sampling.temp = args.temperature
    params.sampling.top_p = args.top_p
    params.sampling.penalty_repeat = args.repeat_penalty
    params.verbosity = _WARNINGS
    # Web pages may not read replies, and nobody the prompts: the server is for our client alone.
    params.ui = False
    params.cors_origins = ""
    params.cors_origins_explicit = True
    params.endpoint_slots = False
    try:
        server = xllamacpp.Server(params)
    except RuntimeError:  # llama.cpp has said why on standard error; the exception only says that it did not work
        return 1
    _announce(int(server.listening_address.rpartition(":")[2]))
    while not _is_parent_gone(parent):
        pass
    os._exit(0)  # the server's own shutdown waits for requests nobody reads any more


def _run_program(args: argparse.Namespace) -> int:
    parent = os.getppid()
    port = args.port or _free_port()
    argv = [args.llama_server, "--model", args.model, "--alias", args.alias, "--host", _HOST, "--port", str(port)]
    argv += ["--ctx-size", str(args.context), "--parallel", str(args.slots), "--threads", str(args.threads), "--jinja"]
    argv += ["--temp", str(args.temperature), "--top-p", str(args.top_p), "--repeat-penalty", str(args.repeat_penalty)]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as child:
        try:
            announced = False
            while child.poll() is None:
                if not announced and _is_healthy(port):
                    _announce(port)
                    announced = True
                if announced:
                    if _is_parent_gone(parent):
                        return 0
                else:
                    time.sleep(_POLL_S)
            return child.returncode or 1
        finally:
            child.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection(_HOST, port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
