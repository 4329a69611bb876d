"""The bounds of `search_files`, asked by a model."""

import json

import pytest


@pytest.fixture
def search(run, scripted_llm, ends):
    """Run one search of what `prepare` made, and return its result."""

    def search(prepare, **arguments):
        scripted_llm.says(calls=[("search_files", arguments)]).says("done")
        (end,) = ends(run(prepare=prepare))
        assert end.spilled_to is None
        return json.loads(scripted_llm.requests[1]["messages"][-1]["content"])

    return search


def test_fifty_results_where_no_head_limit_is_given(search):
    found = search("for n in $(seq 60); do touch data/$n.txt; done", glob="**/*.txt")
    assert (len(found["files"]), found["total"], found["truncated"]) == (50, 60, True)


def test_two_hundred_results_at_most(search):
    found = search("for n in $(seq 260); do touch data/$n.txt; done", glob="**/*.txt", head_limit=250)
    assert (len(found["files"]), found["total"], found["truncated"]) == (200, 260, True)


def of_size(entry_bytes):
    """Write a file whose matches take so many bytes each in a result, and say how to search it."""
    empty = {"path": "data/a.txt", "line": 100, "text": ""}
    letters = entry_bytes - 1 - len(json.dumps(empty, separators=(",", ":")))
    line = f"printf 'x%.0s' $(seq {letters}); echo"
    return f"{{ yes '' | head -n 99; for n in $(seq 90); do {line}; done; }} > data/a.txt"


@pytest.mark.parametrize(("entry_bytes", "shown"), [(512, 28_672 // 512), (541, 28_672 // 541)])
def test_content_takes_28_kb(search, entry_bytes, shown):
    assert 28_672 == 28 * 1024 == 512 * 56 == 541 * 53 - 1  # what one byte more or less would change
    found = search(of_size(entry_bytes), pattern="x", output_mode="content", head_limit=200)
    assert (len(found["matches"]), found["total"], found["truncated"]) == (shown, 90, True)


def test_line_has_five_hundred_bytes(search):
    lines = "for n in 500 501; do printf 'x%.0s' $(seq $n); echo; done > data/a.txt"
    fits, long = search(lines, pattern="x", output_mode="content")["matches"]
    assert fits["text"] == "x" * 500
    assert (len(long["text"].encode()), long["text"][-1]) == (500, "…")


def test_files_over_two_megabytes_are_skipped(search):
    make = "for n in 2000000 2000001; do { echo tide; head -c $((n - 5)) /dev/zero | tr '\\0' x; } > data/$n.txt; done"
    assert search(make, pattern="tide")["files"] == ["data/2000000.txt"]


def test_git_node_modules_vendor_and_binary_files_are_skipped(search):
    make = (
        "mkdir data/.git data/node_modules data/vendor data/src; "
        "for d in .git node_modules vendor src; do echo tide > data/$d/a.txt; done; printf 'tide\\0' > data/src/b.bin"
    )
    assert search(make, pattern="tide")["files"] == ["data/src/a.txt"]
