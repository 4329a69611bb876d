import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stepsnb.errors import ResourceError
from stepsnb.resources import ProgramType
from stepsnb.workspace import open_shell


def make_type(**programs) -> ProgramType:
    return ProgramType("releases", open_shell=open_shell, **programs)


async def test_check_prints_versions_for_its_source() -> None:
    checked = make_type(check="""printf '[{"ref": "%s"}]' {{ .source.repo | shellquote }}""")
    assert await checked.check({"repo": "it's"}, None) == [{"ref": "it's"}]


async def test_check_is_told_the_version_it_goes_on_from() -> None:
    checked = make_type(check="""printf '[{"n": "%s"}]' "{{ index .version "n" | default "none" }}" """)
    assert await checked.check({}, None) == [{"n": "none"}]
    assert await checked.check({}, {"n": "7"}) == [{"n": "7"}]


async def test_check_runs_in_an_empty_folder_that_is_gone_afterwards() -> None:
    checked = make_type(check="""touch f; printf '[{"pwd": "%s", "files": "%s"}]' "$PWD" "$(ls | tr '\\n' ' ')" """)
    (version,) = await checked.check({}, None)
    assert version["files"] == "f "
    assert not Path(version["pwd"]).exists()


async def test_what_a_check_says_on_stderr_is_no_version() -> None:
    assert await make_type(check="echo looking >&2; echo '[]'").check({}, None) == []


async def test_in_fills_the_folder_with_the_version(tmp_path: Path) -> None:
    fetched = make_type(fetch="echo {{ .version.ref }} {{ .params.format }} > {{ .source.name }}.txt")
    await fetched.fetch({"name": "notes"}, {"ref": "a1"}, {"format": "raw"}, tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "a1 raw\n"


async def test_out_runs_among_the_inputs_and_prints_a_version(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "text.md").write_text("done")
    put = make_type(publish="""printf '{"text": "%s", "to": "{{ .params.to }}"}' "$(cat report/text.md)" """)
    assert await put.publish({}, {"to": "ada"}, tmp_path) == {"text": "done", "to": "ada"}


async def test_out_need_not_print_anything(tmp_path: Path) -> None:
    assert await make_type(publish="true").publish({}, {}, tmp_path) is None


async def test_cell_puts_its_coordinates_into_the_program(tmp_path: Path) -> None:
    put = make_type(publish="""printf '{"os": "{{ .vars.os }}"}'""", variables={"os": "linux"})
    assert await put.publish({}, {}, tmp_path) == {"os": "linux"}


async def test_program_sees_the_environment_of_its_type() -> None:
    checked = make_type(check="""printf '[{"mode": "%s"}]' "$MODE" """, env={"MODE": "fast"})
    assert await checked.check({}, None) == [{"mode": "fast"}]


async def test_program_that_fails_said_no(tmp_path: Path) -> None:
    with pytest.raises(ResourceError) as caught:
        await make_type(fetch="echo no such release >&2; exit 4").fetch({}, {"n": "1"}, {}, tmp_path)
    assert str(caught.value) == "resource type `releases`, `in:`: ended with exit code 4: no such release"
    assert caught.value.has_failed


async def test_missing_key_is_named_and_nothing_runs(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"`in:`: line 1, column 12: there is no `\.source\.uri`") as caught:
        await make_type(fetch="touch f {{ .source.uri }}").fetch({"url": "x"}, {"n": "1"}, {}, tmp_path)
    assert not caught.value.has_failed
    assert list(tmp_path.iterdir()) == []


async def test_type_without_a_program_says_which(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="resource type `releases` has no `out:`"):
        await make_type(check="echo '[]'").publish({}, {}, tmp_path)


async def test_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"`in:`: timed out after 0\.2 s") as caught:
        await make_type(fetch="sleep 60", timeout_s=0.2).fetch({}, {"n": "1"}, {}, tmp_path)
    assert caught.value.has_failed


async def test_check_has_a_time_of_its_own() -> None:
    with pytest.raises(ResourceError, match=r"`check:`: timed out after 0\.2 s"):
        await make_type(check="sleep 60", check_timeout_s=0.2).check({}, None)


async def test_output_without_end_is_refused_not_kept() -> None:
    with pytest.raises(ResourceError, match=r"printed [0-9,]+ bytes; at most 4,000,000 are read"):
        await make_type(check="yes '[]' | head -c 5000000").check({}, None)


async def test_stopped_program_leaves_nothing_running(tmp_path: Path) -> None:
    fetched = make_type(fetch="touch began; while :; do echo x >> late; sleep 0.05; done")
    task = asyncio.create_task(fetched.fetch({}, {"n": "1"}, {}, tmp_path))
    while not (tmp_path / "late").exists():
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    size = (tmp_path / "late").stat().st_size
    await asyncio.sleep(0.3)
    assert (tmp_path / "late").stat().st_size == size


async def test_programs_run_in_the_shell_of_the_type(tmp_path: Path) -> None:
    opened = []

    @asynccontextmanager
    async def own_shell(folder: Path):
        opened.append(folder)
        async with open_shell(folder) as shell:
            yield shell

    await ProgramType("t", fetch="true", open_shell=own_shell).fetch({}, {"n": "1"}, {}, tmp_path)
    assert opened == [tmp_path]
