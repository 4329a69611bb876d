"""Cells of a matrix: which, in which order, what they are called, and what is in them."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsnb.config import Axis
from stepsnb.errors import InputError
from stepsnb.plan import expand, read_axis
from stepsnb.settings import MATRIX_CELLS, MATRIX_FILE_BYTES, MATRIX_FILE_ITEMS

from .pipelines import node_of, plan_of

MAKE = {"task": "make", "run": "make", "outputs": ["repo"]}
AXES = [{"var": "a", "values": ["1", "2"]}, {"var": "b", "values": ["x", "y"]}]


def test_cells_come_in_order_the_last_axis_fastest():
    node = node_of({"task": "build", "run": "echo", "across": AXES})

    assert [(cell.name, cell.path) for cell in node.children] == [
        ("build [a=1 b=x]", "0[a=1 b=x]"),
        ("build [a=1 b=y]", "0[a=1 b=y]"),
        ("build [a=2 b=x]", "0[a=2 b=x]"),
        ("build [a=2 b=y]", "0[a=2 b=y]"),
    ]
    assert node.children[1].coordinates == {"a": "1", "b": "y"}


axes = st.dictionaries(
    st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.lists(st.text(min_size=1), min_size=1, max_size=5, unique=True),
    min_size=1, max_size=4,
)  # fmt: skip


@settings(deadline=None)
@given(axes=axes)
def test_there_is_one_cell_for_each_combination(axes):
    step = {"task": "build", "run": "echo", "across": [{"var": var, "from_file": "repo/a.json"} for var in axes]}
    node = plan_of(MAKE, {**step, "inputs": ["repo"]}).nodes[1]

    cells = expand(node, axes)

    assert len(cells) == math.prod(map(len, axes.values()))
    places = [[axes[var].index(value) for var, value in cell.coordinates.items()] for cell in cells]
    assert places == sorted(places)
    assert len({cell.hash for cell in cells}) == len(cells)


def test_every_text_of_a_cell_is_rendered_with_its_coordinates():
    step = {
        "task": "build",
        "run": "make {{ .vars.a | shellquote }}",
        "env": {"MODE": "{{ .vars.b }}"},
        "when": "test {{ .vars.a }} = 1",
        "assert": {"stdout": "{{ .vars.a }}-{{ .vars.b }}"},
        "across": AXES,
    }
    cell = node_of(step).children[1].step

    assert cell.run == "make 1"
    assert cell.env == {"MODE": "y"}
    assert cell.when == "test 1 = 1"
    assert cell.assert_.stdout == "1-y"


def test_an_agent_gets_the_messages_and_files_of_its_cell():
    step = {
        "agent": "writer",
        "inputs": ["repo"],
        "messages": ["Read {{ .vars.a }}.", "Done?"],
        "context_paths": ["repo/{{ .vars.a }}.md"],
        "across": AXES[:1],
    }
    cell = plan_of(MAKE, step).nodes[1].children[1].step

    assert cell.messages == ("Read 2.", "Done?")
    assert cell.context_paths == ("repo/2.md",)


def test_custom_tools_keep_the_templates_that_calls_fill():
    tool = {"name": "look", "description": "Looks.", "run": "cat {{ .args.file }}"}
    cell = node_of({"agent": "writer", "prompt": "Go.", "tools": [tool], "across": AXES[:1]}).children[0].step

    assert cell.tools[0].run == "cat {{ .args.file }}"


def test_what_holds_for_the_matrix_is_not_repeated_in_its_cells():
    step = {
        "task": "build",
        "run": "echo",
        "across": AXES,
        "max_in_flight": 2,
        "attempts": 3,
        "ensure": {"task": "clean", "run": "rm"},
        "to": {"success": "next"},
    }
    cell = node_of(step).children[0]

    assert cell.step.across is None
    assert cell.step.to is None
    assert cell.step.max_in_flight is None
    assert not cell.step.hooks
    assert not cell.hooks
    assert cell.step.attempts == 3


def test_values_from_a_file_are_known_only_during_the_run():
    step = {"task": "build", "run": "echo {{ .vars.f }}", "inputs": ["repo"]}
    node = plan_of(MAKE, {**step, "across": [{"var": "f", "from_file": "repo/list.json"}, AXES[1]]}).nodes[1]

    assert node.children == ()
    cells = expand(node, {"f": ["p"], "b": ["x", "y"]})
    assert [cell.name for cell in cells] == ["build [f=p b=x]", "build [f=p b=y]"]
    assert cells[0].step.run == "echo p"
    assert {cell.index for cell in cells} == {node.index}


def test_cells_are_the_same_wherever_their_values_come_from():
    written = {"task": "build", "run": "echo {{ .vars.f }}", "inputs": ["repo"], "outputs": ["out"]}
    early = plan_of(MAKE, {**written, "across": [{"var": "f", "values": ["p", "q"]}]}).nodes[1]
    late = plan_of(MAKE, {**written, "across": [{"var": "f", "from_file": "repo/list.json"}]}).nodes[1]

    assert [cell.hash for cell in expand(late, {"f": ["p", "q"]})] == [cell.hash for cell in early.children]


def test_a_new_value_leaves_the_cells_of_the_others_as_they_are():
    step = {"task": "build", "run": "echo {{ .vars.a }}"}
    two, three = (
        node_of({**step, "across": [{"var": "a", "values": values}]}) for values in (["1", "2"], ["0", "1", "2"])
    )

    assert [cell.hash for cell in two.children] == [cell.hash for cell in three.children[1:]]
    assert two.hash != three.hash


def test_cells_that_do_the_same_are_told_apart():
    node = node_of({"agent": "writer", "prompt": "Guess.", "outputs": ["out"], "across": AXES})

    assert len({cell.hash for cell in node.children}) == 4


def test_a_value_with_line_breaks_keeps_the_name_on_one_line():
    node = node_of({"task": "build", "run": "echo", "across": [{"var": "a", "values": ["x\ny\x1b[1m"]}]})

    assert node.children[0].name == r'build [a="x\ny\u001b[1m"]'
    assert node.children[0].coordinates == {"a": "x\ny\x1b[1m"}


def test_a_value_is_never_rendered_itself():
    node = node_of(
        {"task": "build", "run": "echo {{ .vars.a }}", "across": [{"var": "a", "values": ["{{ .vars.b }}"]}]}
    )

    assert node.children[0].step.run == "echo {{ .vars.b }}"


def test_too_many_cells_are_refused_before_any_is_made():
    axes = [{"var": var, "values": [str(value) for value in range(200)]} for var in "abc"]

    with pytest.raises(InputError, match=f"makes 8,000,000 cells, at most {MATRIX_CELLS:,}"):
        plan_of({"task": "build", "run": "echo", "across": axes})


def test_a_file_that_gives_a_value_twice_is_refused():
    step = {"task": "build", "run": "echo", "inputs": ["repo"], "across": [{"var": "f", "from_file": "repo/list.json"}]}

    with pytest.raises(InputError, match="the axis `f` has `p` twice; keep one"):
        expand(plan_of(MAKE, step).nodes[1], {"f": ["p", "q", "p"]})


def test_a_text_that_cannot_be_rendered_names_its_cell_and_key():
    step = {"task": "build", "run": 'echo {{ index .vars "a" | fromJson }}', "across": AXES[:1]}
    bad = [{"var": "a", "values": ["{"]}]

    assert node_of(step).children[0].step.run == "echo 1"
    with pytest.raises(InputError, match=r"cell \[a={\]: `run:` cannot be rendered"):
        node_of({**step, "across": bad})


AXIS = Axis(var="f", from_file="repo/list.json")


@settings(deadline=None)
@given(values=st.lists(st.text(), max_size=20))
def test_a_file_gives_the_values_it_holds(values):
    assert read_axis(AXIS, json.dumps(values).encode()) == tuple(values)


def test_a_file_of_the_largest_size_is_read():
    values = [str(value) for value in range(MATRIX_FILE_ITEMS)]

    assert read_axis(AXIS, json.dumps(values).encode()) == tuple(values)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is no JSON"),
        (b"\xff[]", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"{}", "is no JSON array of strings"),
        (b'["a", 1]', "is no JSON array of strings"),
        (b'[["a"]]', "is no JSON array of strings"),
        (json.dumps(["a"] * (MATRIX_FILE_ITEMS + 1)).encode(), "has 1,001 values, at most 1,000"),
        (b'["' + b"a" * MATRIX_FILE_BYTES + b'"]', "is longer than 1,048,576 bytes"),
    ],
)
def test_a_file_of_anything_else_is_refused_by_its_name(content, what):
    with pytest.raises(InputError, match=f"across `f`: `repo/list.json` {what}"):
        read_axis(AXIS, content)
