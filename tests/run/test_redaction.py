"""Secrets are replaced wherever a text of an event holds them."""

import pytest

from stepsnb.events import (
    Artifact,
    MessageAdded,
    Question,
    StepFinished,
    Tool,
    TurnFinished,
    decode_event,
    encode_event,
)
from stepsnb.run.redaction import Redaction


@pytest.mark.parametrize("secret", ["succeeded", "step_finished", "step_kind", "reason"])
def test_secret_that_is_a_word_of_ours_damages_no_event(secret):
    event = StepFinished(name="s", step_kind="task", outcome="succeeded", reason=f"it printed {secret}")
    cleaned, _ = Redaction([secret]).clean(event)
    assert (cleaned.kind, cleaned.outcome, cleaned.reason) == ("step_finished", "succeeded", "it printed [redacted]")
    assert decode_event(encode_event(cleaned)) == cleaned


def test_secret_in_lists_and_results_is_replaced():
    redaction = Redaction(["hunter2-hunter2"])
    assert redaction.clean(Tool(phase="end", result="KEY=hunter2-hunter2"))[0].result == "KEY=[redacted]"
    assert redaction.clean(Question(options=["hunter2-hunter2", "b"]))[0].options == ["[redacted]", "b"]


def test_longer_of_two_secrets_goes_first():
    cleaned, _ = Redaction(["abcdefgh", "abcdefgh-more"]).clean(MessageAdded(text="abcdefgh-more"))
    assert cleaned.text == "[redacted]"


def test_event_without_a_secret_is_passed_on_as_it_is():
    event = TurnFinished(text="nothing to hide")
    cleaned, payload = Redaction(["hunter2-hunter2"]).clean(event)
    assert cleaned is event
    assert payload == encode_event(event)


def test_half_a_surrogate_pair_becomes_valid_unicode():
    event = Question(text="which \ud800?", options=["\udfff", "Bergen"])
    cleaned, payload = Redaction([]).clean(event)
    assert (cleaned.text, cleaned.options) == ("which \\ud800?", ["\\udfff", "Bergen"])
    assert decode_event(payload) == cleaned


def test_names_and_paths_by_which_things_are_found_again_stay():
    event = Artifact(name="summaries", path="artifacts/1", files=["summaries.txt"])
    assert Redaction(["summaries", "artifacts"]).clean(event)[0] == event


@pytest.mark.parametrize(
    ("text", "shown", "held"),
    [
        ("nothing here", "nothing here", ""),
        ("the key is hunt", "the key is ", "hunt"),
        ("hunter2-hunter2 and h", "[redacted] and ", "h"),
        ("hunter2-hunter3", "hunter2-hunter3", ""),
        ("hunter2-hunter2", "[redacted]", ""),
    ],
)
def test_end_of_a_stream_that_may_become_a_secret_is_held_back(text, shown, held):
    assert Redaction(["hunter2-hunter2"]).split(text) == (shown, held)
