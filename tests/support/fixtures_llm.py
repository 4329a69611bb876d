"""Fixtures that stand in for models: a scripted one under the real client, and a server that writes exact bytes."""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from stepsnb.llm import Script, register_script, unregister_script
from stepsnb.llm.transports.script import Conversation, Expectation, ScriptedCall, ScriptedError, ScriptedReply
from stepsnb.usage import Usage

from .wire_server import WireServer

_numbers = itertools.count(1)


class ScriptedModel:
    """A model whose replies the test says one by one; `model` is its name for a pipeline."""

    def __init__(self, name: str) -> None:
        self.model = f"scripted/{name}"
        self.requests: list[dict[str, Any]] = []
        """The body of each request, oldest first."""
        self.script = Script(
            name=name, conversations=[Conversation(replies=[], in_order=True)], on_request=self.requests.append
        )

    @property
    def request_count(self) -> int:
        """How many requests were made."""
        return len(self.requests)

    def says(
        self,
        text: str | None = None,
        *,
        calls: Sequence[tuple[str, dict[str, Any] | str]] = (),
        thinking: str = "",
        usage: int | dict[str, int] | None = None,
        error: int | tuple[int, str] | None = None,
        delay_s: float = 0.0,
        finish_reason: str | None = None,
        expect: str | None = None,
        check: bool = True,
    ) -> "ScriptedModel":
        """Add a reply.

        A call's arguments are an object, or a text that goes out as it is. `usage` as a number is input tokens,
        as a mapping it has the keys of a script (`input`, `cached_input`, `output` …).
        `error` is a status, or a status and a message. `delay_s` passes before each piece. `check=False` lets it
        call a tool that was not offered.
        """
        if error is not None:
            status, message = error if isinstance(error, tuple) else (error, "a scripted error")
            reply = ScriptedReply(error=ScriptedError(status=status, message=message))
        else:
            reply = ScriptedReply(
                text=text,
                thinking=thinking,
                calls=tuple(ScriptedCall(name=name, arguments=_arguments(args)) for name, args in calls),
                usage=_usage(usage),
                delay_s=delay_s,
                finish_reason=finish_reason,
                expect=Expectation(message=() if expect is None else (expect,)),
                check=check,
            )
        self.script.conversations[0].replies.append(reply)
        return self


def _arguments(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _usage(counts: int | dict[str, int] | None) -> Usage | None:
    if counts is None:
        return None
    if isinstance(counts, int):
        return Usage(input_tokens=counts)
    return Usage(**{f"{kind}_tokens": count for kind, count in counts.items()})


@pytest.fixture
def scripted_llm() -> Iterator[ScriptedModel]:
    """A scripted model: `scripted_llm.says("…", calls=[("read_file", {"path": "a"})])`, then run `.model`."""
    name = f"test-{next(_numbers)}"
    model = ScriptedModel(name)
    register_script(name, model.script)
    yield model
    unregister_script(name)


@pytest.fixture
def wire_server() -> Iterator[WireServer]:
    """A loopback server that answers with exact bytes."""
    server = WireServer()
    yield server
    server.close()
