"""Pipelines without a path and without all their values: picked, and filled in later."""

from pathlib import Path

import pytest

import stepsnb
from stepsnb.errors import ConfigError, InputError

_PIPELINE = "jobs:\n- name: j\n  plan:\n  - task: say\n    run: echo ((word)) $((1 + 1)) ((other))\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one pipeline, and what is none."""
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "sub" / "deep" / "say.yml").write_text(_PIPELINE)
    (tmp_path / "notes.yaml").write_text("just: notes\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "say.yml").write_text(_PIPELINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_load_without_a_path_finds_the_pipelines_below(folder: Path) -> None:
    picker = stepsnb.load()

    assert picker.files == ["sub/deep/say.yml"]
    assert repr(picker) == "pipelines to load:\n  sub/deep/say.yml"


def test_a_folder_without_pipelines_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert "there is no .yml or .yaml file with `jobs:`" in repr(stepsnb.load())


def test_what_is_picked_is_loaded_and_kept(folder: Path) -> None:
    picker = stepsnb.load(vars={"word": "ahoy"})
    with pytest.raises(InputError, match="no pipeline was picked yet"):
        _ = picker.pipeline

    pipeline = picker.pick("sub/deep/say.yml")

    assert picker.pipeline is pipeline
    assert pipeline.open_variables == ("other",)
    assert pipeline.run(vars={"other": "there"}).text == "ahoy 2 there\n"


def test_only_what_was_offered_can_be_picked(folder: Path) -> None:
    with pytest.raises(InputError, match=r"did you mean `sub/deep/say\.yml`"):
        stepsnb.load().pick("sub/deep/say.yaml")


def test_a_variable_left_open_is_asked_for_by_each_run(folder: Path) -> None:
    pipeline = stepsnb.load("sub/deep/say.yml", vars={"word": "ahoy"}, leave_open=True)
    assert pipeline.variables == {"word": "ahoy", "other": None}

    with pytest.raises(ConfigError, match=r"say\.yml:5:10: .*`\(\(other\)\)` has no value"):
        pipeline.run()
    with pytest.raises(ConfigError, match=r"`\(\(other\)\)` has no value"):
        pipeline.plan()


def test_a_variable_that_stands_for_no_text_cannot_be_left_open(folder: Path) -> None:
    (folder / "n.yml").write_text(_PIPELINE.replace("- task", "- attempts: ((n))\n    task"))

    with pytest.raises(ConfigError, match=r"`\(\(n\)\)` has no value"):
        stepsnb.load("n.yml", leave_open=True)
    assert stepsnb.load("n.yml", vars={"n": 2}, leave_open=True).open_variables == ("word", "other")


def test_what_else_is_wrong_is_told_beside_open_variables(folder: Path) -> None:
    (folder / "bad.yml").write_text(_PIPELINE + "    inputs: [missing]\n")

    with pytest.raises(ConfigError, match="missing"):
        stepsnb.load("bad.yml", leave_open=True)
