"""Which inputs nothing makes, in lists, blocks and hooks."""

from hypothesis import given
from hypothesis import strategies as st

from stepsnb.config import (
    AgentStep,
    DoStep,
    EnsembleStep,
    GetStep,
    InParallelStep,
    PutStep,
    RaceStep,
    TaskStep,
    TryStep,
    check_artifacts,
)


def task(*, takes=(), makes=(), **keys):
    return TaskStep(task="t", run="echo", inputs=takes, outputs=makes, **keys)


def problems(steps, available=()):
    return [(problem.at, problem.text) for problem in check_artifacts(steps, set(available)).unmet]


def test_outputs_and_fetched_artifacts_are_there_for_later_steps():
    steps = [GetStep(get="notes"), task(takes=("notes",), makes=("report",)), task(takes=("report", "notes"))]

    flow = check_artifacts(steps, set())

    assert flow.unmet == ()
    assert flow.made == {"notes", "report"}


def test_what_is_available_needs_no_maker():
    assert problems([task(takes=("files",))], {"files"}) == []


def test_unmet_input_has_its_step_and_place():
    [unmet] = check_artifacts([task(makes=("notes",)), task(takes=("notes", "note"))], {"plans"}).unmet

    assert unmet.at == ("inputs", 1)
    assert str(unmet) == (
        "<code>:1:1: task `t`: nothing makes the input `note` (did you mean `notes`?); "
        "before this step there is: notes, plans"
    )


def test_own_output_is_no_input():
    [(_, text)] = problems([task(takes=("log",), makes=("log",))])

    assert text == "the input `log` is made only by this step or a later one; make it in a step before"


def test_mapped_names_are_those_of_the_plan():
    maker = task(makes=("out",), output_mapping={"out": "site"})
    reader = task(takes=("page",), input_mapping={"page": "site"})

    assert problems([maker, reader]) == []
    assert [at for at, _ in problems([task(makes=("out",)), reader])] == [("input_mapping", "page")]


def test_blocks_in_order_and_tries_are_transparent():
    group = DoStep(steps=(task(makes=("a",)), TryStep(step=task(takes=("a",), makes=("b",)))))

    assert problems([group, task(takes=("a", "b"))]) == []


def test_branch_does_not_read_what_another_makes():
    block = InParallelStep(block={"steps": (task(makes=("a",)), task(takes=("a",)))})

    [(at, text)] = problems([block, task(takes=("a",))])

    assert at == ("inputs", 0)
    assert text.startswith("no branch reads what another makes, and the input `a` is made by branch 1 (task `t`)")


def test_branch_without_a_name_is_told_by_its_kind():
    block = InParallelStep(block={"steps": (DoStep(steps=(task(makes=("a",)),)), task(takes=("a",)))})

    assert "is made by branch 1 (do);" in problems([block])[0][1]


def test_branch_reads_what_it_makes_itself():
    block = InParallelStep(block={"steps": (DoStep(steps=(task(makes=("a",)), task(takes=("a",)))),)})

    assert problems([block]) == []


def test_two_branches_making_one_artifact_are_refused():
    members = tuple(AgentStep(agent=name, messages=("Go.",), outputs=("a",)) for name in ("x", "y"))
    ensemble = EnsembleStep(block={"entries": ("yes",), "agents": members})

    [(at, text)] = problems([ensemble])

    assert at == ("outputs",)
    assert text.startswith("`a` is made by another branch as well")


def test_race_makes_what_each_branch_makes():
    race = RaceStep(block={"steps": (task(makes=("a",)), task(makes=("a",)))})

    assert problems([race, task(takes=("a",))]) == []


def test_branches_of_a_race_make_the_same():
    race = RaceStep(block={"steps": (task(makes=("a",)), task())})

    [(_, text)] = problems([race])

    assert text == "the branches of a race make the same outputs, the first makes a and this nothing; align them"


def test_put_makes_nothing_and_may_take_everything():
    steps = [task(makes=("a",)), PutStep(put="site"), PutStep(put="site", inputs=("a",))]

    assert problems(steps) == []
    assert [at for at, _ in problems([PutStep(put="site", inputs=("a",))])] == [("inputs", 0)]


def test_hook_of_a_success_reads_the_outputs_and_that_of_a_failure_does_not():
    show = task(takes=("a",))

    assert problems([task(makes=("a",), on_success=show)]) == []
    assert problems([task(makes=("a",), ensure=show)]) == []
    [(_, text)] = problems([task(makes=("a",), on_failure=show)])
    assert text == "`on_failure:` has no `a`, as a step that did not succeed leaves no outputs; remove it"


def test_hook_of_a_group_reads_what_the_group_made_before_it_failed():
    assert problems([DoStep(steps=(task(makes=("a",)),), on_failure=task(takes=("a",)))]) == []


def test_what_a_hook_makes_stays_in_it():
    [(_, text)] = problems([task(on_success=task(makes=("a",))), task(takes=("a",))])

    assert "made only by this step or a later one" in text


NAMES = st.lists(st.sampled_from("abcd"), unique=True).map(tuple)
TASKS = st.builds(lambda takes, makes: task(takes=takes, makes=makes), NAMES, NAMES)


@given(st.lists(TASKS), st.sets(st.sampled_from("abcd")))
def test_input_is_unmet_exactly_when_nothing_before_makes_it(steps, available):
    expected = [
        (step, ("inputs", position))
        for index, step in enumerate(steps)
        for position, name in enumerate(step.inputs)
        if name not in available.union(*(before.outputs for before in steps[:index]))
    ]

    assert [(unmet.step, unmet.at) for unmet in check_artifacts(steps, available).unmet] == expected


@given(st.lists(TASKS, min_size=1), st.sets(st.sampled_from("abcd")))
def test_putting_steps_into_a_group_changes_nothing(steps, available):
    alone, grouped = (check_artifacts(plan, available) for plan in (steps, [DoStep(steps=tuple(steps))]))

    assert alone.made == grouped.made
    assert [each.at for each in alone.unmet] == [each.at for each in grouped.unmet]
