"""What a conversation owes before it may end: required tools, declared files, declared tool calls."""

import json
from collections.abc import Callable, Mapping, Sequence

import msgspec

from ..llm import Choice
from ..settings import MAX_FORCED_CALLS_IGNORED, MAX_NUDGES


class OwedCall(msgspec.Struct, frozen=True):
    """A tool call the step's assert names; `args` is the subset that has to match, compared as texts."""

    name: str
    args: Mapping[str, str] = {}

    def matches(self, name: str, args: Mapping[str, object]) -> bool:
        """Whether a call that was made is the one meant here."""
        return name == self.name and all(key in args and _as_text(args[key]) == want for key, want in self.args.items())

    def __str__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.args.items())
        return f"{self.name}({shown})"


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))  # takes what a model may send, `"\\ud800"` too


def missing_calls(owed: Sequence[OwedCall], made: Sequence[tuple[str, Mapping[str, object]]]) -> list[OwedCall]:
    """Return the owed calls left over when `made` is read as containing them in order."""
    position = 0
    for name, args in made:
        if position < len(owed) and owed[position].matches(name, args):
            position += 1
    return list(owed[position:])


class Obligations:
    """Keeps the account of what is owed and what has been done about it.

    A required tool counts as done once a call of it *succeeded*. Files and calls are put to the model again only
    when the step asked for that (`nudge`), all at once, `MAX_NUDGES` times at most. `tools` are the names of all
    that were granted.
    """

    def __init__(
        self,
        *,
        required: Sequence[str] = (),
        files: Sequence[str] = (),
        calls: Sequence[OwedCall] = (),
        nudge: bool = False,
        has_file: Callable[[str], bool] = lambda _: True,
        is_constrained: bool = False,
        tools: Sequence[str] = (),
    ) -> None:
        self._required = list(dict.fromkeys(required))
        self._files = tuple(files) if nudge else ()
        self._calls = tuple(calls) if nudge else ()
        self._has_file = has_file
        self._is_constrained = is_constrained
        self._tools = tuple(tools)
        self._forcing = is_constrained
        self._ignored = 0
        self._nudges = 0
        self._is_circling = False
        self._seen: set[tuple[str, str, str]] = set()
        self.made: list[tuple[str, Mapping[str, object]]] = []

    def record(self, name: str, args: Mapping[str, object], *, ok: bool, result: str = "") -> None:
        """Note a call that ran and what the model saw of its result."""
        self.made.append((name, args))
        if ok and name in self._required:
            self._required.remove(name)
            self._ignored = 0
        seen = (name, _as_text(args), result)
        self._is_circling = self._is_circling or seen in self._seen
        self._seen.add(seen)

    @property
    def required(self) -> tuple[str, ...]:
        """Required tools that have not succeeded yet."""
        return tuple(self._required)

    def choice(self) -> Choice:
        """What the next reply may be.

        A model that calls tools natively is forced only to a required tool, and only after it tried to finish
        without it. One whose replies are constrained by a schema is held to a required tool from the start, and to
        the calls and files it owes once it tried to finish or makes a call again that gave the same result before:
        models small enough to need the schema seldom leave such a circle by themselves, so all that is left for
        them then is what they owe, and after that their answer.
        """
        if self._required and self._forcing:
            return Choice(tools=(self._required[0],), must_call=True)
        if not self._is_constrained:
            return Choice()
        if self._nudges or self._is_circling:
            if calls := missing_calls(self._calls, self.made):
                owed = calls[0]
                return Choice(tools=(owed.name,), must_call=True, arguments={owed.name: dict(owed.args)})
            files = self._missing_files()
            if files and "write_file" in self._tools:
                pinned = {"path": files, "append": False}
                return Choice(tools=("write_file",), must_call=True, arguments={"write_file": pinned})
        return Choice(may_call=not self._is_circling)

    def remind(self) -> "Reminder | None":
        """Decide what happens as the model tries to finish: None lets it, a `Reminder` sends it back.

        A reminder without a text means that everything was tried; the step fails with its reason.
        """
        if self._required:
            self._forcing = True
            self._ignored += 1
            names = ", ".join(f"`{name}`" for name in self._required)
            if self._ignored > MAX_FORCED_CALLS_IGNORED:
                return Reminder([*self._required], None, f"required tool {names} never succeeded")
            text = f"You are trying to finish, but {names} has to succeed first. Call it now, then finish."
            return Reminder([*self._required], text, None)
        files, calls = self._missing_files(), missing_calls(self._calls, self.made)
        if not (files or calls) or self._nudges >= MAX_NUDGES:
            return None
        self._nudges += 1
        parts = ["You are trying to finish, but this step still owes something."]
        if calls:
            parts.append(f"These tool calls were not made: {', '.join(map(str, calls))}.")
        if files:
            parts.append(
                f"These files do not exist or are empty: {', '.join(files)}. A later step reads them; what you "
                "write in this conversation reaches nobody."
            )
        parts.append("Do it now with the tools you have, then finish.")
        return Reminder([*map(str, calls), *files], " ".join(parts), None)

    def _missing_files(self) -> list[str]:
        return [path for path in self._files if not self._has_file(path)]


class Reminder(msgspec.Struct, frozen=True):
    """What is owed, the message that says so to the model, or why it is too late for one."""

    owed: list[str]
    text: str | None
    failure: str | None
