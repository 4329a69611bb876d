"""Who answers a question: an answer given in advance, a person here, the default, or nobody."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from ..errors import Aborted
from ..events import Emit, Question
from ..settings import QUESTION_WAIT_S
from ..tools import AskReply, AskRequest
from .given import GivenAnswers
from .questions import Answer, Asker, PendingQuestion

Settle = Callable[[], Awaitable[None]]


def _clock_words(seconds: float) -> str:
    whole = round(seconds)
    if whole >= 60 and whole % 60 == 0:
        return f"{whole // 60}m"
    return f"{whole}s" if whole >= 1 else f"{seconds:g}s"


def _unanswered(agent: str, text: str, nobody: str) -> str:
    """Say which question nobody answered, and how it is answered next time; an approval has no agent and no default."""
    part = " ".join(text.split())[:40].rstrip("?!. ")
    advance = "in advance with `--answer '{}={}'` (in Python `answers=`)"
    if not agent:
        return f"`{text}` waits for approval and {nobody}; approve it {advance.format(part, 'approve')}"
    or_else = "or give the grant a `default:`"
    return f"agent `{agent}` asked `{text}` and {nobody}; answer it {advance.format(part, '…')}, {or_else}"


class Ladder:
    """Asks the rungs in order; the question's row is written before any of them is tried."""

    def __init__(self, given: GivenAnswers, asker: Asker | None) -> None:
        self._given = given
        self._asker = asker

    @property
    def unused_answers(self) -> list[str]:
        """Parts of questions for which an answer stood ready and that no question held."""
        return self._given.unused

    async def ask(self, request: AskRequest, *, question_id: str, agent: str, emit: Emit, settle: Settle) -> AskReply:
        """Answer `request`, or use its default; `settle` waits until what was emitted is on the disk.

        Raises: Aborted when nobody answered and there is no default; InputError when a list of answers ran out.
        """
        wait_s = QUESTION_WAIT_S if request.timeout_s is None else request.timeout_s
        question = PendingQuestion(
            question_id=question_id,
            agent=agent,
            text=request.text,
            options=request.options,
            options_required=request.options_required,
            default=request.default,
            timeout_s=wait_s,
            takes_reason=request.takes_reason,
        )

        def record(phase: str, **fields: object) -> None:
            emit(
                Question(
                    phase=phase,  # type: ignore[arg-type]  # one of the literal's three values
                    question_id=question_id,
                    agent=agent,
                    text=request.text,
                    options=list(request.options),
                    options_required=request.options_required,
                    takes_reason=request.takes_reason,
                    default=request.default,
                    **fields,  # type: ignore[arg-type]  # fields of Question by name
                )
            )

        record("asked", expires_at=time.time() + wait_s if wait_s else None)
        await settle()
        nobody = "nobody is here to answer"
        try:
            text = self._given.find(request.text)
            answer = None if text is None else Answer(text, "given")
            if answer is None and self._asker is not None:
                async with asyncio.timeout(wait_s or None):
                    answer = await self._asker.ask(question)
        except TimeoutError:
            answer, nobody = None, f"nobody answered within {_clock_words(wait_s)}"
        except BaseException:
            record("expired")  # the run was stopped, or the answers given in advance are used up
            raise
        if answer is not None:
            record("answered", answer=answer.text, source=answer.source, answered_by=answer.answered_by)
            await settle()
            return AskReply(answered=True, answer=answer.text, source=answer.source, note=None)
        if request.default is not None:
            record("answered", answer=request.default, source="default")
            note = f"{nobody}; the declared default was used"
            return AskReply(answered=False, answer=request.default, source="default", note=note)
        record("expired")
        raise Aborted(_unanswered(agent, request.text, nobody))
