"""What a plan says of each step, and why."""

import pytest

from stepsnb.plan import EarlierStep, History, KeptResult, Plan, explain, inputs_of, outputs_of, reusable

from .pipelines import plan_of

MAKE = {"task": "make", "run": "make", "outputs": ["repo"]}
WRITE = {"agent": "writer", "messages": ["Write.", "Check."], "inputs": ["repo"], "outputs": ["text"]}
PACK = {"task": "pack", "run": "tar", "inputs": ["text"], "outputs": ["archive"]}
RESOURCES = {
    "resource_types": [{"name": "sites", "config": {"check": "echo '[]'", "in": "true", "out": "true"}}],
    "resources": [
        {"name": "site", "type": "sites", "source": {}},
        {"name": "src", "type": "path", "source": {"path": "src"}},
    ],
}


def history_of(plan: Plan, *, kept=True, outcome="succeeded", without=(), **digests) -> History:
    """Return what a run of the whole plan leaves: each artifact's digest is its name, unless `digests` has another."""
    steps, results = [], {}
    for node in plan.walk():
        if node.name in without:
            continue
        inputs = {own: digests.get(artifact, artifact) for own, artifact in inputs_of(node.step).items()}
        outputs = {artifact: digests.get(artifact, artifact) for artifact in outputs_of(node.step).values()}
        if node.kind == "get":
            outputs = {node.name: digests.get(node.name, node.name)}
        steps.append(
            EarlierStep(
                run_id="r1",
                path=node.path,
                name=node.name,
                kind=node.kind,
                hash=node.hash,
                outcome=outcome,
                parts=node.fingerprint.parts,
                inputs={artifact: inputs[own] for own, artifact in inputs_of(node.step).items()},
                outputs=outputs,
            )
        )
        if kept and reusable(node) is None:
            results[node.hash, tuple(sorted(inputs.items()))] = KeptResult("r1", outputs)
    return History(steps, lambda node, inputs: results.get((node.hash, tuple(sorted(inputs.items())))))


def told(plan: Plan, history: History, **inputs):
    return [(row.step, str(row.action), row.reason) for row in explain(plan, history, inputs)]


def test_a_job_that_never_ran_runs():
    assert told(plan_of(MAKE, WRITE), History()) == [("make", "run", "never ran"), ("writer", "run", "never ran")]


def test_a_job_that_is_as_it_was_is_reused():
    plan = plan_of(MAKE, WRITE, PACK)

    assert told(plan, history_of(plan)) == [
        ("make", "reuse", "unchanged since run r1"),
        ("writer", "reuse", "unchanged since run r1"),
        ("pack", "reuse", "unchanged since run r1"),
    ]


def test_a_changed_message_is_named_and_so_is_its_step_behind_it():
    before = plan_of(MAKE, WRITE, PACK)
    after = plan_of(MAKE, {**WRITE, "messages": ["Write well.", "Check."]}, PACK)

    assert told(after, history_of(before)) == [
        ("make", "reuse", "unchanged since run r1"),
        ("writer", "run", "messages[0] changed"),
        ("pack", "run", "`writer` before it changed"),
    ]


def test_differences_beyond_three_are_counted():
    before = plan_of(MAKE)
    after = plan_of({**MAKE, "run": "make -j", "env": {"A": "1", "B": "2"}, "when": "true", "outputs": ["repo", "log"]})

    assert told(after, history_of(before)) == [
        ("make", "run", "run changed, env.A added, env.B added and 2 more; its `when:` is asked first")
    ]


def test_a_setting_that_is_gone_is_named():
    before = plan_of({**MAKE, "env": {"A": "1"}})

    assert told(plan_of(MAKE), history_of(before)) == [("make", "run", "env.A removed")]


def test_a_new_step_makes_those_behind_it_run():
    before, after = (
        plan_of(MAKE, PACK | {"inputs": ["repo"]}),
        plan_of(MAKE, {"task": "new", "run": "new"}, PACK | {"inputs": ["repo"]}),
    )

    assert told(after, history_of(before)) == [
        ("make", "reuse", "unchanged since run r1"),
        ("new", "run", "without outputs there is nothing to reuse"),
        ("pack", "run", "`new` before it is new"),
    ]


def test_a_step_that_is_gone_makes_those_behind_it_run():
    before, after = plan_of({"task": "old", "run": "old"}, MAKE), plan_of(MAKE)

    assert told(after, history_of(before)) == [("make", "run", "the steps before it changed")]


def test_new_bytes_of_an_input_are_named():
    plan = plan_of({"get": "src"}, {**WRITE, "inputs": ["src"]}, PACK, **RESOURCES)

    assert told(plan, history_of(plan), src="edited") == [
        ("src", "run", "gets always look for a new version; it has new bytes"),
        ("writer", "run", "input `src` has new bytes"),
        ("pack", "run", "input `text` is made anew by `writer`"),
    ]


def test_a_get_of_the_same_bytes_leaves_what_follows_to_be_reused():
    plan = plan_of({"get": "src"}, {**WRITE, "inputs": ["src"]}, **RESOURCES)

    assert told(plan, history_of(plan), src="src") == [
        ("src", "run", "gets always look for a new version; its bytes are those of run r1"),
        ("writer", "reuse", "unchanged since run r1"),
    ]


def test_a_get_that_is_not_fetched_yet_leaves_it_open():
    plan = plan_of({"get": "site"}, {**WRITE, "inputs": ["site"]}, **RESOURCES)

    assert told(plan, history_of(plan)) == [
        ("site", "run", "gets always look for a new version"),
        ("writer", "run", "input `site` is known only once it has been fetched"),
    ]


def test_a_get_that_never_ran_has_nothing_to_compare_with():
    plan = plan_of({"get": "src"}, **RESOURCES)

    assert told(plan, History(), src="src") == [("src", "run", "gets always look for a new version")]


def test_files_that_are_not_handed_in_are_not_there():
    plan = plan_of({**WRITE, "inputs": ["files"]})

    assert told(plan, history_of(plan)) == [("writer", "run", "input `files` is not there yet")]
    assert told(plan, history_of(plan), files="files") == [("writer", "reuse", "unchanged since run r1")]


def test_several_new_inputs_are_named():
    plan = plan_of({"get": "src"}, {**WRITE, "inputs": ["src", "files"]}, **RESOURCES)

    assert told(plan, history_of(plan), src="1", files="2")[1] == (
        "writer",
        "run",
        "inputs `src`, `files` have new bytes",
    )


def test_a_step_that_did_not_succeed_says_so():
    plan = plan_of(MAKE)

    assert told(plan, history_of(plan, kept=False, outcome="failed")) == [("make", "run", "it failed in run r1")]
    assert told(plan, history_of(plan, kept=False)) == [("make", "run", "its result is no longer kept")]


def test_a_result_without_all_outputs_is_none():
    plan = plan_of(MAKE)
    history = History(history_of(plan).steps, lambda node, inputs: KeptResult("r1", {}))

    assert told(plan, history) == [("make", "run", "its result is no longer kept")]


def test_what_always_runs_says_why():
    plan = plan_of(MAKE, {"put": "site"}, {**MAKE, "task": "again", "volatile": True}, **RESOURCES)

    assert told(plan, history_of(plan)) == [
        ("make", "reuse", "unchanged since run r1"),
        ("site", "run", "puts always run"),
        ("again", "run", "volatile"),
    ]


def test_an_unchanged_step_behind_a_put_is_reused():
    plan = plan_of({"put": "site", "inputs": []}, MAKE, **RESOURCES)

    assert told(plan, history_of(plan))[1] == ("make", "reuse", "unchanged since run r1")


def test_mapped_names_are_followed():
    mapped = {**PACK, "input_mapping": {"text": "repo"}, "output_mapping": {"archive": "box"}}
    plan = plan_of(
        {"get": "src"}, {**MAKE, "inputs": ["src"]}, mapped, {**PACK, "task": "end", "inputs": ["box"]}, **RESOURCES
    )

    assert told(plan, history_of(plan), src="edited")[2:] == [
        ("pack", "run", "input `text` is made anew by `make`"),
        ("end", "run", "input `box` is made anew by `pack`"),
    ]
    assert {action for _, action, _ in told(plan, history_of(plan), src="src")[1:]} == {"reuse"}


def test_a_step_that_no_route_leads_to_is_skipped():
    plan = plan_of({**MAKE, "to": {"success": "pack"}}, {"do": [WRITE]}, {**PACK, "inputs": ["repo"]})

    assert told(plan, History()) == [
        ("make", "run", "steps with `to:` always run"),
        ("do", "skip", "no route leads to it"),
        ("writer", "skip", "no route leads to it"),
        ("pack", "run", "never ran"),
    ]


def test_hooks_say_when_they_run():
    tell = {"task": "tell", "run": "mail"}
    hooked = {
        **MAKE,
        **{key: {**tell, "task": key} for key in ("on_success", "on_failure", "on_error", "on_abort", "ensure")},
    }

    assert told(plan_of(hooked), History()) == [
        ("make", "run", "steps with hooks always run"),
        ("on_success", "run", "runs when `make` has succeeded"),
        ("on_failure", "skip", "only when `make` fails"),
        ("on_error", "skip", "only when `make` breaks"),
        ("on_abort", "skip", "only when `make` is stopped"),
        ("ensure", "run", "runs when `make` has ended"),
    ]


def test_hooks_of_the_job_come_last():
    job = {"name": "job", "plan": [MAKE], "ensure": {"task": "tell", "run": "mail"}}
    plan = plan_of(jobs=[job])

    assert told(plan, History())[-1] == ("tell", "run", "runs when job `job` has ended")


def test_a_block_counts_what_it_reuses():
    before = plan_of(
        {"in_parallel": {"steps": [MAKE, {**MAKE, "task": "other", "outputs": ["o"]}]}}, {**PACK, "inputs": ["repo"]}
    )
    after = plan_of(
        {"in_parallel": {"steps": [MAKE, {**MAKE, "task": "other", "run": "new", "outputs": ["o"]}]}},
        {**PACK, "inputs": ["repo"]},
    )

    assert told(before, history_of(before))[0] == ("in_parallel", "reuse", "2 of 2 steps reused")
    assert told(after, history_of(before)) == [
        ("in_parallel", "run", "1 of 2 steps reused"),
        ("make", "reuse", "unchanged since run r1"),
        ("other", "run", "run changed"),
        ("pack", "run", "`other` before it changed"),
    ]


def test_nothing_of_a_block_is_reused_when_it_never_ran():
    assert told(plan_of({"do": [MAKE]}), History())[0] == ("do", "run", "none of its steps is reused")


def test_cells_are_told_one_by_one():
    step = {"task": "build", "run": "echo {{ .vars.a }}", "outputs": ["text"]}
    two, three = (
        plan_of({**step, "across": [{"var": "a", "values": values}]}, PACK) for values in (["1", "2"], ["1", "2", "3"])
    )

    assert told(two, history_of(two)) == [
        ("build", "reuse", "2 of 2 cells reused"),
        ("build [a=1]", "reuse", "unchanged since run r1"),
        ("build [a=2]", "reuse", "unchanged since run r1"),
        ("pack", "reuse", "unchanged since run r1"),
    ]
    assert told(three, history_of(two)) == [
        ("build", "run", "2 of 3 cells reused"),
        ("build [a=1]", "reuse", "unchanged since run r1"),
        ("build [a=2]", "reuse", "unchanged since run r1"),
        ("build [a=3]", "run", "never ran"),
        ("pack", "run", "`build` before it changed"),
    ]


def test_a_matrix_from_a_file_is_known_only_when_it_runs():
    step = {"task": "build", "run": "echo", "inputs": ["repo"], "outputs": ["text"]}
    plan = plan_of(MAKE, {**step, "across": [{"var": "a", "from_file": "repo/a.json"}]}, PACK)

    assert told(plan, history_of(plan)) == [
        ("make", "reuse", "unchanged since run r1"),
        ("build", "run", "its cells are known only when it runs; each is reused or runs by itself"),
        ("pack", "run", "input `text` is made anew by `build`"),
    ]


def test_what_comes_from_a_race_depends_on_who_wins():
    race = {"race": {"steps": [MAKE, {**MAKE, "task": "other"}]}}
    plan = plan_of(race, {**PACK, "inputs": ["repo"]})

    assert told(plan, history_of(plan))[-1] == (
        "pack",
        "run",
        "input `repo` comes from the branch of `race` that wins",
    )


def test_branches_do_not_see_what_their_siblings_make():
    other = {**PACK, "task": "use", "inputs": ["repo"]}
    plan = plan_of({"get": "src"}, {**MAKE, "inputs": ["src"]}, {"in_parallel": {"steps": [WRITE, other]}}, **RESOURCES)

    assert told(plan, history_of(plan), src="src")[-2:] == [
        ("writer", "reuse", "unchanged since run r1"),
        ("use", "reuse", "unchanged since run r1"),
    ]


def test_a_step_with_a_variable_of_the_run_is_known_only_then():
    plan = plan_of(
        MAKE,
        {"load_var": "name", "file": "repo/name", "inputs": ["repo"]},
        {**PACK, "run": "tar ((name))", "inputs": ["repo"]},
        {**PACK, "task": "end", "inputs": ["repo"], "outputs": ["other"]},
    )
    history = history_of(plan)
    for step in history.steps:
        step.hash = "of its values" if step.name == "pack" else step.hash

    assert told(plan, history)[1:] == [
        ("name", "run", "its file is read each time"),
        ("pack", "run", "uses `((name))`, which is known only during the run"),
        ("end", "reuse", "unchanged since run r1"),
    ]


def test_rows_name_their_places():
    rows = explain(plan_of({"do": [MAKE]}), History())

    assert [(row.path, row.parent, row.kind) for row in rows] == [("0", None, "do"), ("0.0", "0", "task")]
    assert all(len(row.hash) == 40 for row in rows)


@pytest.mark.parametrize("moved", [0, 1])
def test_a_step_that_moved_is_compared_with_itself(moved):
    before = plan_of(MAKE, WRITE)
    steps = [{"task": "new", "run": "new"}, MAKE, {**WRITE, "messages": ["Write.", "Check twice."]}]
    after = plan_of(*steps[moved:])

    assert told(after, history_of(before))[-1] == ("writer", "run", "messages[1] changed")


def test_the_latest_run_is_the_one_to_compare_with():
    old, new = plan_of(MAKE), plan_of({**MAKE, "run": "make all"})
    history = History([*history_of(new, outcome="failed").steps, *history_of(old).steps])

    assert told(new, history) == [("make", "run", "it failed in run r1")]
