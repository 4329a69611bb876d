"""`((name))` and the values it takes."""

import pandas as pd
import pytest


def test_value_alone_keeps_its_type(load_agent):
    _, step = load_agent(
        step='messages: ((messages))\nmax_turns: "((turns))"\nassert: ((wanted))',
        variables={"messages": ["One.", "Two."], "turns": 3, "wanted": {"stdout": "x"}},
    )

    assert (step.messages, step.max_turns, step.assert_.stdout) == (("One.", "Two."), 3, "x")


@pytest.mark.parametrize(("value", "text"), [(3.5, "3.5"), (True, "true"), ("010", "010"), ([1, "a"], '[1, "a"]')])
def test_value_inside_text_is_its_text(load_task, value, text):
    assert load_task("env: {A: 'x((v))y'}", variables={"v": value}).env == {"A": f"x{text}y"}


def test_text_of_a_variable_fits_a_number_and_a_flag(load_agent):
    agent, step = load_agent(
        "temperature: ((t))\npreflight: ((p))",
        "prompt: Go.\nmax_turns: ((n))",
        variables={"t": "0.5", "p": False, "n": "7"},
    )

    assert (agent.temperature, agent.preflight, step.max_turns) == (0.5, False, 7)


def test_empty_text_and_null_word_are_texts(load_task):
    assert load_task("env: {A: ((a)), B: ((b))}", variables={"a": "", "b": "null"}).env == {"A": "", "B": "null"}


def test_spaces_inside_the_parentheses_do_not_matter(load_task):
    assert load_task("env: {A: (( a ))}", variables={"a": "x"}).env == {"A": "x"}


def test_value_is_not_searched_again(load_task):
    step = load_task("env: {A: ((a)), B: b ((a))}", variables={"a": "((b))", "b": "never"})

    assert step.env == {"A": "((b))", "B": "b ((b))"}


def test_key_takes_text(load_task):
    assert load_task("env: {((k)): v}", variables={"k": "NAME"}).env == {"NAME": "v"}


def test_what_is_no_name_stays(load_task):
    assert load_task("env: {A: ((a b)), B: ((1)), C: '(())'}").env == {"A": "((a b))", "B": "((1))", "C": "(())"}


def test_shell_arithmetic_stays_in_a_program_only(load_agent, load_task):
    assert load_task("env: {A: $((n))}", variables={"n": 5}).env == {"A": "$5"}
    _, step = load_agent(step="prompt: It costs $((n)).", variables={"n": 5})
    assert step.messages == ("It costs $5.",)


def test_value_of_a_program(load_task):
    with pytest.raises(Exception, match="duplicate key `run`"):
        load_task("run: again", variables={})


TEXT = "jobs:\n- name: build\n  plan:\n  - task: make\n    run: ((program))\n"


def test_unset_variable_names_the_nearest_one_and_how_to_set_it(problems):
    assert problems(TEXT, variables={"programs": "x"}) == [
        "5:10: job `build`, step 1 (task `make`): `((program))` has no value (did you mean `programs`?); "
        "set it with `--var program=…`, `--use program` in a notebook, or `vars=` in Python"
    ]


def test_none_is_no_value(problems):
    [line] = problems(TEXT, variables={"program": None})

    assert "`((program))` is None; set it with" in line


def test_none_in_a_list_is_no_value(problems):
    text = TEXT.replace("((program))", "echo hi\n    outputs: ((outputs))")
    [line] = problems(text, variables={"outputs": ["a", None]})

    assert line.startswith("6:14: job `build`, step 1 (task `make`): entry 2 of `outputs:`")


def test_unset_variable_hides_no_second_error_of_its_value(problems):
    text = TEXT.replace("((program))", "echo hi\n    timeout: ((limit))\n    inputs: ((inputs))")

    assert [line.partition(" has ")[0].rpartition(": ")[2] for line in problems(text)] == [
        "`((limit))`",
        "`((inputs))`",
    ]


def test_value_that_contains_itself_is_refused(problems):
    endless = []
    endless.append(endless)
    [line] = problems(TEXT, variables={"program": endless})

    assert "`((program))` is nested deeper than 100 levels; pass less" in line


def test_value_that_json_cannot_write_has_its_own_text(load_task):
    endless = []
    endless.append(endless)
    step = load_task("env: {A: a ((e)), B: b ((t))}", variables={"e": endless, "t": {(1, 2): 3}})

    assert step.env == {"A": "a [[...]]", "B": "b {(1, 2): 3}"}


def test_data_frame_becomes_a_table_in_messages(load_agent):
    frame = pd.DataFrame({"hour": [6, 12], "height": [4.1, None]})
    _, step = load_agent(step='messages: ["((f))", "Explain:\\n((f))"]', variables={"f": frame})
    table = "| hour | height |\n| --- | --- |\n| 6 | 4.1 |\n| 12 |  |"

    assert step.messages == (table, f"Explain:\n{table}")


def test_data_frame_is_refused_elsewhere(problems):
    assert problems(TEXT, variables={"program": pd.DataFrame({"a": [1]})}) == [
        "5:10: job `build`, step 1 (task `make`): `((program))` is a DataFrame; "
        "use it in `messages:` or `prompt:`, elsewhere pass text"
    ]
