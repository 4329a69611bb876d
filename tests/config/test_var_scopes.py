"""Which steps see what a `load_var` sets."""

import pytest

from stepsnb.config import load_text
from stepsnb.errors import ConfigError

LOAD = "{load_var: v, file: files/v, inputs: [files]}"
USE = "{task: t, run: echo ((v))}"


def load(plan, **options):
    return load_text(f"jobs: [{{name: j, plan: [{plan}]}}]\n", **options)


@pytest.mark.parametrize(
    "plan",
    [
        f"{LOAD}, {USE}",
        f"{LOAD}, {{do: [{USE}]}}",
        f"{{do: [{LOAD}]}}, {USE}",
        f"{{do: [{LOAD}, {USE}]}}",
        f"{{in_parallel: {{steps: [{LOAD}]}}}}, {USE}",
        f"{LOAD}, {{task: x, run: echo, ensure: {USE}}}",
        f"{{task: x, run: echo, on_failure: {{do: [{LOAD}, {USE}]}}}}",
        f"{{race: {{steps: [{{do: [{LOAD}, {USE}]}}]}}}}",
    ],
)
def test_steps_after_it_see_it(plan):
    assert load(plan).jobs[0].plan


@pytest.mark.parametrize(
    "plan",
    [
        f"{USE}, {LOAD}",
        "{load_var: v, file: files/((v)), inputs: [files]}",
        f"{{in_parallel: {{steps: [{LOAD}, {USE}]}}}}",
        f"{{race: {{steps: [{LOAD}]}}}}, {USE}",
        f"{{task: x, run: echo, on_success: {LOAD}}}, {USE}",
        f"{{task: x, run: echo, on_success: {LOAD}, ensure: {USE}}}",
    ],
)
def test_steps_that_do_not_surely_follow_it_do_not(plan):
    with pytest.raises(ConfigError, match=r"`\(\(v\)\)` is set by the `load_var:` on line 1, which is no step before"):
        load(plan)


def test_value_from_outside_serves_where_it_is_not_set():
    one, other = load(f"{USE}, {LOAD}, {USE}", variables={"v": "1"}).jobs[0].plan[::2]

    assert (one.run, other.run) == ("echo 1", "echo ((v))")


def test_alias_sees_what_its_place_sees():
    text = f"""jobs:
- {{name: a, plan: &plan [{LOAD}, {USE}]}}
- {{name: b, plan: *plan}}
"""
    assert [job.plan[1].run for job in load_text(text).jobs] == ["echo ((v))", "echo ((v))"]


def test_large_plan_is_searched_to_its_end():
    steps = ", ".join("{task: x, run: echo, env: {A: b, C: d}}" for _ in range(3000))

    assert load(f"{steps}, {LOAD}, {USE}").jobs[0].plan[-1].deferred.names == {"v"}


def test_aliases_of_aliases_end(problems):
    text = "load_var: x\n" + "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    text += "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdef", "bcdefg", strict=True)
    )

    assert any("aliases add more than" in line for line in problems(text))


def test_alias_of_itself_ends(problems):
    assert problems("load_var: x\njobs: &all [*all]\n") == [
        "2:7: this value contains itself through an alias; write it out"
    ]


def test_mapping_as_a_key_is_no_step(problems):
    assert len(problems("{load_var: x}: y\njobs: [{name: j, plan: [{task: t, run: echo ((v))}]}]\n")) == 2
