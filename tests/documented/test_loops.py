"""When a conversation goes in circles: more than five times the same in the last ten turns with tools."""


def looks(llm, *lines):
    """Call the same tool once a turn; the same number is the same call with the same result."""
    for line in lines:
        llm.says(calls=[("read_file", {"path": "data/a.txt", "end_line": line})])


def warnings(run):
    return [(event.tool, event.count) for event in run.events if event.kind == "loop_warning"]


def held(run, **options):
    return run(prepare="yes tide | head -n 40 > data/a.txt", **options)


def test_five_times_the_same_is_no_loop(run, scripted_llm):
    looks(scripted_llm, *[1] * 5)
    scripted_llm.says("done")
    assert warnings(held(run)) == []


def test_sixth_time_is_warned_of_and_the_seventh_is_the_end(run, scripted_llm):
    looks(scripted_llm, *[1] * 8)
    result = held(run)
    assert warnings(result) == [("read_file", 6)]
    assert (result.outcome, scripted_llm.request_count) == ("failed", 7)
    assert "agent stuck in a loop: `read_file`" in result.error


def test_sixth_in_ten_turns_is_warned_of(run, scripted_llm):
    looks(scripted_llm, 1, 1, 1, 1, 1, 2, 3, 4, 5, 1)
    scripted_llm.says("done")
    assert warnings(held(run)) == [("read_file", 6)]


def test_sixth_in_eleven_turns_is_none(run, scripted_llm):
    looks(scripted_llm, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 1)
    scripted_llm.says("done")
    assert warnings(held(run)) == []
