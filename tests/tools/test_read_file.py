import os
from pathlib import Path

import pytest

from stepsnb.settings import READ_FILE_BYTES, READ_FILE_MAX_BYTES
from stepsnb.tools.read_file import read_file_tool

from .conftest import Call, error_of

READ = read_file_tool()


async def test_text_comes_back_as_it_is(work: Path, call: Call) -> None:
    (work / "plan.txt").write_bytes(b"one\r\ntwo\n\n  three")
    assert (await call(READ, path="plan.txt")).result.content == "one\r\ntwo\n\n  three"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ({"start_line": 2}, "two\nthree\n"),
        ({"end_line": 2}, "one\ntwo\n"),
        ({"start_line": 2, "end_line": 2}, "two\n"),
        ({"start_line": 3, "end_line": 99}, "three\n"),
        ({"start_line": None, "end_line": None}, "one\ntwo\nthree\n"),
    ],
)
async def test_lines_are_counted_from_one(work: Path, call: Call, lines: dict[str, int], text: str) -> None:
    (work / "plan.txt").write_text("one\ntwo\nthree\n")
    assert (await call(READ, path="plan.txt", **lines)).result.content == text


async def test_form_feed_does_not_end_a_line(work: Path, call: Call) -> None:
    (work / "plan.txt").write_text("one\x0cstill one\u2028still\ntwo\n")
    assert (await call(READ, path="plan.txt", start_line=2)).result.content == "two\n"


async def test_file_of_the_full_size_is_read_in_one_call(work: Path, call: Call) -> None:
    (work / "big.txt").write_text("x" * (READ_FILE_BYTES - 1) + "\n")
    called = await call(READ, path="big.txt")
    assert (len(called.result.content), called.truncated) == (READ_FILE_BYTES, False)


async def test_longer_file_is_cut_at_a_line_with_the_next_start_line(work: Path, call: Call) -> None:
    (work / "big.txt").write_text("".join(f"{n:09}\n" for n in range(1, 15_001)))
    called = await call(READ, path="big.txt")
    assert called.truncated
    assert called.result.content.endswith(
        "000010000\n[cut after line 10,000, at 100,000 bytes; read on with start_line 10001]"
    )
    rest = await call(READ, path="big.txt", start_line=10_001)
    assert rest.result.content.startswith("000010001\n")
    assert rest.result.content.endswith("000015000\n")


async def test_page_in_the_middle_names_its_own_next_line(work: Path, call: Call) -> None:
    (work / "big.txt").write_text("".join(f"{n:09}\n" for n in range(1, 15_001)))
    called = await call(READ, path="big.txt", start_line=3)
    assert "[cut after line 10,002, at 100,000 bytes; read on with start_line 10003]" in called.result.content


async def test_line_longer_than_a_page_is_cut_between_characters(work: Path, call: Call) -> None:
    (work / "long.txt").write_text("ø" * 60_000 + "\nnext\n")
    content = (await call(READ, path="long.txt")).result.content
    assert content.startswith("ø" * 50_000 + "\n[line 1 is longer than the 100,000 bytes one call reads")
    assert content.endswith("start_line 2 reads on after it]")


async def test_windows_1252_is_read_and_said(work: Path, call: Call) -> None:
    (work / "menu.txt").write_bytes(bytes.fromhex("636166e9203132800a"))
    content = (await call(READ, path="menu.txt")).result.content
    assert content == "café 12€\n[this file is not UTF-8; it was read as cp1252]"


async def test_utf16_is_read_and_said(work: Path, call: Call) -> None:
    (work / "utf16.txt").write_bytes(b"\xff\xfeo\0k\0")
    assert (
        await call(READ, path="utf16.txt")
    ).result.content == "ok\n[this file is not UTF-8; it was read as utf-16-le]"


async def test_binary_is_refused_with_its_size(work: Path, call: Call) -> None:
    (work / "blob.bin").write_bytes(bytes(range(256)))
    assert error_of(await call(READ, path="blob.bin")) == "`blob.bin` is binary, not text (256 bytes)"


async def test_file_beyond_all_paging_is_refused_with_its_size(work: Path, call: Call) -> None:
    with (work / "huge.log").open("wb") as file:
        file.truncate(READ_FILE_MAX_BYTES + 1)
    assert "`huge.log` is too large to read (64,000,001 bytes)" in error_of(await call(READ, path="huge.log"))


async def test_empty_file_is_empty(work: Path, call: Call) -> None:
    (work / "empty").touch()
    assert (await call(READ, path="empty", start_line=1)).result.content == ""


async def test_missing_file_points_to_list_dir(call: Call) -> None:
    assert error_of(await call(READ, path="a/b.txt")) == "there is no `a/b.txt`; list_dir shows what is there"


async def test_folder_points_to_list_dir(work: Path, call: Call) -> None:
    (work / "docs").mkdir()
    assert error_of(await call(READ, path="docs")) == "`docs` is a folder; list_dir shows what is in it"


async def test_path_through_a_file_is_told(work: Path, call: Call) -> None:
    (work / "a").touch()
    assert error_of(await call(READ, path="a/b")).startswith("`a/b` leads through something that is not a folder")


async def test_overlong_name_is_told(call: Call) -> None:
    assert error_of(await call(READ, path="x" * 300)) == "cannot read a path of 300 characters; use a shorter one"


async def test_start_past_the_end_says_how_many_lines_there_are(work: Path, call: Call) -> None:
    (work / "plan.txt").write_text("one\ntwo\n")
    assert (
        error_of(await call(READ, path="plan.txt", start_line=9))
        == "`plan.txt` has 2 lines; start_line 9 is past its end"
    )


async def test_end_before_start_is_told(work: Path, call: Call) -> None:
    (work / "plan.txt").write_text("one\ntwo\n")
    assert error_of(await call(READ, path="plan.txt", start_line=2, end_line=1)) == "end_line 1 is before start_line 2"


@pytest.mark.timeout(10)
async def test_named_pipe_is_refused_without_waiting(work: Path, call: Call) -> None:
    os.mkfifo(work / "pipe")
    assert error_of(await call(READ, path="pipe")) == "`pipe` is a named pipe, not a file"


@pytest.mark.timeout(10)
async def test_device_behind_a_link_is_outside(work: Path, call: Call) -> None:
    (work / "zero").symlink_to("/dev/zero")
    assert "`zero` is outside the working directory" in error_of(await call(READ, path="zero"))


@pytest.mark.parametrize("path", ["../app-old/key.txt", "up/key.txt", "..\\app-old\\key.txt", "ABSOLUTE"])
async def test_file_outside_is_refused_as_data(ws: Path, call: Call, path: str) -> None:
    called = await call(READ, path=path.replace("ABSOLUTE", str(ws / "app-old" / "key.txt")))
    assert "outside the working directory" in error_of(called) or "backslash" in error_of(called)
    assert "KEY" not in called.result.content


@pytest.mark.parametrize("path", ["docs/a.md", "./docs/../docs/a.md"])
async def test_file_behind_an_inner_link_is_read(ws: Path, call: Call, path: str) -> None:
    assert (await call(READ, path=path)).result.content == "doc a"


async def test_no_error_shows_where_the_folder_lies(ws: Path, call: Call) -> None:
    for path in ("nope", "docs", "a/b/c", "gone", "x" * 300):
        assert str(ws) not in (await call(READ, path=path)).result.content
