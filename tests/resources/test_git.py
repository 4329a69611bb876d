import shutil
from pathlib import Path

import pytest

from stepsnb.errors import ResourceError
from stepsnb.resources import GitType, fetch_artifact
from stepsnb.resources.git_program import without_credentials
from stepsnb.workspace import RunWorkspace, digest_tree

from .conftest import commit


@pytest.fixture
def type_(tmp_path: Path) -> GitType:
    return GitType("repo", base_dir=tmp_path, timeout_s=60)


@pytest.fixture
def refs(git, repository: Path) -> list[str]:
    return git(repository, "rev-list", "--reverse", "HEAD").split()


@pytest.fixture
def bare(tmp_path: Path, git, repository: Path) -> Path:
    """A bare clone, which can be pushed to."""
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    return tmp_path / "bare.git"


def source(repository: Path, **more: str) -> dict[str, str]:
    return {"uri": str(repository), "branch": "main", **more}


async def test_first_check_gives_the_newest_commit(type_, repository, refs) -> None:
    assert await type_.check(source(repository), None) == [{"ref": refs[2]}]


async def test_later_check_gives_the_commits_since_oldest_first(type_, repository, refs) -> None:
    assert await type_.check(source(repository), {"ref": refs[0]}) == [{"ref": refs[1]}, {"ref": refs[2]}]


async def test_check_without_news_gives_what_is_known(type_, repository, refs) -> None:
    assert await type_.check(source(repository), {"ref": refs[2]}) == [{"ref": refs[2]}]


async def test_merged_branch_is_one_new_commit(type_, repository, refs, git) -> None:
    git(repository, "checkout", "--quiet", "-b", "side")
    commit(git, repository, "four")
    commit(git, repository, "five")
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "side", "-m", "merge")
    assert await type_.check(source(repository), {"ref": refs[2]}) == [{"ref": git(repository, "rev-parse", "main")}]


async def test_commit_that_was_pushed_away_gives_the_newest(type_, repository, refs, git) -> None:
    git(repository, "reset", "--quiet", "--hard", refs[0])
    other = commit(git, repository, "other")
    assert await type_.check(source(repository), {"ref": refs[2]}) == [{"ref": other}]


async def test_branch_left_out_is_the_repositorys_own(type_, repository, refs, git) -> None:
    git(repository, "branch", "--move", "main", "trunk")
    assert await type_.check({"uri": str(repository)}, None) == [{"ref": refs[2]}]


@pytest.mark.parametrize("form", ["{}", "file://{}"])
async def test_local_repository_is_named_by_path_or_url(type_, repository, refs, form: str) -> None:
    assert await type_.check({"uri": form.format(repository), "branch": "main"}, None) == [{"ref": refs[2]}]


async def test_path_starts_at_the_pipelines_folder(type_, repository, refs) -> None:
    assert await type_.check({"uri": "project", "branch": "main"}, None) == [{"ref": refs[2]}]


async def test_fetch_gives_exactly_the_commit(type_, repository, refs, tmp_path, git) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    await type_.fetch(source(repository), {"ref": refs[1]}, {}, folder)
    assert sorted(each.name for each in folder.iterdir()) == [".git", "one.txt", "two.txt"]
    assert git(folder, "rev-parse", "HEAD") == refs[1]
    assert git(folder, "branch", "--show-current") == "main"
    assert git(folder, "status", "--porcelain") == ""


@pytest.mark.parametrize(("params", "commits"), [({}, 1), ({"depth": "2"}, 2), ({"depth": 0}, 3)])
async def test_history_is_as_deep_as_asked_for(type_, repository, refs, tmp_path, git, params, commits) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    await type_.fetch({"uri": f"file://{repository}", "branch": "main"}, {"ref": refs[2]}, params, folder)
    assert len(git(folder, "rev-list", "HEAD").split()) == commits


async def test_commit_is_found_by_the_beginning_of_its_name(type_, repository, refs, tmp_path, git) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    await type_.fetch(source(repository), {"ref": refs[0][:10]}, {}, folder)
    assert git(folder, "rev-parse", "HEAD") == refs[0]


async def test_server_that_gives_no_commit_by_name_is_asked_for_the_branch(
    type_, bare, refs, tmp_path, git, monkeypatch
) -> None:
    monkeypatch.setenv("GIT_PROTOCOL", "version=0")
    git(bare, "config", "uploadpack.allowAnySHA1InWant", "false")
    folder = tmp_path / "out"
    folder.mkdir()
    await type_.fetch({"uri": f"file://{bare}", "branch": "main"}, {"ref": refs[0]}, {}, folder)
    assert git(folder, "rev-parse", "HEAD") == refs[0]


async def test_commit_that_is_not_there_is_named(type_, repository, refs, tmp_path) -> None:
    missing = "0" * 39 + "1"
    with pytest.raises(ResourceError, match=f"there is no commit `{missing}` on branch `main`"):
        await _fetch(type_, repository, missing, tmp_path)


async def _fetch(type_: GitType, repository: Path, ref: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    await type_.fetch(source(repository), {"ref": ref}, {}, tmp_path / "out")


@pytest.mark.parametrize("ref", ["--upload-pack=touch x", "main", "", "../x"])
async def test_version_that_is_no_commit_is_refused(type_, repository, tmp_path, ref: str) -> None:
    with pytest.raises(ResourceError, match="is no commit"):
        await _fetch(type_, repository, ref, tmp_path)


async def test_same_commit_is_the_same_artifact(type_, repository, refs, tmp_path) -> None:
    digests = []
    for name in ("first", "second"):
        workspace = RunWorkspace(tmp_path / name, "r")
        tree, _ = await fetch_artifact(
            type_, source(repository), {"ref": refs[2]}, {}, name="repo", workspace=workspace
        )
        digests.append(tree.digest)
        workspace.close()
    assert digests[0] == digests[1]


async def test_repository_around_the_store_is_not_asked(type_, repository, refs, tmp_path, git) -> None:
    around = tmp_path / "around"
    (around / "store").mkdir(parents=True)
    git(around, "init", "--quiet")
    for name in ("origin", "stepsnb"):
        git(around, "remote", "add", name, str(tmp_path / "elsewhere"))
    await type_.fetch({"uri": str(repository)}, {"ref": refs[2]}, {}, around / "store")
    assert git(around / "store", "rev-parse", "--show-toplevel") == str(around / "store")
    assert git(around / "store", "rev-parse", "HEAD") == refs[2]


async def test_put_pushes_what_an_input_has_checked_out(type_, bare, refs, tmp_path, git) -> None:
    folder = tmp_path / "step"
    (folder / "repo").mkdir(parents=True)
    await type_.fetch(source(bare), {"ref": refs[2]}, {}, folder / "repo")
    new = commit(git, folder / "repo", "four")
    assert await type_.publish(source(bare), {}, folder) == {"ref": new}
    assert git(bare, "rev-parse", "main") == new
    assert await type_.check(source(bare), {"ref": refs[2]}) == [{"ref": new}]


async def test_put_pushes_to_another_branch(type_, bare, refs, tmp_path, git) -> None:
    (tmp_path / "step").mkdir()
    shutil.copytree(tmp_path / "project", tmp_path / "step" / "repo")
    (tmp_path / "step" / "other").mkdir()
    version = await type_.publish(source(bare), {"branch": "release", "repository": "repo"}, tmp_path / "step")
    assert version == {"ref": refs[2]}
    assert git(bare, "rev-parse", "release") == refs[2]


async def test_push_that_would_lose_commits_is_refused_unless_forced(type_, bare, refs, tmp_path, git) -> None:
    (tmp_path / "step").mkdir()
    shutil.copytree(tmp_path / "project", tmp_path / "step" / "repo")
    git(tmp_path / "step" / "repo", "reset", "--quiet", "--hard", refs[0])
    commit(git, tmp_path / "step" / "repo", "other")
    with pytest.raises(ResourceError, match=r"`git push` .*rejected.*; get the newest commit") as caught:
        await type_.publish(source(bare), {}, tmp_path / "step")
    assert caught.value.has_failed
    assert git(bare, "rev-parse", "main") == refs[2]
    await type_.publish(source(bare), {"force": "true"}, tmp_path / "step")
    assert git(bare, "rev-parse", "main") != refs[2]


async def test_put_runs_nothing_that_an_input_configures(type_, bare, tmp_path, git) -> None:
    (tmp_path / "step").mkdir()
    shutil.copytree(tmp_path / "project", tmp_path / "step" / "repo")
    repo = tmp_path / "step" / "repo"
    hook = repo / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "credential.helper", "uploadpack.packObjectsHook"):
        git(repo, "config", key, f"touch {tmp_path}/hooked")
    await type_.publish(source(bare), {"branch": "x"}, tmp_path / "step")
    assert not (tmp_path / "hooked").exists()


async def test_put_says_what_to_name_when_no_input_or_several_are_repositories(type_, bare, tmp_path, git) -> None:
    step = tmp_path / "step"
    step.mkdir()
    with pytest.raises(ResourceError, match=r"params: \{repository: INPUT\}`; found none of its inputs"):
        await type_.publish(source(bare), {}, step)
    for name in ("a", "b"):
        shutil.copytree(tmp_path / "project", step / name)
    with pytest.raises(ResourceError, match="found a, b"):
        await type_.publish(source(bare), {}, step)
    with pytest.raises(ResourceError, match="is outside the working directory"):
        await type_.publish(source(bare), {"repository": "../project"}, step)


async def test_missing_branch_is_named(type_, repository) -> None:
    with pytest.raises(ResourceError, match="has no branch `nope`"):
        await type_.check({"uri": str(repository), "branch": "nope"}, None)


async def test_missing_repository_is_an_error_not_a_no(type_, tmp_path) -> None:
    with pytest.raises(ResourceError, match="`git ls-remote`") as caught:
        await type_.check({"uri": str(tmp_path / "nothing"), "branch": "main"}, None)
    assert not caught.value.has_failed


async def test_credentials_are_in_no_message(type_) -> None:
    with pytest.raises(ResourceError) as caught:
        await type_.check({"uri": "http://ada:s3cret@127.0.0.1:1/project.git", "branch": "main"}, None)
    assert "s3cret" not in str(caught.value)
    assert "ada" not in str(caught.value)
    assert "http://127.0.0.1:1/project.git" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://ada:pw@host/x.git", "https://host/x.git"),
        ("https://ghp_token@host/x", "https://host/x"),
        ("fatal: unable to access 'https://a:b@h/': no", "fatal: unable to access 'https://h/': no"),
        ("git@host:project.git", "git@host:project.git"),
        ("https://host/a@b", "https://host/a@b"),
    ],
)
def test_user_and_password_are_taken_out_of_urls_only(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"branch": "main"}, "`uri:` must name a repository"),
        ({"uri": "--upload-pack=x"}, "`uri:` must name a repository"),
        ({"uri": "x", "brnach": "main"}, "did you mean `branch`"),
        ({"uri": "x", "branch": ""}, "`branch:` must be the name of a branch"),
    ],
)
async def test_source_that_says_something_else_is_refused(type_, given, problem: str) -> None:
    with pytest.raises(ResourceError, match=problem):
        await type_.check(given, None)


async def test_machine_without_git_says_so(type_, repository, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ResourceError, match="needs the program `git`, which is not on PATH"):
        await type_.check(source(repository), None)


async def test_artifact_of_a_commit_holds_no_place_it_came_from(type_, repository, refs, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    await type_.fetch(source(repository), {"ref": refs[2]}, {}, tmp_path / "out")
    texts = [path.read_bytes() for path in (tmp_path / "out" / ".git").iterdir() if path.is_file()]
    assert not any(str(repository).encode() in text for text in texts)
    assert digest_tree(tmp_path / "out", "repo").files
