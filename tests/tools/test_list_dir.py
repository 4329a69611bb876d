import json
from pathlib import Path

from stepsnb.settings import INLINE_OUTPUT_BYTES
from stepsnb.tools.list_dir import list_dir_tool

from .conftest import Call, error_of

LIST = list_dir_tool()


async def test_entries_come_sorted_with_type_and_size(work: Path, call: Call) -> None:
    (work / "b.txt").write_text("four")
    (work / "a").mkdir()
    assert json.loads((await call(LIST)).result.content) == {
        "path": ".",
        "entries": [{"name": "a", "type": "folder"}, {"name": "b.txt", "type": "file", "bytes": 4}],
        "total": 2,
        "truncated": False,
    }


async def test_folder_may_be_named(work: Path, call: Call) -> None:
    (work / "docs" / "deep").mkdir(parents=True)
    data = (await call(LIST, path="./docs/")).result.data
    assert data is not None
    assert (data["path"], data["entries"]) == ("docs", [{"name": "deep", "type": "folder"}])


async def test_links_say_where_they_lead_only_inside(ws: Path, call: Call) -> None:
    data = (await call(LIST)).result.data
    assert data is not None
    assert data["entries"] == [
        {"name": "docs", "type": "link", "to": "real-docs"},
        {"name": "gone", "type": "link", "to": None},
        {"name": "real-docs", "type": "folder"},
        {"name": "up", "type": "link", "to": None},
    ]


async def test_folder_outside_is_refused(ws: Path, call: Call) -> None:
    assert "`up` is outside the working directory" in error_of(await call(LIST, path="up"))


async def test_many_entries_are_cut_and_counted(work: Path, call: Call) -> None:
    for number in range(1_200):
        (work / f"f{number:04}").touch()
    called = await call(LIST)
    data = called.result.data
    assert data is not None
    assert (data["total"], data["truncated"], called.truncated, called.spilled_to) == (1_200, True, True, None)
    assert 500 < len(data["entries"]) <= 1_000


async def test_long_names_never_spill(work: Path, call: Call) -> None:
    for number in range(200):
        (work / f"{number:03}{'ø' * 120}").touch()
    called = await call(LIST)
    assert len(called.result.content.encode()) < INLINE_OUTPUT_BYTES
    assert called.truncated


async def test_file_points_to_read_file(work: Path, call: Call) -> None:
    (work / "a.txt").touch()
    assert error_of(await call(LIST, path="a.txt")) == "`a.txt` is not a folder; read_file reads files"


async def test_missing_folder_is_told(call: Call) -> None:
    assert error_of(await call(LIST, path="nope")) == "there is no `nope`; list_dir shows what is there"
