"""What a script holds, and where scripts are found: replies of a model, written by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ...errors import InputError
from ...usage import Usage


class ScriptedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call of a reply; `arguments` is the JSON text exactly as it goes out."""

    name: str
    arguments: str = "{}"


class ScriptedError(msgspec.Struct, frozen=True, kw_only=True):
    """An error status in place of a reply, given `times` times before the replies go on."""

    status: int
    message: str = "a scripted error"
    retry_after_s: float | None = None
    times: int = 1


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """What a request must be like: texts in its last message, tools it offers."""

    message: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class ScriptedReply(msgspec.Struct, frozen=True, kw_only=True):
    """One reply, or an `error` in place of one.

    `usage` None means an estimate; `delay_s` is waited before each piece of a streamed reply. `check` False lets
    it call tools that were not offered, as models do.
    """

    text: str | None = None
    thinking: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    error: ScriptedError | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    delay_s: float = 0.0
    expect: Expectation = Expectation()
    check: bool = True


class Conversation(msgspec.Struct, kw_only=True):
    """Replies in order, for conversations whose system text or first user message holds `when`; None fits all.

    A request gets the reply after as many as are in its history, so that any number of conversations can go through
    one script. With `in_order` each request gets the next one instead, whatever it holds: for a single conversation
    whose history is not the sum of its replies, as it is not once it was summarised. After the last reply a new
    conversation begins at the first again; `given` counts them.
    """

    name: str = "replies"
    when: str | None = None
    replies: list[ScriptedReply] = []
    in_order: bool = False
    given: int = 0


class Script(msgspec.Struct, kw_only=True):
    """A whole script. `on_request` hears each request as it was sent, for tests that look at them."""

    name: str
    conversations: list[Conversation]
    on_request: Callable[[dict[str, Any]], None] | None = None


_registered: dict[str, Script] = {}


def register_script(name: str, script: Script) -> None:
    """Make a script the answer of the model `scripted/NAME` in this process, before any file of that name."""
    _registered[name] = script


def unregister_script(name: str) -> None:
    """Take a registered script back."""
    _registered.pop(name, None)


def script_named(name: str, base_dir: Path) -> Script:
    """Return the script of the model `scripted/NAME`: a registered one, else the file NAME under `base_dir`.

    Raises: `InputError` when there is none, `ConfigError` with one line for each problem of the file.
    """
    if name in _registered:
        return _registered[name]
    path = base_dir / name
    try:
        raw = path.read_bytes()
    except OSError as exc:
        raise InputError(
            f"script `{name}`: cannot read it ({exc.strerror}); "
            "the name of a `scripted/` model is the path of a file, from the folder of the pipeline"
        ) from exc
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise InputError(f"script `{name}`: is not UTF-8 (byte {exc.start}); save it as UTF-8") from exc
    from .script_file import load_script

    return load_script(text, name)
