"""What a conversation owes before it may end: required tools, decisions, declared files, declared tool calls."""

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


class Reminder(msgspec.Struct, frozen=True):
    """What is owed, the message that says so to the model, or why it is too late for one."""

    owed: list[str]
    text: str | None
    failure: str | None


class Obligations:
    """Keeps the account of what is owed and what has been done about it.

    A required tool counts as done once a call of it *succeeded*. `decisions` are the tools a conversation ends with,
    its verdict and its typed output: they are owed like required tools, but only once everything else is there.
    Files and calls are put to the model again only when the step asked for that (`nudge`), all at once, `MAX_NUDGES`
    times at most; a decision waits for the files either way. `tools` are the names of all that were granted.

    `is_final` says that no further message will be put to the model: until then it owes nothing.
    """

    def __init__(
        self,
        *,
        required: Sequence[str] = (),
        decisions: Sequence[str] = (),
        files: Sequence[str] = (),
        calls: Sequence[OwedCall] = (),
        nudge: bool = False,
        has_file: Callable[[str], bool] = lambda _: True,
        is_constrained: bool = False,
        tools: Sequence[str] = (),
    ) -> None:
        self._required = list(dict.fromkeys(required))
        self._decisions = list(dict.fromkeys(decisions))
        self._owes_decision = bool(self._decisions)
        self._files = tuple(files)
        self._calls = tuple(calls)
        self._nudge = nudge
        self._has_file = has_file
        self.is_constrained = is_constrained
        self._tools = tuple(tools)
        self._forcing = is_constrained
        self._deciding = is_constrained and set(tools) <= set(decisions)
        self._ignored = 0
        self._nudges = 0
        self._is_circling = False
        self._seen: set[tuple[str, str, str]] = set()
        self.is_final = True
        self.made: list[tuple[str, Mapping[str, object]]] = []

    def record(self, name: str, args: Mapping[str, object], *, ok: bool, result: str = "") -> None:
        """Note a call that ran and what the model saw of its result."""
        self.made.append((name, args))
        for owed in (self._required, self._decisions):
            if ok and name in owed:
                owed.remove(name)
                self._ignored = 0
        seen = (name, _as_text(args), result)
        self._is_circling = self._is_circling or seen in self._seen
        self._seen.add(seen)

    @property
    def required(self) -> tuple[str, ...]:
        """Required tools and decisions that have not succeeded yet."""
        return (*self._required, *self._decisions)

    @property
    def has_decided(self) -> bool:
        """Whether it owed a decision and has given all of them: what it says after that may be nothing."""
        return self._owes_decision and not self._decisions

    def choice(self) -> Choice:
        """What the next reply may be.

        A model that calls tools natively is forced only to a required tool, and only after it tried to finish
        without it. One whose replies are constrained by a schema is held to a required tool from the start, and to
        the calls, files and decisions it owes once it tried to finish or makes a call again that gave the same result
        before: models small enough to need the schema seldom leave such a circle by themselves, so all that is left
        for them then is what they owe, and after that their answer.
        """
        if self._required and self._forcing:
            return Choice(tools=(self._required[0],), must_call=True)
        if self.is_constrained and self.is_final and (self._nudges or self._is_circling or self._deciding):
            owed = self._owed_choice()
            if owed is not None:
                return owed
        if self._decisions and self._may_decide and not self.decision_waits_for():
            return Choice(tools=(self._decisions[0],), must_call=True)
        return Choice(may_call=not (self.is_constrained and self._is_circling))

    @property
    def _may_decide(self) -> bool:
        return self._deciding or (self.is_constrained and self._is_circling and self.is_final)

    def _owed_choice(self) -> Choice | None:
        """Hold a constrained reply to the first call, else to the files, that are put to the model again."""
        if calls := self._missing_calls():
            owed = calls[0]
            return Choice(tools=(owed.name,), must_call=True, arguments={owed.name: dict(owed.args)})
        files = self._missing_files()
        if files and "write_file" in self._tools:
            pinned = {"path": files, "append": False}
            return Choice(tools=("write_file",), must_call=True, arguments={"write_file": pinned})
        return None

    def decision_waits_for(self) -> str | None:
        """Say what has to be there before a decision is taken; None when nothing is missing."""
        parts = []
        if self._required:
            parts.append(f"{_names(self._required)} has to succeed")
        if calls := self._missing_calls():
            parts.append(f"these tool calls have to be made: {', '.join(map(str, calls))}")
        if files := self._all_missing_files():
            parts.append(f"these files have to be there and not be empty: {', '.join(files)}")
        return "; ".join(parts) or None

    def remind(self) -> Reminder | None:
        """Decide what happens as the model tries to finish: None lets it, a `Reminder` sends it back.

        A reminder without a text means that everything was tried; the step fails with its reason.
        """
        if self.required:
            return self._remind_of_required()
        files, calls = self._missing_files(), self._missing_calls()
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

    def _remind_of_required(self) -> Reminder:
        self._forcing = True
        self._deciding = not self._required
        self._ignored += 1
        names = _names(self.required)
        if self._ignored > MAX_FORCED_CALLS_IGNORED:
            return Reminder(list(self.required), None, self.unmet())
        text = f"You are trying to finish, but {names} has to succeed first."
        waits_for = self.decision_waits_for() if self._deciding else None
        text += f" Before that, {waits_for}." if waits_for else " Call it now, then finish."
        files = self._all_missing_files() if self._deciding else []
        return Reminder([*self.required, *files], text, None)

    def unmet(self) -> str | None:
        """Say everything that is still owed, for the reason of a step that ended without it; None when nothing is."""
        parts = []
        if self.required:
            parts.append(f"required tool {_names(self.required)} never succeeded")
        if calls := missing_calls(self._calls, self.made):
            parts.append(f"not called: {', '.join(map(str, calls))}")
        if files := self._all_missing_files():
            parts.append(f"missing or empty: {', '.join(files)}")
        return "; ".join(parts) or None

    def _missing_calls(self) -> list[OwedCall]:
        return missing_calls(self._calls, self.made) if self._nudge else []

    def _missing_files(self) -> list[str]:
        return self._all_missing_files() if self._nudge else []

    def _all_missing_files(self) -> list[str]:
        return [path for path in self._files if not self._has_file(path)]


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
