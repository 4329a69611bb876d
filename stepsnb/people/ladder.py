"""Who answers a question: an answer given in advance, a person here, the default, or nobody."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from ..errors import Aborted, InputError
from ..events import Emit, Note, Question
from ..settings import QUESTION_WAIT_S
from ..tools import AskReply, AskRequest
from .given import GivenAnswers
from .mailbox import Mailbox
from .questions import Answer, Asker, PendingQuestion

Settle = Callable[[], Awaitable[None]]

Respond = Callable[[], Awaitable[str | None]]
"""Asks an agent in people's place; None when it fails or says nothing."""


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

    def __init__(
        self, given: GivenAnswers, asker: Asker | None, *, mailbox: Mailbox | None = None, parks: bool = False
    ) -> None:
        """Ask `asker` for people here; with a `mailbox` answers come from elsewhere too.

        Without an asker, a run that `parks` waits for such an answer as long as it would for a person.
        """
        self._given = given
        self._asker = asker
        self._mailbox = mailbox
        self._parks = parks and mailbox is not None

    @property
    def unused_answers(self) -> list[str]:
        """Parts of questions for which an answer stood ready and that no question held."""
        return self._given.unused

    async def ask(
        self,
        request: AskRequest,
        *,
        question_id: str,
        agent: str,
        emit: Emit,
        settle: Settle,
        respond: Respond | None = None,
    ) -> AskReply:
        """Answer `request`, or use its default; `settle` waits until what was emitted is on the disk.

        `respond` asks the agent that answers in people's place.

        Raises: Aborted when nobody answered and there is no default; InputError when a list of answers ran out, or one
            that was given in advance is not one of those that were offered.
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
            answer = self._given_to(question)
            if answer is None and respond is not None:
                answer = _offered(question, await respond(), request.answered_by)
            if answer is None:
                async with asyncio.timeout(wait_s or None):
                    answer = await self._ask_people(question, emit)
        except TimeoutError:
            answer, nobody = None, f"nobody answered within {_clock_words(wait_s)}"
        except BaseException:
            self._close(question_id, Answer("", "expired"))
            record("expired")  # the run was stopped, or the answers given in advance are used up
            raise
        # An answer from elsewhere that came first stands; after this one none does any more.
        last = Answer("", "expired") if request.default is None else Answer(request.default, "default")
        answer = self._close(question_id, answer or last) or answer
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

    def _given_to(self, question: PendingQuestion) -> Answer | None:
        text = self._given.find(question.text)
        if text is None:
            return None
        if question.options_required and not question.takes_reason and question.read_answer(text) is None:
            offered = ", ".join(f"`{option}`" for option in question.options)
            raise InputError(
                f"question `{question.text}`: the answer given in advance, `{text}`, was not offered; give {offered}"
            )
        return Answer(text, "given")

    async def _ask_people(self, question: PendingQuestion, emit: Emit) -> Answer | None:
        """Ask whoever is here, and take an answer from elsewhere if that comes first; None when nobody is anywhere."""
        if self._asker is None and not self._parks:
            return None
        if self._asker is None:
            emit(Note(text=_parked(question)))
        here = None if self._asker is None else asyncio.create_task(_ask(self._asker, question))
        there = None if self._mailbox is None else asyncio.create_task(self._mailbox.wait(question.question_id))
        try:
            done, _ = await asyncio.wait(
                [task for task in (here, there) if task is not None], return_when=asyncio.FIRST_COMPLETED
            )
            return (here if here in done or there is None else there).result()  # type: ignore[union-attr]  # one is done
        finally:
            await _end(here, there)

    def _close(self, question_id: str, answer: Answer) -> Answer | None:
        """Let no later answer count; returns the one that came from elsewhere before this one."""
        if self._mailbox is None:
            return None
        first = self._mailbox.close(question_id, answer.text, answer.answered_by or answer.source)
        if first is None or answer.source == "mailbox":
            return None
        return Answer(first.answer, "mailbox", first.answered_by)


async def _ask(asker: Asker, question: PendingQuestion) -> Answer | None:
    return await asker.ask(question)


async def _end(*tasks: "asyncio.Task[Answer | None] | asyncio.Task[Answer] | None") -> None:
    """Call off what is still waiting, and wait until it has ended."""
    running = [task for task in tasks if task is not None and not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)


def _offered(question: PendingQuestion, text: str | None, agent: str | None) -> Answer | None:
    """Return what an agent answered, None when it said nothing or chose what was not offered."""
    if text is None or not text.strip():
        return None
    answer = question.read_answer(text)
    return None if answer is None else Answer(answer, "agent", agent)


def _parked(question: PendingQuestion) -> str:
    wait = f"the run waits {_clock_words(question.timeout_s)}" if question.timeout_s else "the run waits for it"
    options = f" (options: {' | '.join(question.options)})" if question.options else ""
    verb = (
        f"approve {question.question_id}` or `stepsnb reject {question.question_id}"
        if question.takes_reason
        else (f"answer {question.question_id} TEXT")
    )
    return f"question {question.question_id}: {question.text}{options}; answer it with `stepsnb {verb}`, {wait}"
