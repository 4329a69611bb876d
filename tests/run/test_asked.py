"""What a run that goes on takes over of the questions that were asked before it was cut off."""

import pytest

from stepsnb.events import Question
from stepsnb.people import Mailbox
from stepsnb.run.asked import Asked
from stepsnb.tools import AskRequest


def asked(phase, *, takes_reason=False):
    return Question(phase=phase, question_id="R-1", agent="", text="Ship it?", takes_reason=takes_reason)


def recalled(tmp_path, event):
    known = Asked()
    known.recall([event], Mailbox(tmp_path))
    return known.known(AskRequest(text="Ship it?", takes_reason=event.takes_reason))


@pytest.mark.parametrize("by", ["expired", "default"])
@pytest.mark.parametrize("takes_reason", [False, True])
def test_time_that_was_up_before_a_kill_is_no_answer(tmp_path, by, takes_reason):
    Mailbox(tmp_path).close("R-1", "", by)
    assert recalled(tmp_path, asked("asked", takes_reason=takes_reason)) is None


@pytest.mark.parametrize("takes_reason", [False, True])
def test_answer_that_came_as_the_run_was_stopped_counts(tmp_path, takes_reason):
    Mailbox(tmp_path).post("R-1", "approve", "somebody, process 1")
    reply = recalled(tmp_path, asked("expired", takes_reason=takes_reason))
    assert (reply.answer, reply.source) == ("approve", "mailbox")
