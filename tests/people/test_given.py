"""Answers given in advance."""

import pytest

from stepsnb.errors import InputError
from stepsnb.people import GivenAnswers


def test_mapping_answers_by_part_of_the_question_whatever_the_case():
    given = GivenAnswers.from_value({"WHICH bump": "minor"})
    assert given.find("Tell me: which Bump is this release?") == "minor"


def test_mapping_answers_any_number_of_questions():
    given = GivenAnswers.from_value({"port": "8443"})
    assert [given.find("Which port?"), given.find("And the other port?")] == ["8443", "8443"]


def test_mapping_leaves_other_questions_open():
    assert GivenAnswers.from_value({"port": "8443"}).find("Which host?") is None


def test_list_is_used_front_to_back_and_then_refuses():
    given = GivenAnswers.from_value(["A", "B"])
    assert [given.find("first?"), given.find("second?")] == ["A", "B"]
    with pytest.raises(InputError) as caught:
        given.find("third?")
    assert str(caught.value) == ("question `third?`: all 2 answers given in advance are used; add one to the list")


def test_nothing_given_leaves_every_question_open():
    assert GivenAnswers.from_value(None).find("anything?") is None


@pytest.mark.parametrize("value", ["port=8443", {"port": 8443}, [1, 2]])
def test_anything_but_texts_is_refused(value):
    with pytest.raises(InputError, match="answers: "):
        GivenAnswers.from_value(value)
