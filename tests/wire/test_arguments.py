"""Broken arguments over exact bytes, through a whole run: what the tool gets, what is recorded, what is sent back."""

import json

import pytest

from .conftest import call_piece, calls, history_calls, words

H01 = '{"path": "log/day1.md", "text": "tide 4.1 m\nwind \\d knots"}'
H02 = 'Sure, looking that up:\n```json\n{"query": "ferry, \\"night\\" ,] times", "limit": 3,}\n```\nHope it helps'


class Desk:
    """Functions an agent may call, which keep what they were called with."""

    def __init__(self):
        self.got = []

    def save_note(self, path: str, text: str) -> str:
        """Save a note."""
        self.got.append((path, text))
        return "saved"

    def look_up(self, query: str = "", limit: int = 0) -> str:
        """Look something up."""
        self.got.append((query, limit))
        return "found"

    def weather(self, city: str) -> str:
        """Say how the weather is."""
        self.got.append(city)
        return "fair"

    def list_sheets(self) -> str:
        """List the sheets."""
        self.got.append({})
        return "none"

    def plot(self, points: list[int], title: str = "") -> str:
        """Plot points."""
        self.got.append((points, title))
        return "done"


@pytest.fixture
def desk():
    return Desk()


def test_raw_line_break_in_a_string_is_mended_recorded_and_sent_back_as_json(wire_server, run, recorded, desk):
    wire_server.streams(*calls(call_piece("save_note", H01))).streams(*words("Done."))
    assert run(save_note=desk.save_note).outcome == "succeeded"
    meant = ("log/day1.md", "tide 4.1 m\nwind \\d knots")
    assert desk.got == [meant]
    (row,) = recorded()
    assert (row["repaired"], row["ok"]) == (True, True)
    assert json.loads(row["args"]) == dict(zip(("path", "text"), meant, strict=True))
    assert history_calls(wire_server.requests[1]) == [("save_note", dict(zip(("path", "text"), meant, strict=True)))]


def test_same_call_in_valid_json_passes_byte_for_byte_and_unmarked(wire_server, run, recorded, desk):
    valid = '{"path":  "log/day1.md", "text": "tide 4.1 m\\nwind \\\\d kn\\u006fts"}'
    wire_server.streams(*calls(call_piece("save_note", valid))).streams(*words("Done."))
    run(save_note=desk.save_note)
    assert desk.got == [("log/day1.md", "tide 4.1 m\nwind \\d knots")]
    (row,) = recorded()
    assert (row["repaired"], row["args"]) == (False, valid)
    assert json.dumps(valid).encode() in wire_server.requests[1].body


def test_arguments_in_a_fence_among_words_are_found(wire_server, run, recorded, desk):
    wire_server.streams(*calls(call_piece("look_up", H02))).streams(*words("Done."))
    run(look_up=desk.look_up)
    assert desk.got == [('ferry, "night" ,] times', 3)]
    assert recorded()[0]["repaired"]


def test_words_without_an_object_never_run_as_an_empty_one(wire_server, run, recorded, desk):
    wire_server.streams(*calls(call_piece("look_up", "I cannot say {"))).streams(*words("Done."))
    run(look_up=desk.look_up)
    assert desk.got == []
    (row,) = recorded()
    assert (row["ok"], row["repaired"], row["args"]) == (False, False, "I cannot say {")
    assert "not valid JSON" in row["result"]
    assert history_calls(wire_server.requests[1]) == [("look_up", {"unreadable_arguments": "I cannot say {"})]


def test_object_encoded_as_a_string_is_decoded(wire_server, run, recorded, desk):
    encoded = json.dumps(json.dumps({"city": "Tromsø"}))
    wire_server.streams(*calls(call_piece("weather", encoded))).streams(*words("Done."))
    run(weather=desk.weather)
    assert desk.got == ["Tromsø"]
    assert recorded()[0]["repaired"]
    assert history_calls(wire_server.requests[1]) == [("weather", {"city": "Tromsø"})]


def test_object_instead_of_text_is_taken_and_marked(wire_server, run, recorded, desk):
    wire_server.streams(*calls(call_piece("weather", {"city": "Tromsø"}))).streams(*words("Done."))
    run(weather=desk.weather)
    assert desk.got == ["Tromsø"]
    assert recorded()[0]["repaired"]


@pytest.mark.parametrize("nothing", ["", "  ", "null", None, '""'])
def test_no_arguments_run_a_tool_that_takes_none_and_are_no_repair(wire_server, run, recorded, desk, nothing):
    wire_server.streams(*calls(call_piece("list_sheets", nothing))).streams(*words("Done."))
    run(list_sheets=desk.list_sheets)
    assert desk.got == [{}]
    assert (recorded()[0]["ok"], recorded()[0]["repaired"]) == (True, False)
    assert history_calls(wire_server.requests[1]) == [("list_sheets", {})]


def test_missing_argument_is_named_where_none_came(wire_server, run, recorded, desk):
    wire_server.streams(*calls(call_piece("weather", ""))).streams(*words("Done."))
    run(weather=desk.weather)
    assert desk.got == []
    assert "argument `city` is missing" in recorded()[0]["result"]


def test_text_that_looks_like_a_number_stays_text(wire_server, run, recorded, desk):
    wire_server.streams(*calls(call_piece("weather", '{"city": "42"}'))).streams(*words("Done."))
    run(weather=desk.weather)
    assert desk.got == ["42"]
    assert not recorded()[0]["repaired"]


def test_list_sent_as_text_is_decoded_and_text_that_looks_like_one_is_not(wire_server, run, recorded, desk):
    wire_server.streams(*calls(call_piece("plot", '{"points": "[1, 2]", "title": "[1, 2]"}'))).streams(*words("Done."))
    run(plot=desk.plot)
    assert desk.got == [([1, 2], "[1, 2]")]
    assert recorded()[0]["repaired"]


@pytest.mark.parametrize("sent", ["[1]", "42", [1]])
def test_valid_json_that_is_no_object_is_refused_by_the_tool(wire_server, run, recorded, desk, sent):
    wire_server.streams(*calls(call_piece("weather", sent))).streams(*words("Done."))
    run(weather=desk.weather)
    assert desk.got == []
    assert "must be a JSON object" in recorded()[0]["result"]
    (sent_back,) = history_calls(wire_server.requests[1])
    assert list(sent_back[1]) == ["unreadable_arguments"]
