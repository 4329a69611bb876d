"""Arguments as models break them, and their look-alikes that are right: nothing is guessed, nothing invented."""

import json
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stepsnb.llm.repair import is_object, repair_arguments, repair_object

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)


def mended(text):
    """Return what a text was mended to; None when it was not, an error when it needed no mending."""
    arguments = repair_arguments(text)
    if arguments is None:
        return None
    assert arguments.is_repaired
    return json.loads(arguments.text)


def test_raw_control_characters_and_invalid_escapes():
    broken = '{"path": "log/day1.md", "text": "tide 4.1 m\nwind \\d knots\x01"}'
    assert mended(broken) == {"path": "log/day1.md", "text": "tide 4.1 m\nwind \\d knots\x01"}


def test_fence_and_prose_around_and_trailing_comma():
    broken = (
        'Sure, looking that up:\n```json\n{"query": "ferry, \\"night\\" ,] times", "limit": 3,}\n```\nHope it helps'
    )
    assert mended(broken) == {"query": 'ferry, "night" ,] times', "limit": 3}


@pytest.mark.parametrize(
    ("broken", "meant"),
    [
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": 1}}', {"a": 1}),
        ('{"a": "one, tw', {"a": "one, tw"}),
        ('{"a": "one\\', {"a": "one"}),
        ('{"a": "one\\u00', {"a": "one"}),
        ('{"a": 1, "b"', {"a": 1, "b": None}),
        ('{"a": 1, "b":', {"a": 1, "b": None}),
        ('{"a": 1, "b": }', {"a": 1, "b": None}),
        ('{"a":, "b": 1}', {"a": None, "b": 1}),
        ('{"a": 1, "', {"a": 1}),
        ('{"a": 1,', {"a": 1}),
        ('{"a": tr', {"a": True}),
        ('{"a": 12.', {"a": 12}),
        ('{"a": "\\ud800!"}', {"a": "\ufffd!"}),
        ('{path: "x"}', {"path": "x"}),
        ('{"a": True, "b": None, "c": null}', {"a": True, "b": None, "c": None}),
        ('```\n{"a": "cut\n```', {"a": "cut"}),
        ('{"a": 1}\n\nThat should do.', {"a": 1}),
    ],
)
def test_mended(broken, meant):
    assert mended(broken) == meant


@pytest.mark.parametrize(
    ("broken", "meant"),
    [
        ("{'city': 'Tromsø', 'night': True, 'via': None}", {"city": "Tromsø", "night": True, "via": None}),
        ("""{'say': "it's", 'pair': (1, 2)}""", {"say": "it's", "pair": [1, 2]}),
        ("Here: {'pattern': '\\d+'}", {"pattern": "\\d+"}),
    ],
)
def test_python_literals(broken, meant):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mended(broken) == meant


@pytest.mark.parametrize(
    "text",
    [
        "no object at all",
        "{",
        '{"',
        "{,}",
        "I would send {} here",
        '{"a": "he said "hi" there"}',
        '{"a": "x, "b": "y"}',
        '{"a": "x" "b": "y"}',
        '{"a": "forgot the quote}',
        "{'a': 'it's'}",
        '{"a"}',
        '{"a": 1}{"b": 2}',
        '{"a": 1} or {"a": 2}',
        '{"a": [1, 2}, "b": 3}',
        '[{"a": 1},]',
        '{"a": [1,,2]}',
        '{"a": NaN}',
        "{'a': {1, 2}}",
        "{1: 2}",
        "{'a': b'x'}",
        "{'a': open('/etc/passwd')}",
        "{" * 1_000_000,
        '{"a": ' * 100_000,
        '{"a": "' + 'x"' * 500_000,
        "{'a': " + "-" * 60_000 + "1}",
        "```{" * 200_000,
    ],
    ids=lambda text: text[:24],
)
def test_what_takes_guessing_is_left_alone(text):
    assert repair_arguments(text) is None


@pytest.mark.parametrize("text", ["[1, 2]", "42", "true", '"words"', '["{}"]'])
def test_valid_json_that_is_no_object_is_left_to_the_tool(text):
    assert repair_arguments(text) is None


@pytest.mark.parametrize("text", ["", "  \n", "null", '""', '"  "'])
def test_nothing_means_no_arguments_and_is_no_repair(text):
    assert repair_arguments(text) == ("{}", False)


def test_empty_object_in_a_fence_is_one():
    assert mended("```json\n{}\n```") == {}


def test_object_inside_a_string_is_decoded():
    assert mended('"{\\"city\\": \\"Tromsø\\"}"') == {"city": "Tromsø"}
    assert mended('"{\\"city\\": \\"Tromsø\\",}"') == {"city": "Tromsø"}
    assert mended('"{\\"city\\": \\"Tro') == {"city": "Tro"}


def test_only_what_is_broken_changes():
    text = '{ "a" :"\\u00e9\\/",\n "n": 1.50e+2, "b": [ ], }'
    assert repair_object(text) == text.replace(", }", " }")


@given(OBJECTS, st.booleans(), st.sampled_from([None, 2]))
def test_valid_objects_stay_byte_for_byte(value, is_ascii, indent):
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    assume(is_object(text))
    assert repair_arguments(text) == (text, False)


@given(st.text() | st.text(alphabet="{}[]\"'\\,:ab1 \nNone-.`"))
def test_repair_is_idempotent_and_invents_no_empty_object(text):
    arguments = repair_arguments(text)
    if arguments is None:
        return
    assert repair_arguments(arguments.text) == (arguments.text, False)
    assert json.loads(arguments.text) or "".join(text.split()).strip('"`jso\\') in ("", "{}", "{}}", "null", "{}]")


@given(st.dictionaries(st.text(min_size=1), SCALARS, min_size=1), st.data())
def test_cut_object_keeps_every_member_that_was_whole(value, data):
    text = json.dumps(value)
    cut = data.draw(st.integers(2, len(text) - 1))
    arguments = repair_arguments(text[:cut])
    if arguments is None:
        return
    got = json.loads(arguments.text)
    assert list(got)[: len(got) - 1] == list(value)[: len(got) - 1]
    assert all(got[key] == value[key] for key in list(got)[: len(got) - 1])


@given(st.dictionaries(st.text(), st.text(), min_size=1))
def test_raw_characters_in_strings_are_what_was_meant(value):
    escaped = ",".join(f"{_raw(key)}:{_raw(item)}" for key, item in value.items())
    assert json.loads(repair_arguments(f"{{{escaped}}}").text) == value


def _raw(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text(), min_size=1))
def test_printed_python_is_what_was_printed(value):
    arguments = repair_arguments(repr(value))
    assume(arguments is not None)
    assert json.loads(arguments.text) == value or "\\" in repr(value)
