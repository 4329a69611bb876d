import json
import os
from pathlib import Path

import pytest

from stepsnb.tools.write_file import write_file_tool

from .conftest import Call, error_of

WRITE = write_file_tool()


async def test_file_is_written_and_its_size_reported(work: Path, call: Call) -> None:
    (work / "report").mkdir()
    called = await call(WRITE, path="report/s.md", content="blåbær\n")
    assert json.loads(called.result.content) == {"path": "report/s.md", "bytes_written": 9}
    assert (work / "report" / "s.md").read_text() == "blåbær\n"


async def test_whole_file_is_replaced_and_its_mode_kept(work: Path, call: Call) -> None:
    (work / "run.sh").write_text("a long first text")
    (work / "run.sh").chmod(0o755)
    await call(WRITE, path="run.sh", content="x")
    assert (work / "run.sh").read_text() == "x"
    assert os.access(work / "run.sh", os.X_OK)


async def test_append_adds_to_the_end(work: Path, call: Call) -> None:
    await call(WRITE, path="log", content="one\n", append=True)
    await call(WRITE, path="log", content="two\n", append=True)
    assert (work / "log").read_text() == "one\ntwo\n"


async def test_missing_folder_says_what_to_do(call: Call) -> None:
    assert error_of(await call(WRITE, path="a/b/c.md", content="x")) == (
        "there is no folder `a/b`; write into one that is there, or make it first (run_shell: mkdir -p)"
    )


async def test_folder_is_not_written(work: Path, call: Call) -> None:
    (work / "report").mkdir()
    assert error_of(await call(WRITE, path="report", content="x")) == "`report` is a folder; name a file in it"


async def test_lone_surrogate_is_told(work: Path, call: Call) -> None:
    assert "half of a surrogate pair" in error_of(await call(WRITE, path="a", content="x\ud800"))
    assert not (work / "a").exists()


@pytest.mark.parametrize(
    ("raw", "what"), [(b"caf\xe9", "in cp1252"), (b"\xff\xfeo\0", "in utf-16-le"), (b"\0\1\2", "binary")]
)
async def test_append_does_not_spoil_a_file_in_another_encoding(work: Path, call: Call, raw: bytes, what: str) -> None:
    (work / "menu.txt").write_bytes(raw)
    message = error_of(await call(WRITE, path="menu.txt", content="ø", append=True))
    assert message == f"`menu.txt` is {what}, and adding UTF-8 would spoil it; write another file, or replace this one"
    assert (work / "menu.txt").read_bytes() == raw


@pytest.mark.timeout(10)
async def test_named_pipe_is_refused_without_waiting(work: Path, call: Call) -> None:
    os.mkfifo(work / "pipe")
    assert error_of(await call(WRITE, path="pipe", content="x")) == "`pipe` is a named pipe, not a file"


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("path", ["up/x.txt", "gone", "../x.txt", "..\\app-old\\key.txt", "~/x.txt"])
async def test_write_outside_is_refused_and_creates_nothing(ws: Path, call: Call, path: str, append: bool) -> None:
    before = {p: p.lstat().st_mtime_ns for p in ws.rglob("*")}
    message = error_of(await call(WRITE, path=path, content="x", append=append))
    assert "outside the working directory" in message or "backslash" in message
    assert {p: p.lstat().st_mtime_ns for p in ws.rglob("*")} == before


async def test_write_through_an_inner_link_is_reported_where_it_landed(ws: Path, call: Call) -> None:
    called = await call(WRITE, path="docs/b.md", content="b")
    assert called.result.data == {"path": "real-docs/b.md", "bytes_written": 1}


async def test_append_to_a_long_utf8_file_is_not_taken_for_another_encoding(work: Path, call: Call) -> None:
    (work / "long.txt").write_text("x" + "ø" * 40_000)
    assert (await call(WRITE, path="long.txt", content="y", append=True)).ok
