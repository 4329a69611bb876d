import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepsnb.tools.edit_file import edit_file_tool

from .conftest import Call, error_of

EDIT = edit_file_tool()


@pytest.fixture
def edit(call: Call):
    async def edit(old: str, new: str, *, path: str = "a.py", **more: Any) -> dict[str, Any]:
        called = await call(EDIT, path=path, old_string=old, new_string=new, **more)
        assert called.ok, called.result.content
        data = json.loads(called.result.content)
        assert isinstance(data, dict)
        return data

    return edit


@pytest.fixture
def refused(call: Call, work: Path):
    """Edit, and return why it was refused; the file is as it was then."""

    async def refused(old: str, new: str, *, path: str = "a.py", **more: Any) -> str:
        before = {file: file.read_bytes() for file in work.rglob("*") if file.is_file()}
        message = error_of(await call(EDIT, path=path, old_string=old, new_string=new, **more))
        assert {file: file.read_bytes() for file in work.rglob("*") if file.is_file()} == before
        return message

    return refused


async def test_one_place_is_replaced_and_its_line_told_without_content(work: Path, edit) -> None:
    (work / "a.py").write_text("one\ntwo\nthree\n")
    assert await edit("two", "2") == {"replacements": 1, "first_line": 2, "match_mode": "exact"}
    assert (work / "a.py").read_text() == "one\n2\nthree\n"


async def test_empty_new_string_removes(work: Path, edit) -> None:
    (work / "a.py").write_text("one\ntwo\nthree\n")
    await edit("two\n", "")
    assert (work / "a.py").read_text() == "one\nthree\n"


async def test_replace_all_replaces_everywhere(work: Path, edit) -> None:
    (work / "a.py").write_text("x = x + aaa\nx\n")
    assert await edit("x", "y", replace_all=True) == {"replacements": 3, "first_line": 1, "match_mode": "exact"}
    assert await edit("aa", "b", replace_all=True) == {"replacements": 1, "first_line": 1, "match_mode": "exact"}
    assert (work / "a.py").read_text() == "y = y + ba\ny\n"


async def test_mode_is_kept(work: Path, edit) -> None:
    (work / "a.py").write_text("one")
    (work / "a.py").chmod(0o751)
    await edit("one", "two")
    assert stat.S_IMODE((work / "a.py").stat().st_mode) == 0o751
    assert [file.name for file in work.iterdir()] == ["a.py"]


async def test_text_in_several_places_is_told_with_their_lines(work: Path, refused) -> None:
    (work / "a.py").write_text("x\ny\nx\nx\n")
    assert await refused("x", "z") == (
        "`old_string` is in `a.py` 3 times, in lines 1, 3, 4; add the lines around it so that it is there only once, "
        "or set `replace_all` to replace it everywhere"
    )
    (work / "a.py").write_text("aaa")
    assert "2 times" in await refused("aa", "b")


async def test_text_that_is_not_there_is_told_with_what_to_do(work: Path, refused) -> None:
    (work / "a.py").write_text("def f():\n    return 1\n\ndef g():\n    return 2\n")
    assert await refused("nothing", "z") == (
        "`old_string` is not in `a.py`; read the file again with read_file and copy the text to replace from there, "
        "with its indentation"
    )
    assert "; its first line is in line 4, and what follows differs; " in await refused("def g():\n    pass\n", "z")


async def test_line_trimmed_match_keeps_the_files_own_lines_and_indentation(work: Path, edit) -> None:
    (work / "a.py").write_text("class A:\n    def f(self):\n        x = 1   \n        return x\n")
    found = await edit("def f(self):\n    x = 1\n    return x", "def f(self):\n    x = 1\n    y = 2\n    return x + y")
    assert found == {"replacements": 1, "first_line": 2, "match_mode": "line-trimmed"}
    assert (work / "a.py").read_text() == (
        "class A:\n    def f(self):\n        x = 1   \n        y = 2\n        return x + y\n"
    )


async def test_block_anchor_match_keeps_the_files_own_lines(work: Path, edit) -> None:
    (work / "a.py").write_text("begin\n  total = price * count  # in cents\n  show(total)\nend\nrest\n")
    found = await edit(
        "begin\n  total = price * count\n  show(total)\nend", "begin\n  total = price * count\n  log(total)\nend"
    )
    assert found == {"replacements": 1, "first_line": 1, "match_mode": "block-anchor"}
    assert (work / "a.py").read_text() == "begin\n  total = price * count  # in cents\n  log(total)\nend\nrest\n"


async def test_block_whose_middle_is_another_is_not_taken(work: Path, refused) -> None:
    (work / "a.py").write_text("begin\n  print('hello')\nend\n")
    assert "is not in `a.py`; its first line is in line 1" in await refused("begin\n  return 42\nend", "x")


@pytest.mark.parametrize("replace_all", [False, True])
async def test_inexact_match_in_several_places_is_refused(work: Path, refused, replace_all: bool) -> None:
    (work / "a.py").write_text("  a\n  b\n\n    a\n    b\n")
    assert await refused("a\nb", "c", replace_all=replace_all) == (
        "`old_string` is not in `a.py` as you wrote it, and 2 places are like it, in lines 1, 4; copy the text to "
        "replace exactly from the file, with the lines around it"
    )


async def test_file_that_would_grow_beyond_reading_is_refused(work: Path, refused) -> None:
    (work / "a.py").write_text("x" * 1_000)
    message = await refused("x", "y" * 100_000, replace_all=True)
    assert message == "`a.py` would have 100,000,000 characters then, too many to be read again; write less"


async def test_long_list_of_places_is_cut(work: Path, refused) -> None:
    (work / "a.py").write_text("x\n" * 1_000)
    assert "100 or more times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more; " in await refused("x", "y")


@pytest.mark.parametrize(
    ("raw", "old", "new", "edited"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "x\ny", b"x\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc", "c", "x\ny", b"a\r\nb\r\nx\r\ny"),
        (b"a\nb\r\nc\nd\n", "c", "x\ny", b"a\nb\r\nx\ny\nd\n"),
        (b"a\nb\r\nc\nd\n", "a\nb", "x\ny", b"x\ny\r\nc\nd\n"),
        (b"  a\r\n  b\r\n", "a\nb\n", "a\nc\n", b"  a\r\n  c\r\n"),
        (b"a\nb\n", "a", "x\r\ny", b"x\r\ny\nb\n"),
        (b"a\rb\rc", "b", "x", b"a\rx\rc"),
    ],
)
async def test_lines_end_as_those_around_them(work: Path, edit, raw: bytes, old: str, new: str, edited: bytes) -> None:
    (work / "a.py").write_bytes(raw)
    await edit(old, new)
    assert (work / "a.py").read_bytes() == edited


async def test_text_in_a_one_byte_encoding_keeps_its_bytes(work: Path, edit, refused) -> None:
    (work / "menu.txt").write_bytes(b"caf\xe9 12\x80\n")
    await edit("12", "13", path="menu.txt")
    assert (work / "menu.txt").read_bytes() == b"caf\xe9 13\x80\n"
    assert await refused("13", "→", path="menu.txt") == (
        "`menu.txt` is in cp1252, which has no `→`; write `new_string` without it"
    )


@pytest.mark.parametrize(
    ("bom", "encoding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8")]
)
async def test_byte_order_mark_and_encoding_are_kept(work: Path, edit, bom: bytes, encoding: str) -> None:
    (work / "a.py").write_bytes(bom + "ok ø".encode(encoding))
    await edit("ok", "nei")
    assert (work / "a.py").read_bytes() == bom + "nei ø".encode(encoding)


async def test_binary_is_refused_with_its_size(work: Path, refused) -> None:
    (work / "blob.bin").write_bytes(bytes(range(256)))
    assert await refused("a", "b", path="blob.bin") == "`blob.bin` is binary, not text (256 bytes); it cannot be edited"


async def test_file_nobody_may_write_is_refused(work: Path, refused) -> None:
    (work / "a.py").write_text("one")
    (work / "a.py").chmod(0o444)
    assert await refused("one", "two") == "`a.py` is read-only; make it writable first (run_shell: chmod u+w)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"old": "", "new": "x"},
            "`old_string` is empty; give the text to replace, or write the file with write_file",
        ),
        ({"old": "one", "new": "one"}, "`old_string` and `new_string` are the same; nothing would change"),
        (
            {"old": "one", "new": "x", "path": "b.py"},
            "there is no `b.py`; list_dir shows what is there, write_file makes a new file",
        ),
        ({"old": "one", "new": "x", "path": "."}, "`.` is a folder; name a file in it"),
        ({"old": "one", "new": "\ud800"}, "`new_string` holds half of a surrogate pair, which no file can"),
        ({"old": "  one", "new": "one  "}, "`a.py` has `new_string` in this place already; nothing would change"),
    ],
)
async def test_edit_that_makes_no_sense_is_told(work: Path, refused, arguments: dict[str, str], message: str) -> None:
    (work / "a.py").write_text("one  \ntwo\n")
    assert (await refused(**arguments)).startswith(message)


async def test_nothing_outside_is_edited(ws: Path, call: Call) -> None:
    for path in ("up/key.txt", "../app-old/key.txt", str(ws / "app-old" / "key.txt"), "gone"):
        assert "is outside the working directory" in error_of(
            await call(EDIT, path=path, old_string="KEY", new_string="x")
        )
    assert (ws / "app-old" / "key.txt").read_text() == "KEY"


async def test_file_behind_an_inner_link_is_edited_where_it_is(ws: Path, call: Call) -> None:
    assert (await call(EDIT, path="docs/a.md", old_string="doc", new_string="page")).ok
    assert (ws / "app" / "real-docs" / "a.md").read_text() == "page a"
    assert (ws / "app" / "docs").is_symlink()


async def test_write_that_fails_leaves_the_file_and_no_draft(
    work: Path, refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    (work / "a.py").write_text("one")
    monkeypatch.setattr(os, "rename", full)
    assert await refused("one", "two") == "cannot edit `a.py`: no space left on device"
    assert [file.name for file in work.iterdir()] == ["a.py"]


LINES = st.text(alphabet="ab \n", max_size=15)


@given(text=LINES.filter(lambda text: "\n" in text), old=LINES.filter(bool), new=LINES)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_file_with_crlf_is_edited_like_one_with_lf(work: Path, call: Call, text: str, old: str, new: str) -> None:
    results = []
    for path, end in (("lf", b"\n"), ("crlf", b"\r\n")):
        (work / path).write_bytes(text.encode().replace(b"\n", end))
        called = await call(EDIT, path=path, old_string=old, new_string=new)
        results.append((called.ok, (work / path).read_bytes().replace(b"\r\n", b"\n")))
        assert (work / path).read_bytes().count(b"\n") == (work / path).read_bytes().count(end)
    assert results[0] == results[1]
