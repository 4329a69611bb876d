"""What the system message of a step says."""

import pytest

from stepsnb.agent import build_system_text

PLACE = "You work in a directory of your own. Paths of tools are relative to it."


def test_without_a_persona_it_is_the_place_alone():
    assert build_system_text(None, inputs=(), outputs=(), timeout_s=None) == PLACE
    assert build_system_text("  \n", inputs=(), outputs=(), timeout_s=None) == PLACE


def test_persona_comes_first_then_inputs_outputs_and_the_time():
    text = build_system_text("You are brief.\n", inputs=["notes", "data"], outputs=["report"], timeout_s=90)
    assert text == (
        f"You are brief.\n\n{PLACE} It holds: notes/, data/. Files to keep go into: report/; only these survive. "
        "You have 1 minute 30 seconds for all of it."
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "1 second"),
        (60, "1 minute"),
        (599, "9 minutes 59 seconds"),
        (1798.6, "30 minutes"),
        (1800, "30 minutes"),
        (3600, "1 hour"),
        (3661, "1 hour 1 minute"),
        (7205, "2 hours"),
        (0.2, "less than a second"),
    ],
)
def test_deadline_is_told_as_a_duration(seconds, words):
    assert f"You have {words} for all of it." in build_system_text(None, inputs=(), outputs=(), timeout_s=seconds)
