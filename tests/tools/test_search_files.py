import asyncio
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from stepsnb.settings import INLINE_OUTPUT_BYTES
from stepsnb.tools import search as search_module
from stepsnb.tools import to_json
from stepsnb.tools.search_files import search_files_tool

from .conftest import Call, error_of

SEARCH = search_files_tool()


@pytest.fixture
def tree(work: Path) -> Path:
    for path, text in {
        "top.go": "package main\n",
        "cmd/main.go": "package main\nfunc main() {}\n// func again\n",
        "cmd/deep/util.go": "package util\n",
        "notes/plan.md": "main idea\n",
    }.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    return work


@pytest.fixture
def search(call: Call):
    async def search(**arguments: Any) -> dict[str, Any]:
        called = await call(SEARCH, **arguments)
        assert called.ok, called.result.content
        data = json.loads(called.result.content)
        assert data["truncated"] == called.truncated
        return data

    return search


async def test_pattern_lists_files_with_a_match_by_default(tree: Path, search) -> None:
    assert await search(pattern=r"func \w+\(") == {"files": ["cmd/main.go"], "total": 1, "truncated": False}


async def test_glob_alone_finds_files_by_name(tree: Path, search) -> None:
    assert (await search(glob="**/*.go"))["files"] == ["top.go", "cmd/main.go", "cmd/deep/util.go"]


async def test_glob_without_double_star_stays_in_one_folder(tree: Path, search) -> None:
    assert (await search(glob="*.go"))["files"] == ["top.go"]
    assert (await search(glob="./cmd/*.go"))["files"] == ["cmd/main.go"]


async def test_both_must_match(tree: Path, search) -> None:
    assert (await search(pattern="main", glob="**/*.md"))["files"] == ["notes/plan.md"]


async def test_content_gives_lines_with_numbers(tree: Path, search) -> None:
    assert await search(pattern="func", output_mode="content") == {
        "matches": [
            {"path": "cmd/main.go", "line": 2, "text": "func main() {}"},
            {"path": "cmd/main.go", "line": 3, "text": "// func again"},
        ],
        "total": 2,
        "truncated": False,
    }


async def test_count_gives_lines_per_file(tree: Path, search) -> None:
    assert await search(pattern="main|func", output_mode="count") == {
        "counts": [
            {"path": "top.go", "count": 1},
            {"path": "cmd/main.go", "count": 3},
            {"path": "notes/plan.md", "count": 1},
        ],
        "total": 3,
        "truncated": False,
        "matches": 5,
    }


async def test_path_narrows_and_globs_are_relative_to_it(tree: Path, search) -> None:
    assert (await search(pattern="package", path="cmd"))["files"] == ["cmd/main.go", "cmd/deep/util.go"]
    assert (await search(glob="*.go", path="cmd/deep"))["files"] == ["cmd/deep/util.go"]


async def test_path_may_be_a_file(tree: Path, search) -> None:
    data = await search(pattern="func", path="cmd/main.go", output_mode="content", head_limit=1)
    assert (data["matches"][0]["path"], data["total"], data["truncated"]) == ("cmd/main.go", 2, True)


async def test_final_line_end_and_carriage_returns_are_no_part_of_a_line(work: Path, search) -> None:
    (work / "a.txt").write_bytes(b"one\r\n\r\nend$\r\n")
    data = await search(pattern="^$|e$", output_mode="content")
    assert [(m["line"], m["text"]) for m in data["matches"]] == [(1, "one"), (2, "")]


async def test_text_in_another_encoding_is_searched(work: Path, search) -> None:
    (work / "menu.txt").write_bytes(b"caf\xe9\n")
    assert (await search(pattern="café"))["files"] == ["menu.txt"]


async def test_skipped_folders_binary_large_and_special_files_are_not_searched(work: Path, search) -> None:
    for folder in (".git", "node_modules", "vendor", "src/vendor"):
        (work / folder).mkdir(parents=True)
        (work / folder / "a.txt").write_text("needle")
    (work / "blob").write_bytes(b"needle\0")
    (work / "large.txt").write_text("needle\n" + "x" * 2_000_000)
    os.mkfifo(work / "pipe")
    (work / ".github").mkdir()
    (work / ".github" / "ok.yml").write_text("needle")
    assert (await search(pattern="needle"))["files"] == [".github/ok.yml"]


async def test_nothing_is_matched_through_links(ws: Path, search) -> None:
    (ws / "app" / "key-link").symlink_to("../app-old/key.txt")
    (ws / "app" / "doc-link").symlink_to("docs/a.md")
    assert (await search(pattern="KEY"))["files"] == []
    assert (await search(glob="**/*"))["files"] == ["real-docs/a.md"]


async def test_path_behind_an_inner_link_is_searched_where_it_leads(ws: Path, search) -> None:
    assert (await search(pattern="doc", path="docs"))["files"] == ["real-docs/a.md"]


async def test_path_outside_is_refused(ws: Path, call: Call) -> None:
    assert "`up` is outside the working directory" in error_of(await call(SEARCH, pattern="KEY", path="up"))


async def test_head_limit_cuts_and_total_tells_all(work: Path, search) -> None:
    (work / "a.txt").write_text("x\n" * 500)
    data = await search(pattern="x", output_mode="content")
    assert (len(data["matches"]), data["total"], data["truncated"]) == (50, 500, True)
    data = await search(pattern="x", output_mode="content", head_limit=9_999)
    assert (len(data["matches"]), data["total"]) == (200, 500)


async def test_exactly_as_many_as_the_limit_is_not_truncated(work: Path, search) -> None:
    (work / "a.txt").write_text("x\n" * 50)
    assert (await search(pattern="x", output_mode="content"))["truncated"] is False


@pytest.mark.parametrize("line", ["y" * 3_000, '"\\' * 1_500, "ø" * 1_500])
async def test_content_never_spills(work: Path, call: Call, line: str) -> None:
    (work / "a.txt").write_text((line + "\n") * 300)
    called = await call(SEARCH, pattern=".", output_mode="content", head_limit=200)
    assert called.spilled_to is None
    assert called.truncated
    assert len(called.result.content.encode()) < INLINE_OUTPUT_BYTES
    data = called.result.data
    assert data is not None
    assert data["total"] == 300
    assert all(len(match["text"].encode()) <= 500 and match["text"].endswith("…") for match in data["matches"])


async def test_content_fills_28_kb_and_no_more(work: Path, search) -> None:
    (work / "a.txt").write_text(("y" * 400 + "\n") * 200)
    data = await search(pattern="y", output_mode="content", head_limit=200)
    size = len(to_json(data["matches"]).encode())
    assert 27 * 1024 < size <= 28 * 1024
    assert (data["total"], data["truncated"]) == (200, True)


async def test_path_is_the_working_directory_by_default(tree: Path, search) -> None:
    assert await search(pattern="package") == await search(pattern="package", path=".")


async def test_many_long_paths_never_spill(work: Path, call: Call) -> None:
    for number in range(200):
        (work / f"{number:03}{'ø' * 120}").touch()
    called = await call(SEARCH, glob="*", head_limit=200)
    assert (called.spilled_to, called.truncated) == (None, True)
    assert len(called.result.content.encode()) < INLINE_OUTPUT_BYTES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing to look for; give `pattern`, `glob` or both"),
        ({"pattern": "", "glob": ""}, "nothing to look for; give `pattern`, `glob` or both"),
        (
            {"glob": "*", "output_mode": "count"},
            "output_mode `count` is about lines, so it needs a `pattern`; a `glob` alone finds files",
        ),
        ({"pattern": "(a"}, "`pattern` is not a regular expression that can be used: unclosed group"),
        (
            {"pattern": "(?=a)"},
            "`pattern` is not a regular expression that can be used: "
            "look-around, including look-ahead and look-behind, is not supported",
        ),
        (
            {"pattern": "(a{0,500}){0,500}"},
            "`pattern` is not a regular expression that can be used: "
            "compiled regex exceeds size limit of 10485760 bytes",
        ),
        ({"glob": "src/**/*.py"}, "`**` in `src/**/*.py` works only as the first part of a glob, as in `**/*.md`"),
        ({"pattern": "a", "path": "nope"}, "there is no `nope`; list_dir shows what is there"),
    ],
)
async def test_search_that_makes_no_sense_is_told(call: Call, arguments: dict[str, Any], message: str) -> None:
    assert error_of(await call(SEARCH, **arguments)) == message


async def test_unknown_mode_is_told(call: Call) -> None:
    message = error_of(await call(SEARCH, pattern="a", output_mode="lines"))
    assert "argument `output_mode`: input should be 'files_with_matches', 'content' or 'count'" in message


@pytest.mark.timeout(20)
async def test_pattern_that_would_backtrack_for_ever_is_quick(work: Path, search) -> None:
    (work / "a.txt").write_text(("a" * 5_000 + "b\n") * 20)
    assert (await search(pattern="(a+)+$"))["files"] == []


async def test_search_that_takes_too_long_returns_what_it_found(
    tree: Path, search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "SEARCH_S", -1.0)
    data = await search(pattern="package")
    assert data["truncated"] is True
    assert data["note"].startswith("stopped after -1 seconds")


async def test_cancelled_search_stops_its_thread(work: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(self: object) -> str:
        time.sleep(0.05)
        return ""

    monkeypatch.setattr(search_module._File, "text", slow)
    for number in range(200):
        (work / f"{number}.txt").touch()
    task = asyncio.create_task(call(SEARCH, pattern="x"))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(1.0)
    assert not [thread for thread in threading.enumerate() if thread.name == "stepsnb-tool"]


async def test_unreadable_files_are_passed_over(work: Path, search, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "a.txt").write_text("needle")
    (work / "b.txt").write_text("needle")
    real_open = os.open

    def refusing(path: Any, *args: Any, **kwargs: Any) -> int:
        if path == "a.txt":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refusing)
    assert (await search(pattern="needle"))["files"] == ["b.txt"]
