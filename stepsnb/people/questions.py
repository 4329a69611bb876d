"""What is asked, what comes back, and the role of whoever can ask a person."""

from typing import Protocol

import msgspec


class PendingQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question on its way to somebody; `timeout_s` is how long a person is waited on.

    With `takes_reason` a reason may follow the option that is chosen: `reject: not on a Friday`.
    """

    question_id: str
    agent: str
    text: str
    options: tuple[str, ...] = ()
    options_required: bool = False
    default: str | None = None
    timeout_s: float
    takes_reason: bool = False

    @property
    def asked_by(self) -> str:
        """Who asks, in words; an approval is asked for by the plan itself."""
        return f"{self.agent} asks" if self.agent else "approval"

    @property
    def hint(self) -> str:
        """How to answer besides choosing an option; empty where that is plain."""
        return f"a reason may follow, as in `{self.options[-1]}: not today`" if self.takes_reason else ""

    def read_answer(self, line: str) -> str | None:
        """Return the answer a typed line stands for, None when it is none.

        An empty line means the default, a number the option at that place, anything else itself where that is
        allowed.
        """
        text = line.strip()
        if not text:
            return self.default
        if self.takes_reason:
            chosen, _, reason = text.partition(":")
            option = self._option(chosen.strip().casefold())
            return None if option is None else f"{option}: {reason.strip()}" if reason.strip() else option
        if text in self.options:
            return text
        if text.isdecimal() and 1 <= int(text) <= len(self.options):
            return self.options[int(text) - 1]
        return None if self.options_required else text

    def _option(self, word: str) -> str | None:
        """Return the option that a word, in any case, or a number means."""
        for number, option in enumerate(self.options, 1):
            if word in (option.casefold(), str(number)):
                return option
        return None


class Answer(msgspec.Struct, frozen=True):
    """An answer and where it came from: `given`, `widget`, `prompt`, `agent`, `mailbox` or `default`."""

    text: str
    source: str
    answered_by: str | None = None


class Asker(Protocol):
    """Whoever can put a question to a person: the live view, a prompt, a terminal."""

    async def ask(self, question: PendingQuestion) -> Answer | None:
        """Wait for a person's answer on the engine's loop; None when nobody can be asked here."""
        ...
