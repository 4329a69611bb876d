"""`workspace: {cache: {resources: true}}`: the same version is fetched once, and never taken for another one."""

import pytest

import stepsnb

PIPELINE = """
workspace: {cache: {resources: true, max_entries: MAX}}
resource_types:
- name: own
  check: 'echo ''[{"n":"1"},{"n":"2"},{"n":"3"}]'''
  in: echo {{ .version.n }} >> /FOLDER/fetched; echo {{ .source.what }} {{ .version.n }} {{ .params.how }} > is
resources:
- {name: code, type: own, source: {what: a}}
- {name: notes, type: path, source: {path: notes}}
jobs:
- name: build
  plan:
  - {get: code, version: {n: 1}, params: {how: plain}}
  - {task: show, inputs: [code], run: cat code/is}
- name: read
  plan:
  - {get: notes}
  - {task: show, inputs: [notes], run: cat notes/a}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(job="build", max_entries=5, **changed):
        text = PIPELINE.replace("/FOLDER", str(tmp_path)).replace("MAX", str(max_entries))
        for old, new in changed.values():
            assert old in text
            text = text.replace(old, new)
        return stepsnb.load(text).run(job).text.strip()

    return run


def fetched(tmp_path):
    return (tmp_path / "fetched").read_text().split()


def entries(tmp_path):
    return list((tmp_path / ".steps/cache/resources").glob("*.json"))


def test_same_version_is_fetched_once(run, tmp_path):
    assert [run(), run(), run()] == ["a 1 plain"] * 3
    assert fetched(tmp_path) == ["1"]


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("{n: 1}", "{n: 2}", "a 2 plain"),
        ("{what: a}", "{what: b}", "b 1 plain"),
        ("{how: plain}", "{how: fancy}", "a 1 fancy"),
        ("{{ .source.what }} {{", "new {{", "new 1 plain"),
        ("  in: echo", "  env: {WHO: me}\n  in: echo", "a 1 plain"),
    ],
)
def test_whatever_fetching_depends_on_makes_it_another_one(run, tmp_path, old, new, seen):
    run()

    assert run(changed=(old, new)) == seen
    assert len(fetched(tmp_path)) == 2
    assert run() == "a 1 plain"
    assert len(fetched(tmp_path)) == 2


def test_damaged_content_is_fetched_anew(run, tmp_path):
    run()
    (kept,) = (file for file in tmp_path.glob(".steps/artifacts/*/is"))
    kept.chmod(0o600)
    kept.write_text("spoiled")

    assert run(fresh=("cat code/is", "cat code/is; true")) == "a 1 plain"
    assert fetched(tmp_path) == ["1", "1"]


@pytest.mark.parametrize("text", ["", "{}", "no json", '{"path": "artifacts/none", "digest": "x"}'])
def test_entry_that_cannot_be_used_is_made_anew(run, tmp_path, text):
    run()
    (entry,) = entries(tmp_path)
    entry.write_text(text)

    assert [run(), run()] == ["a 1 plain"] * 2
    assert fetched(tmp_path) == ["1", "1"]


def test_only_so_many_are_kept_and_the_last_used_stay(run, tmp_path):
    run(max_entries=2)
    run(max_entries=2, other=("{n: 1}", "{n: 2}"))
    run(max_entries=2)
    run(max_entries=2, other=("{n: 1}", "{n: 3}"))
    run(max_entries=2)

    assert fetched(tmp_path) == ["1", "2", "3"]
    assert len(entries(tmp_path)) == 2


def test_folder_of_ones_own_is_always_read(run, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a").write_text("one")
    assert run("read") == "one"
    (tmp_path / "notes/a").write_text("two")

    assert run("read") == "two"


def test_without_the_key_every_get_fetches(run, tmp_path):
    for _ in range(2):
        run(off=("resources: true, ", ""))

    assert fetched(tmp_path) == ["1", "1"]
