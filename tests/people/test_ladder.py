"""Who answers a question, in which order, and what is recorded."""

import asyncio

import pytest

from stepsnb.errors import Aborted, InputError
from stepsnb.people import Answer, GivenAnswers, Ladder
from stepsnb.tools import AskRequest


class Person:
    """Answers with a fixed text after a while, or says that nobody can be asked."""

    def __init__(self, text, delay_s=0.0):
        self.text, self.delay_s, self.asked = text, delay_s, []

    async def ask(self, question):
        self.asked.append(question)
        await asyncio.sleep(self.delay_s)
        return None if self.text is None else Answer(self.text, "widget")


def request(**fields):
    return AskRequest(
        **{
            "text": "Which port?",
            "options": ("A", "B"),
            "options_required": False,
            "default": None,
            "timeout_s": None,
            **fields,
        }
    )


async def settled():
    """Everything is on the disk."""


async def ask(ladder, events, **fields):
    return await ladder.ask(request(**fields), question_id="R-1", agent="writer", emit=events.append, settle=settled)


async def test_given_answer_comes_before_a_person_and_the_row_before_both():
    person, events = Person("from the person"), []
    reply = await ask(Ladder(GivenAnswers.from_value({"port": "B"}), person), events)
    assert (reply.answered, reply.answer, reply.source, person.asked) == (True, "B", "given", [])
    assert [(e.phase, e.answer, e.source) for e in events] == [("asked", None, None), ("answered", "B", "given")]
    assert events[0].options == ["A", "B"]


async def test_row_is_written_before_a_person_is_asked():
    events, seen = [], []

    class Watching(Person):
        async def ask(self, question):
            seen.extend(event.phase for event in events)
            return await super().ask(question)

    reply = await ask(Ladder(GivenAnswers.from_value(None), Watching("A")), events)
    assert (reply.answer, reply.source, seen) == ("A", "widget", ["asked"])


async def test_nobody_within_the_wait_uses_the_default_and_says_so():
    events = []
    reply = await ask(Ladder(GivenAnswers.from_value(None), Person("late", 5)), events, default="B", timeout_s=0.05)
    assert (reply.answered, reply.answer, reply.source) == (False, "B", "default")
    assert reply.note == "nobody answered within 0.05s; the declared default was used"
    assert [(e.phase, e.source) for e in events] == [("asked", None), ("answered", "default")]


async def test_nobody_here_and_no_default_aborts_naming_the_question_and_how_to_answer():
    events = []
    with pytest.raises(Aborted) as caught:
        await ask(Ladder(GivenAnswers.from_value(None), None), events)
    assert str(caught.value) == (
        "agent `writer` asked `Which port?` and nobody is here to answer; answer it in advance with "
        "`--answer 'Which port=…'` (in Python `answers=`), or give the grant a `default:`"
    )
    assert [event.phase for event in events] == ["asked", "expired"]


async def test_person_who_cannot_be_asked_here_counts_as_nobody():
    reply = await ask(Ladder(GivenAnswers.from_value(None), Person(None)), [], default="A")
    assert reply.note == "nobody is here to answer; the declared default was used"


async def test_stop_while_somebody_is_waited_on_closes_the_question():
    events = []
    task = asyncio.create_task(ask(Ladder(GivenAnswers.from_value(None), Person("late", 60)), events, default="B"))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(event.phase, event.answer) for event in events] == [("asked", None), ("expired", None)]


async def test_list_that_ran_out_closes_the_question_and_asks_nobody():
    person, events = Person("A"), []
    with pytest.raises(InputError, match="all 0 answers given in advance are used"):
        await ask(Ladder(GivenAnswers.from_value([]), person), events)
    assert ([event.phase for event in events], person.asked) == (["asked", "expired"], [])


async def test_question_without_a_time_limit_never_expires():
    events = []
    reply = await ask(Ladder(GivenAnswers.from_value(None), Person("A", 0.05)), events, timeout_s=0)
    assert (reply.answer, events[0].expires_at) == ("A", None)


@pytest.mark.parametrize(("seconds", "words"), [(120, "2m"), (90, "90s"), (1, "1s"), (0.25, "0.25s")])
async def test_wait_is_told_as_it_is_written(seconds, words):
    class Gone(Person):
        async def ask(self, question):
            raise TimeoutError

    reply = await ask(Ladder(GivenAnswers.from_value(None), Gone("A")), [], default="B", timeout_s=seconds)
    assert reply.note == f"nobody answered within {words}; the declared default was used"
