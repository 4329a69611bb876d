"""Which inputs nothing makes."""

from hypothesis import given
from hypothesis import strategies as st

from stepsnb.config import GetStep, TaskStep, check_artifacts


def task(*, takes=(), makes=()):
    return TaskStep(task="t", run="echo", inputs=takes, outputs=makes)


def test_outputs_and_fetched_artifacts_are_there_for_later_steps():
    steps = [GetStep(get="notes"), task(takes=("notes",), makes=("report",)), task(takes=("report", "notes"))]

    assert check_artifacts(steps, set()) == []


def test_what_is_available_needs_no_maker():
    assert check_artifacts([task(takes=("files",))], {"files"}) == []


def test_unmet_input_has_its_step_and_place():
    [unmet] = check_artifacts([task(makes=("notes",)), task(takes=("notes", "note"))], {"plans"})

    assert (unmet.index, unmet.position) == (1, 1)
    assert str(unmet) == (
        "<code>:1:1: step 2 (task `t`): nothing makes the input `note` (did you mean `notes`?); "
        "before this step there is: notes, plans"
    )


def test_own_output_is_no_input():
    [unmet] = check_artifacts([task(takes=("log",), makes=("log",))], set())

    assert unmet.text == "the input `log` is made only by this step or a later one; make it in a step before"


NAMES = st.lists(st.sampled_from("abcd"), unique=True).map(tuple)


@given(
    st.lists(st.builds(lambda takes, makes: task(takes=takes, makes=makes), NAMES, NAMES)),
    st.sets(st.sampled_from("abcd")),
)
def test_input_is_unmet_exactly_when_nothing_before_makes_it(steps, available):
    expected = [
        (index, position)
        for index, step in enumerate(steps)
        for position, name in enumerate(step.inputs)
        if name not in available.union(*(before.outputs for before in steps[:index]))
    ]

    assert [(unmet.index, unmet.position) for unmet in check_artifacts(steps, available)] == expected
