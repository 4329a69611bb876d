"""What a person's typed line stands for."""

import pytest

from stepsnb.people import PendingQuestion


def question(**fields):
    return PendingQuestion(question_id="q1", agent="writer", text="Which port?", timeout_s=5.0, **fields)


@pytest.mark.parametrize(
    ("fields", "line", "answer"),
    [
        ({}, " Narvik \n", "Narvik"),
        ({}, "", None),
        ({"default": "Tromso"}, " ", "Tromso"),
        ({"options": ("Tromso", "Bergen")}, "2", "Bergen"),
        ({"options": ("Tromso", "Bergen")}, "3", "3"),
        ({"options": ("2", "1")}, "2", "2"),
        ({"options": ("Tromso", "Bergen")}, "²", "²"),
        ({"options": ("Tromso", "Bergen"), "options_required": True}, "Narvik", None),
        ({"options": ("Tromso", "Bergen"), "options_required": True}, "0", None),
    ],
)
def test_typed_line_is_an_option_the_default_or_its_own_words(fields, line, answer):
    assert question(**fields).read_answer(line) == answer
