import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepsnb.messages import ToolCall
from stepsnb.settings import INLINE_OUTPUT_BYTES, SPILL_CEILING_BYTES, SPILL_POINTER_BYTES
from stepsnb.tools import Called, ToolContext, call_tool, python_tool
from stepsnb.tools.read_file import read_file_tool
from stepsnb.tools.spill import preview, spill
from stepsnb.workspace import Root

from .conftest import Call


async def test_long_result_is_replaced_by_a_pointer_to_its_file(work: Path, call: Call) -> None:
    text = "".join(f"line {n}\n" for n in range(10_000))

    def report() -> str:
        return text

    called = await call(python_tool(report))
    content = called.result.content
    assert called.spilled_to == ".steps-output/call_1.txt"
    assert called.truncated
    assert called.ok
    assert content.startswith(f'<persistent_file path=".steps-output/call_1.txt" bytes="{len(text)}">\n')
    assert "line 0\nline 1\n" in content
    assert content.endswith("line 9999\n\n</persistent_file>")
    assert len(content.encode()) < SPILL_POINTER_BYTES
    assert (work / ".steps-output" / "call_1.txt").read_text() == text
    read = await call(read_file_tool(), path=called.spilled_to)
    assert read.result.content == text


@pytest.mark.parametrize(("size", "spills"), [(INLINE_OUTPUT_BYTES, False), (INLINE_OUTPUT_BYTES + 1, True)])
async def test_bound_is_the_inline_size_in_bytes(call: Call, size: int, spills: bool) -> None:
    def report() -> str:
        return "ø" * (size // 2) + "x" * (size % 2)

    assert ((await call(python_tool(report))).spilled_to is not None) == spills


async def test_long_json_is_saved_with_lines_to_page_through(work: Path, call: Call) -> None:
    def report() -> list[int]:
        return list(range(20_000))

    called = await call(python_tool(report))
    assert called.spilled_to is not None
    saved = (work / called.spilled_to).read_text()
    assert json.loads(saved) == list(range(20_000))
    assert saved.count("\n") > 20_000


async def test_long_error_is_spilled_and_stays_an_error(call: Call) -> None:
    def fail() -> None:
        raise ValueError("x" * 40_000)

    called = await call(python_tool(fail))
    assert not called.ok
    assert called.spilled_to is not None


def test_call_ids_that_repeat_or_are_odd_get_files_of_their_own(work: Path) -> None:
    root = Root(work)
    paths = [spill("text", call_id=call_id, root=root)[0] for call_id in ("c", "c", "../../x y", "", "i" * 500)]
    assert paths == [
        ".steps-output/c.txt",
        ".steps-output/c-2.txt",
        ".steps-output/______x_y.txt",
        ".steps-output/output.txt",
        f".steps-output/{'i' * 60}.txt",
    ]


def test_no_more_than_the_ceiling_is_kept_and_said(work: Path) -> None:
    path, pointer = spill("ø" * SPILL_CEILING_BYTES, call_id="c", root=Root(work))
    assert (work / path).stat().st_size == SPILL_CEILING_BYTES
    assert "Only the first 10,000,000 of 20,000,000 bytes were kept." in pointer


def link_folder(work: Path, outside: Path) -> None:
    (work / ".steps-output").symlink_to(outside)


def link_file(work: Path, outside: Path) -> None:
    (work / ".steps-output").mkdir()
    (work / ".steps-output" / "call_1.txt").symlink_to(outside / "new.txt")


@pytest.mark.parametrize("put", [link_folder, link_file])
async def test_nothing_is_saved_through_a_link(work: Path, tmp_path: Path, call: Call, put) -> None:
    (tmp_path / "outside").mkdir()
    put(work, tmp_path / "outside")

    def report() -> str:
        return "secret " * 10_000

    called = await call(python_tool(report))
    assert list((tmp_path / "outside").iterdir()) == []
    assert called.truncated


async def test_result_that_cannot_be_saved_is_cut_and_says_so(tmp_path: Path) -> None:
    def report() -> str:
        return "x" * 40_000

    ctx = ToolContext(root=Root(tmp_path / "gone"))
    called: Called = await call_tool(python_tool(report), ToolCall("c", "report", ""), ctx)
    assert (called.ok, called.truncated, called.spilled_to) == (True, True, None)
    assert "saving it failed: no such file or directory." in called.result.content
    assert len(called.result.content.encode()) < SPILL_POINTER_BYTES


@given(text=st.text(min_size=1).map(lambda part: part * (40_000 // len(part))), call_id=st.text(max_size=200))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pointer_is_always_short_and_names_a_file_inside(work: Path, text: str, call_id: str) -> None:
    path, pointer = spill(text, call_id=call_id, root=Root(work))
    assert len(pointer.encode()) < SPILL_POINTER_BYTES
    assert Root(work).resolve(path).read_bytes() == text.encode("utf-8", "backslashreplace")
    assert len(preview(text, "no space left on device").encode()) < SPILL_POINTER_BYTES


@given(st.integers(1, 40_000), st.sampled_from(["§", "😀"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pointer_shows_no_more_than_it_may(tmp_path: Path, max_bytes: int, unit: str) -> None:
    text = unit * (max_bytes // len(unit.encode()) + 10)
    _, pointer = spill(text, call_id="c", root=Root(tmp_path), max_bytes=max_bytes)
    assert len(pointer.encode()) < SPILL_POINTER_BYTES
    assert pointer.count(unit) <= max_bytes // len(unit.encode())
