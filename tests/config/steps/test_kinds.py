"""Every kind of step, as its YAML is read."""

import pytest

from stepsnb.config import (
    AgentStep,
    ContainerLimits,
    EnsembleStep,
    InParallelStep,
    PutStep,
    RaceStep,
    Step,
    TaskStep,
    judge_step,
)
from stepsnb.config.steps import EnsembleBlock

AGENTS = "agents: [{name: a, source: {model: m/x}}, {name: b, source: {model: m/x}}, {name: c, source: {model: m/x}}]"


def one(pipeline) -> Step:
    [step] = pipeline.jobs[0].plan
    return step


def test_group_holds_its_steps_in_order(load_plan):
    step = one(load_plan("- do: [{task: x, run: echo}, {task: y, run: echo}]\n  attempts: 2\n  timeout: 5m"))

    assert (step.kind, step.name, step.attempts, step.timeout_s) == ("do", "do", 2, 300.0)
    assert [each.name for each in step.steps] == [each.name for each in step.held] == ["x", "y"]
    assert str(step.steps[1].where) == "p.yml:5:32"


def test_parallel_block_has_a_limit_and_may_fail_fast(load_plan):
    plan = (
        "- in_parallel: {steps: [{task: x, run: echo}], limit: 2, fail_fast: true}\n"
        "- in_parallel: {steps: [{task: y, run: echo}]}"
    )
    bounded, plain = load_plan(plan).jobs[0].plan

    assert isinstance(bounded, InParallelStep)
    assert (bounded.limit, bounded.fail_fast, bounded.name) == (2, True, "in_parallel")
    assert (plain.limit, plain.fail_fast, [each.name for each in plain.held]) == (None, False, ["y"])


def test_race_holds_its_branches(load_plan):
    step = one(load_plan("- race: {steps: [{task: x, run: echo}, {task: y, run: echo}]}"))

    assert isinstance(step, RaceStep)
    assert [each.name for each in step.steps] == [each.name for each in step.held] == ["x", "y"]
    assert step.name == "race"


def test_try_has_the_name_of_the_step_inside(load_plan):
    step = one(load_plan("- try: {task: x, run: echo}"))

    assert (step.kind, step.name, step.held) == ("try", "x", (step.step,))


def test_ensemble_hands_its_verdicts_to_its_members(load_plan):
    plan = """
- ensemble:
    verdicts: [{yes: next}, no, {failure: last}]
    decide: c
    member_errors: exclude
    agents: [{agent: a, prompt: Go.}, {agent: b, prompt: Go., max_turns: 3, assert: {verdict: no}}]
  max_visits: 2
- {task: last, run: echo}
"""
    step = load_plan(plan, AGENTS).jobs[0].plan[0]

    assert (step.verdicts, dict(step.routes)) == (("yes", "no"), {"yes": "next", "failure": "last"})
    assert (step.decide, step.judge, step.member_errors, step.max_visits) == ("c", "c", "exclude", 2)
    assert [(member.name, member.verdicts, dict(member.routes)) for member in step.members] == [
        ("a", ("yes", "no"), {}),
        ("b", ("yes", "no"), {}),
    ]
    assert (step.held, step.name) == (step.members, "ensemble")


def test_judge_decides_between_the_verdicts_of_its_ensemble(load_plan):
    votes = "- ensemble: {verdicts: [yes, no], decide: c, agents: [{agent: a, prompt: Go.}]}"
    judge = judge_step(one(load_plan(votes, AGENTS)), "a: yes")

    assert (judge.agent, judge.messages, judge.verdicts, str(judge.where)) == (
        "c",
        ("a: yes",),
        ("yes", "no"),
        "p.yml:5:5",
    )


def test_rule_needs_no_judge(load_plan):
    step = one(load_plan("- ensemble: {verdicts: [yes, no], agents: [{agent: a, prompt: Go.}]}", AGENTS))

    assert (step.decide, step.judge, step.member_errors) == ("majority", None, "fail")
    with pytest.raises(ValueError, match="`decide: majority` needs no judge"):
        judge_step(step, "a: yes")


def test_approval_has_a_name_a_message_and_a_bound(load_plan):
    plan = "- approval: {message: Publish?, timeout: 1h}\n- approval: {name: ship, message: Ship?}\n- approval: deploy"
    asked, named, short = load_plan(plan).jobs[0].plan

    assert (asked.name, asked.message, asked.timeout_s, asked.attempts) == ("approval", "Publish?", 3600.0, None)
    assert (named.approval, named.message, named.timeout_s) == ("ship", "Ship?", None)
    assert (short.name, short.message) == ("deploy", "Go on after `deploy`?")


def test_load_var_reads_a_file_of_an_input(load_plan):
    plan = "- {task: x, run: echo, outputs: [out]}\n- {load_var: tag, file: out/tag.txt, inputs: [out]}"
    step = load_plan(plan).jobs[0].plan[1]

    assert (step.name, step.load_var, step.file, step.inputs) == ("tag", "tag", "out/tag.txt", ("out",))


SITE = "resource_types: [{name: site, check: echo, in: echo, out: echo}]\nresources: [{name: www, type: site}]"


def test_put_sees_everything_unless_it_says_what(load_plan):
    plan = """
- {task: x, run: echo, outputs: [out]}
- {put: www}
- {put: www, inputs: all}
- {put: publish, resource: www, inputs: [out], params: {n: 3.10, loud: true, note: ~, text: {file: out/x}, list: [1]}}
"""
    _, every, said, some = load_plan(plan, SITE).jobs[0].plan

    assert (every.inputs, said.inputs, some.inputs) == ("all", "all", ("out",))
    assert (every.resource, some.resource, some.name) == ("www", "www", "publish")
    assert some.params == {"n": "3.10", "loud": True, "note": None, "text": {"file": "out/x"}, "list": ["1"]}


def test_get_asks_for_a_version(load_plan):
    plan = (
        "- {get: www}\n"
        "- {get: www, version: every, trigger: true, attempts: 3}\n"
        "- {get: w, resource: www, version: {n: 010}}"
    )
    latest, every, pinned = load_plan(plan, SITE).jobs[0].plan

    assert (latest.version, latest.trigger, latest.pin, latest.passed) == ("latest", False, None, ())
    assert (every.version, every.trigger, every.attempts) == ("every", True, 3)
    assert (pinned.pin, pinned.resource, pinned.name) == ({"n": "010"}, "www", "w")


def test_get_waits_for_jobs_that_had_its_resource():
    from stepsnb.config import load_text

    text = f"{SITE}\njobs:\n- name: one\n  plan: [{{put: www}}]\n- name: two\n  plan: [{{get: www, passed: [one]}}]\n"

    assert load_text(text).jobs[1].plan[0].passed == ("one",)


def test_hooks_are_steps_of_any_kind(load_plan):
    plan = """
- task: x
  run: echo
  on_success: {agent: a, prompt: Tell.}
  on_failure: {do: [{task: y, run: echo}]}
  ensure: {task: z, run: echo}
"""
    step = one(load_plan(plan, AGENTS))

    assert {key: hook.kind for key, hook in step.hooks.items()} == {
        "on_success": "agent",
        "on_failure": "do",
        "ensure": "task",
    }
    assert [each.name for each in step.walk()] == ["x", "a", "do", "y", "z"]


def test_matrix_keeps_the_text_of_its_values(load_plan):
    plan = """
- across:
  - {var: version, values: [3.10, 010, 12:30, off, "", null_]}
  - {var: lang, values: [en]}
  max_in_flight: 2
  budget: {tokens: 1000, reserve_per_cell: 100}
  agent: a
  prompt: "Look at {{ .vars.version }} in {{ .vars.lang | upper }}."
"""
    step = one(load_plan(plan, AGENTS))

    assert [(axis.var, axis.values) for axis in step.across.axes] == [
        ("version", ("3.10", "010", "12:30", "off", "", "null_")),
        ("lang", ("en",)),
    ]
    assert (step.across.max_in_flight, step.across.budget.tokens, step.across.budget.reserve_per_cell) == (2, 1000, 100)


def test_matrix_reads_an_axis_from_a_file(load_plan):
    plan = (
        "- {task: x, run: echo, outputs: [out]}\n"
        "- {task: y, run: echo, inputs: [out], across: [{var: n, from_file: out/n.json}]}"
    )
    [axis] = load_plan(plan).jobs[0].plan[1].across.axes

    assert (axis.values, axis.from_file) == (None, "out/n.json")


def test_template_looks_alike_where_there_is_no_matrix(load_agent):
    text = "Write a chart with {{ .Values.image }} and {{ not a template."

    assert load_agent(step=f'prompt: "{text}"')[1].messages == (text,)
    assert load_agent(step=f'prompt: "{text}"')[1].across is None


def test_agent_step_works_in_a_directory_of_an_artifact(load_plan):
    plan = (
        "- {task: x, run: echo, outputs: [repo]}\n"
        "- {agent: a, prompt: Go., inputs: [repo], outputs: [out], dir: repo/cmd, volatile: true, env: {A: 1}}"
    )
    step = load_plan(plan, AGENTS).jobs[0].plan[1]

    assert isinstance(step, AgentStep)
    assert (step.dir, step.volatile, step.env) == ("repo/cmd", True, {"A": "1"})


def test_step_goes_on_by_outcome(load_plan):
    plan = (
        "- {task: x, run: echo, to: {success: next, failure: y}, max_visits: 2}\n"
        "- {task: y, run: echo, to: {failure: x}, max_visits: 3}"
    )
    first, second = load_plan(plan).jobs[0].plan

    assert (first.to.success, first.to.failure, first.max_visits) == ("next", "y", 2)
    assert (second.to.success, second.to.failure) == (None, "x")


def test_agent_goes_on_by_verdict(load_plan):
    plan = """
- {agent: a, prompt: Draft., verdicts: [yes, {no: last}, 3.10: next, {failure: a}], max_visits: 3}
- {task: last, run: echo}
"""
    step = load_plan(plan.replace("3.10: next", "{3.10: next}"), AGENTS).jobs[0].plan[0]

    assert step.verdicts == ("yes", "no", "3.10")
    assert dict(step.routes) == {"no": "last", "3.10": "next", "failure": "a"}


def test_repair_is_an_agent_or_more(load_plan):
    plan = """
- {task: x, run: echo, outputs: [repo], fix: a}
- task: y
  run: echo
  inputs: [repo]
  fix: {agent: a, messages: [Small changes.], dir: repo/src, tools: [read_file], attempts: 2, timeout: 10m}
"""
    short, long = load_plan(plan, AGENTS).jobs[0].plan

    assert (short.fix.agent, short.fix.messages, short.fix.tools) == ("a", (), None)
    assert (long.fix.messages, long.fix.dir, long.fix.tools) == (("Small changes.",), "repo/src", ("read_file",))
    assert (long.fix.attempts, long.fix.timeout_s) == (2, 600.0)


def test_task_runs_in_a_container(load_task):
    step = load_task(
        "image: debian:12\nnetwork: none\nprivileged: true\nuser: 1000:1000\ncontainer_limits: {cpu: 512, memory: 1GB}"
    )

    assert step.image.name == "debian:12"
    assert (step.image.network, step.image.is_privileged, step.image.user) == ("none", True, "1000:1000")
    assert (step.image.limits.cpu, step.image.limits.memory_bytes) == (512, 1 << 30)
    assert load_task().image is None


@pytest.mark.parametrize(("text", "size"), [("4096", 4096), ("512MB", 512 << 20), ("1 k", 1024), ("2TB", 2 << 40)])
def test_memory_is_counted_in_powers_of_1024(load_task, text, size):
    assert load_task(f"image: x\ncontainer_limits: {{memory: {text}}}").image.limits.memory_bytes == size


def test_same_name_twice_is_fine_where_no_route_needs_it(load_plan):
    plan = (
        "- {task: x, run: echo, to: {failure: y}}\n"
        "- {task: z, run: echo 1}\n"
        "- {task: z, run: echo 2}\n"
        "- {task: y, run: echo}"
    )

    assert [step.name for step in load_plan(plan).jobs[0].plan] == ["x", "z", "z", "y"]


def test_step_built_in_code_needs_no_yaml():
    step = TaskStep(task="t", run="echo", axes=({"var": "x", "values": ("1",)},), to={"failure": "next"})

    assert (step.across.axes[0].var, step.to.failure, step.deferred) == ("x", "next", None)


def test_matrix_may_choose_its_directory_by_the_cell(load_plan):
    plan = """
- {task: x, run: echo, outputs: [one, two]}
- agent: a
  across: [{var: side, values: [one, two]}]
  inputs: [one, two]
  dir: "{{ .vars.side }}/src"
  context_paths: ["{{ .vars.side }}/README.md"]
  prompt: Go.
"""
    assert load_plan(plan, AGENTS).jobs[0].plan[1].dir == "{{ .vars.side }}/src"


def test_assert_may_name_the_tools_that_keys_bring_along(load_agent):
    step = (
        "prompt: Go.\n"
        "verdicts: [yes, no]\n"
        "output: {type: object}\n"
        "assert: {tool_calls: [{name: verdict}, {name: submit_output}]}"
    )

    assert len(load_agent(step=step)[1].assert_.tool_calls) == 2


def test_steps_and_limits_built_in_code_need_no_yaml():
    put = PutStep(put="site", inputs="all")
    limits = ContainerLimits(memory_bytes=1024)
    vote = EnsembleStep(block=EnsembleBlock(entries=("yes", "no"), agents=(AgentStep(agent="a", messages=("Go.",)),)))

    assert (put.inputs, limits.memory_bytes) == ("all", 1024)
    assert (vote.members[0].verdicts, vote.routes) == (("yes", "no"), {})
