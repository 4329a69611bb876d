import asyncio
import os
from pathlib import Path

import pytest

from stepsnb.errors import ResourceError, WorkspaceError
from stepsnb.resources import (
    FileVersionStore,
    ProgramType,
    choose_version,
    fetch_artifact,
    fetch_key,
    refresh_versions,
    resource_scope,
)
from stepsnb.workspace import RunWorkspace, digest_tree, open_shell


def program(**programs: str) -> ProgramType:
    return ProgramType("releases", open_shell=open_shell, **programs)


async def test_versions_are_checked_from_the_newest_known_on(tmp_path: Path) -> None:
    store = FileVersionStore(tmp_path / "store")
    check = """n={{ index .version "n" | default "1" }}; printf '[{"n": "%s"}, {"n": "%s"}]' "$n" "$((n + 1))" """
    releases = program(check=check)
    assert [each.version for each in await refresh_versions(releases, {}, store)] == [{"n": "1"}, {"n": "2"}]
    assert [each.version for each in await refresh_versions(releases, {}, store)] == [{"n": "3"}]
    assert choose_version("latest", store.known(resource_scope("releases", {}))) == {"n": "3"}


async def test_published_version_is_not_what_a_check_goes_on_from(tmp_path: Path) -> None:
    store = FileVersionStore(tmp_path / "store")
    store.add(resource_scope("releases", {}), [{"n": "9"}], from_check=False)
    releases = program(check="""printf '[{"n": "{{ index .version "n" | default "none" }}"}]'""")
    assert [each.version for each in await refresh_versions(releases, {}, store)] == [{"n": "none"}]


async def test_fetched_version_becomes_an_artifact(workspace: RunWorkspace) -> None:
    releases = program(fetch="mkdir d; echo {{ .version.n }} > d/n.txt")
    tree, version = await fetch_artifact(releases, {}, {"n": "7"}, {}, name="app", workspace=workspace)
    assert (tree.name, tree.files, version) == ("app", ("d/n.txt",), {"n": "7"})
    assert (tree.path / "d" / "n.txt").read_text() == "7\n"


async def test_failed_fetch_leaves_nothing_behind(workspace: RunWorkspace) -> None:
    with pytest.raises(ResourceError):
        await fetch_artifact(program(fetch="touch half; exit 1"), {}, {"n": "7"}, {}, name="app", workspace=workspace)
    assert list(workspace.root.rglob("half")) == []
    assert not (workspace.root / "artifacts").exists()


@pytest.mark.parametrize(
    ("fetch", "problem"),
    [
        ("ln -s /etc/passwd p", "`p` is a symbolic link that leads out"),
        ("mkfifo f", "`f` is a named pipe"),
    ],
)
async def test_content_that_no_artifact_can_hold_is_named(workspace: RunWorkspace, fetch: str, problem: str) -> None:
    with pytest.raises(WorkspaceError, match=f"get `app`: {problem}"):
        await fetch_artifact(program(fetch=fetch), {}, {"n": "7"}, {}, name="app", workspace=workspace)


async def test_type_that_needs_a_check_is_not_fetched_without_a_version(workspace: RunWorkspace) -> None:
    with pytest.raises(ResourceError, match="get `app`: its resource has no version yet"):
        await fetch_artifact(program(fetch="true"), {}, None, {}, name="app", workspace=workspace)


async def test_read_only_files_that_were_fetched_can_be_used_by_a_step(workspace: RunWorkspace) -> None:
    releases = program(fetch="mkdir d; echo x > d/f; chmod 444 d/f; chmod 555 d")
    tree, _ = await fetch_artifact(releases, {}, {"n": "7"}, {}, name="app", workspace=workspace)
    step = workspace.open_step("1", {"app": tree}, [])
    assert os.access(step.path / "app" / "d", os.W_OK)
    assert (step.path / "app" / "d" / "f").stat().st_mode & 0o200


def test_key_of_content_is_that_of_all_it_depends_on() -> None:
    key = fetch_key("git", {"uri": "a", "branch": "b"}, {"ref": "1"}, {})
    assert key == fetch_key("git", {"branch": "b", "uri": "a"}, {"ref": "1"}, {})
    others = [
        fetch_key("own", {"uri": "a", "branch": "b"}, {"ref": "1"}, {}),
        fetch_key("git", {"uri": "a"}, {"ref": "1"}, {}),
        fetch_key("git", {"uri": "a", "branch": "b"}, {"ref": "2"}, {}),
        fetch_key("git", {"uri": "a", "branch": "b"}, {"ref": "1"}, {"depth": 2}),
    ]
    assert key not in others


async def test_artifact_is_out_of_reach_of_a_process_that_fetching_left(workspace: RunWorkspace) -> None:
    writer = "n=0; while [ $n -lt 40 ]; do n=$((n+1)); echo x >> f; sleep 0.02; done"
    fetch = f"env -i PATH=$PATH setsid sh -c '{writer}' </dev/null >/dev/null 2>&1 & sleep 0.2"
    tree, _ = await fetch_artifact(program(fetch=fetch), {}, {"n": "7"}, {}, name="app", workspace=workspace)
    await asyncio.sleep(0.2)
    assert digest_tree(tree.path, "app").digest == tree.digest
    workspace.close()
