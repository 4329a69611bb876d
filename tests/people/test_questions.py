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


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("approve", "approve"),
        ("Approve", "approve"),
        ("2", "reject"),
        ("reject: not on a Friday: too late", "reject: not on a Friday: too late"),
        ("2 : not on a Friday", "reject: not on a Friday"),
        ("reject:", "reject"),
        ("approve it", None),
        ("", None),
    ],
)
def test_reason_may_follow_the_option_that_is_chosen(line, answer):
    approval = question(options=("approve", "reject"), options_required=True, takes_reason=True)
    assert approval.read_answer(line) == answer


def test_colon_of_any_other_answer_is_its_own():
    assert question(options=("a", "b")).read_answer("a: b") == "a: b"
