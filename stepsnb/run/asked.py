"""What people were asked in a run: the same question, with the same options, is put once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from ..events import Event, Question
from ..people import Mailbox
from ..tools import AskReply, AskRequest

_Key = tuple[str, tuple[str, ...]]


class Asked:
    """The answers that a run has, and the questions that are open in it.

    Those of approvals are none: whoever allows something allows it once. An answer that came for an approval while
    nobody ran the run is used the first time it is asked for again.
    """

    def __init__(self) -> None:
        self._answers: dict[_Key, AskReply] = {}
        self._approvals: dict[_Key, AskReply] = {}
        self._open: dict[_Key, asyncio.Future[AskReply]] = {}

    def recall(self, events: Iterable[Event], mailbox: Mailbox | None) -> None:
        """Take over what a run that goes on was told before, in its record and in the mailbox since."""
        latest = {event.question_id: event for event in events if isinstance(event, Question)}
        for event in latest.values():
            answers = self._approvals if event.takes_reason else self._answers
            key = (event.text, tuple(event.options))
            if event.phase == "answered" and event.source != "default" and not event.takes_reason:
                answers[key] = AskReply(answered=True, answer=event.answer or "", source=event.source or "given")
            elif event.phase != "answered" and mailbox is not None:
                # One that came as the run was stopped was accepted from whoever gave it, so it counts.
                letter = mailbox.read(event.question_id)
                if letter is not None and letter.is_answer:
                    answers[key] = AskReply(answered=True, answer=letter.answer, source="mailbox")

    def known(self, request: AskRequest) -> AskReply | None:
        """Return the answer to a question that was put before; None when somebody has to be asked."""
        key = (request.text, request.options)
        if request.takes_reason:
            return self._approvals.pop(key, None)
        return self._answers.get(key)

    async def once(self, request: AskRequest, ask: Callable[[], Awaitable[AskReply]]) -> AskReply:
        """Ask, unless the same is being asked already: then wait for that answer. A default is none to remember."""
        if request.takes_reason:
            return await ask()
        key = (request.text, request.options)
        while (pending := self._open.get(key)) is not None:
            await asyncio.wait({pending})
            if (known := self._answers.get(key)) is not None:
                return known
            if not pending.cancelled() and pending.exception() is None:
                return pending.result()
        mine = self._open[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await ask()
        except BaseException:
            mine.cancel()
            raise
        else:
            if reply.answered:
                self._answers[key] = reply
            mine.set_result(reply)
            return reply
        finally:
            del self._open[key]
