"""Strict where YAML is loose."""

import pytest

from stepsnb.config import load_text
from stepsnb.settings import YAML_ALIASED_VALUES

TASK = "jobs: [{name: j, plan: [{task: t, run: echo"


@pytest.mark.parametrize("character", ["\0", "\x07", "\ud800", "\ufffe", "\ufeff"])
def test_character_yaml_cannot_hold_has_a_place(problems, character):
    [line] = problems(f"# a\njobs: [{character}]")

    assert line.startswith(f"2:8: the character U+{ord(character):04X} cannot stand in YAML")


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_line_breaks_of_older_yaml_are_plain_characters(load_task, problems, character):
    assert load_task(f"env: {{A: a{character}b}}").env == {"A": f"a{character}b"}
    assert load_task(f"env:\n  A: |\n    a{character}b\n    c").env == {"A": f"a{character}b\nc\n"}
    assert problems(f"# {character}\njbs: []")[0].startswith("2:1: unknown key `jbs`")


def test_text_of_comments_only_is_empty(problems):
    assert problems("# nothing\n") == ["1:1: there is nothing in it; a pipeline has at least `jobs:`"]


def test_key_used_three_times_names_the_first_each_time(problems):
    assert problems("a: 1\na: 2\na: 3\n" + TASK + "}]}]\n")[1:] == [
        "2:1: duplicate key `a`, on lines 1 and 2; keep one of them",
        "3:1: duplicate key `a`, on lines 1 and 3; keep one of them",
    ]


def test_aliases_within_reason_are_followed():
    text = (
        f"{TASK}, timeout: &limit 30s, env: &words {{A: x}}}}, {{task: u, run: echo, timeout: *limit, env: *words}}]}}]"
    )

    step = load_text(text).job().plan[1]

    assert (step.timeout_s, step.env) == (30.0, {"A": "x"})


def test_flat_list_of_aliases_is_as_long_as_it_looks():
    steps = "\n".join("  - *step" for _ in range(200))

    assert len(load_text(f"jobs:\n- name: j\n  plan:\n  - &step {{task: t, run: echo}}\n{steps}\n").job().plan) == 201


def test_aliases_that_multiply_are_stopped(problems):
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 30))
    [line] = problems(text)

    assert line.endswith(f"aliases add more than {YAML_ALIASED_VALUES:,} values; write out what is needed")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: `b`", "1:4: a value cannot begin with ```; put it in quotes"),
        (
            "a: &x 1\nb: &x 2\n",
            "2:4: not valid YAML: second occurrence found duplicate anchor; first occurrence, begun on ",
        ),
        ("%YAML 3.0\n---\na: 1", "1:1: not valid YAML: found incompatible YAML document; check quotes"),
        ("[" * 2000, "1:1001: not valid YAML: exceeded maximum nesting depth"),
    ],
)
def test_syntax_error_has_a_place_and_a_way_out(problems, text, error):
    assert problems(text)[0].startswith(error)


def test_tag_on_a_list_is_refused(problems):
    assert any("the tag `!!set` means nothing here" in line for line in problems("jobs: !!set {a}\n"))


def test_text_tag_is_what_it_says(load_task):
    assert load_task("env: {A: !!str 3}").env == {"A": "3"}
