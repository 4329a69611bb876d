"""Text from models, tools, people and files that would like to be more than text, wherever it comes out again."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

import stepsnb

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>[tide](javascript:alert(1)) "
    "\x1b]0;owned\x07\x1b[31mred\x9b2J \u202egnp.exe ((x)) {{ .y }} ../../etc/passwd $(id) `id` <!-- --> ]]> &lt;"
)
FILE = "<img src=x onerror=alert(1)>.txt"

_PIPELINE = """\
agents:
- name: writer
  source: { model: scripted/hostile.yml }
  tools:
  - builtin: ask_user
  - builtin: write_file
  - { python: look_up }
jobs:
- name: good
  plan:
  - agent: writer
    messages: ["((x))"]
    outputs: [report]
    verdicts: [sail, stay]
- name: bad
  plan:
  - { task: fail, run: 'printf "%s" "$TEXT" >&2; exit 3', env: { TEXT: "" } }
"""


def _script() -> str:
    replies = [
        {
            "text": HOSTILE,
            "thinking": HOSTILE,
            "calls": [
                {"name": "look_up", "arguments": {"what": HOSTILE}},
                {"name": "write_file", "arguments": {"path": f"report/{FILE}", "content": HOSTILE}},
                {"name": "ask_user", "arguments": {"question": HOSTILE, "options": [HOSTILE, "no"]}},
            ],
        },
        {"calls": [{"name": "verdict", "arguments": {"verdict": "sail", "note": HOSTILE}}]},
        {"text": HOSTILE},
    ]
    return json.dumps({"version": 1, "replies": replies})


def look_up(what: str) -> str:
    """Look something up."""
    if len(what) > 10_000:
        raise ValueError(what)
    return HOSTILE


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run in which everything is hostile, one that failed so, and a second one to compare with."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.yml").write_text(_script(), encoding="utf-8")
    (folder / "pipeline.yml").write_text(_PIPELINE.replace('TEXT: ""', f"TEXT: {json.dumps(HOSTILE)}"))
    before = Path.cwd()
    os.chdir(folder)
    try:
        pipeline = stepsnb.load("pipeline.yml", vars={"x": HOSTILE}, functions={"look_up": look_up})
        for _ in range(2):
            run = pipeline.run("good", answers={"alert": HOSTILE})
            assert run.outcome == "succeeded", run.error
        assert pipeline.run("bad").outcome == "failed"
    finally:
        os.chdir(before)
    return folder / ".steps"


@pytest.fixture(scope="module")
def run_ids(store: Path) -> dict[str, list[str]]:
    """The runs by their job."""
    runs = stepsnb.runs(store=store)
    return {job: list(runs.loc[runs["job"] == job, "run_id"]) for job in ("good", "bad")}


class _Tags(HTMLParser):
    """Collects what a browser would make elements and attributes of."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def assert_text_only(markup: str) -> None:
    """No element, attribute or link that the hostile text asks for."""
    tags = _Tags()
    tags.feed(markup)
    assert "alert(1)" in markup  # it is there, as text
    for tag, attributes in tags.found:
        assert tag not in ("script", "img", "iframe", "object", "svg")
        assert not [name for name in attributes if name.startswith("on")]
        assert not (attributes.get("href") or "").strip().lower().startswith("javascript")


def assert_no_controls(text: str) -> None:
    """Nothing that steers a terminal."""
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)


FRAMES: dict[str, Callable[[Path, str, str], object]] = {
    "steps": lambda store, run, _: stepsnb.steps(run, store=store),
    "turns": lambda store, run, _: stepsnb.turns(run, store=store),
    "tool_calls": lambda store, run, _: stepsnb.tool_calls(run, store=store),
    "questions": lambda store, run, _: stepsnb.questions(run, store=store),
    "trajectory": lambda store, run, _: stepsnb.trajectory(run, store=store),
    "transcript": lambda store, run, _: stepsnb.transcript(run, store=store),
    "sql": lambda store, run, _: stepsnb.sql("SELECT * FROM turns", store=store),
    "diff": lambda store, run, other: stepsnb.diff(run, other, store=store),
    "show": lambda store, run, _: stepsnb.show(run, store=store),
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_table_and_picture_of_a_run_holds_it_as_text(
    store: Path, run_ids: dict[str, list[str]], name: str
) -> None:
    import pandas as pd

    shown = FRAMES[name](store, run_ids["good"][0], run_ids["good"][1])

    with pd.option_context("display.max_colwidth", None, "display.max_columns", None, "display.max_rows", None):
        assert_text_only(shown._repr_html_())  # type: ignore[attr-defined]
        assert_no_controls(repr(shown))


@pytest.mark.parametrize("job", ["good", "bad"])
@pytest.mark.parametrize(
    "command", [["show"], ["transcript"], ["trajectory"], ["open"], ["runs"], ["sql", "SELECT text FROM turns"]]
)
def test_every_command_prints_it_without_what_steers_a_terminal(
    store: Path, run_ids: dict[str, list[str]], job: str, command: list[str]
) -> None:
    arguments = command if command[0] in ("runs", "sql") else [*command, run_ids[job][0]]
    done = subprocess.run(
        [sys.executable, "-m", "stepsnb.cli.main", *arguments, "--store", str(store)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert_no_controls(done.stdout + done.stderr)
    assert "Traceback" not in done.stderr


def test_a_load_error_quotes_it_without_what_steers_a_terminal(tmp_path: Path) -> None:
    with pytest.raises(stepsnb.StepsError) as raised:
        stepsnb.load(f"jobs:\n- name: {json.dumps(HOSTILE)}\n  pan: []\n{json.dumps(HOSTILE)}: 1\n")

    assert_no_controls(str(raised.value))


def test_a_path_as_an_answer_is_an_answer(store: Path, run_ids: dict[str, list[str]]) -> None:
    questions = stepsnb.questions(run_ids["good"][0], store=store)

    assert "../../etc/passwd" in questions["answer"][0]
    assert not (store / "mailbox" / "passwd").exists()


def test_an_exported_notebook_shows_it_as_text(store: Path, run_ids: dict[str, list[str]], tmp_path: Path) -> None:
    good, bad = run_ids["good"][0], run_ids["bad"][0]
    cells = [
        "%load_ext stepsnb\nimport stepsnb",
        f"%steps show {good} --store '{store}'",
        f"%steps show {bad} --store '{store}'",
        f"%steps transcript {good} --store '{store}'",
        f"%steps diff {good} {bad} --store '{store}'",
        f"%steps trajectory {good} --store '{store}'",
        f"%steps questions --store '{store}'",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()

    exported, _ = HTMLExporter(embed_images=False).from_notebook_node(book)

    outputs = "".join(exported.split('class="jp-Cell-outputWrapper"')[1:])
    assert "alert(1)" in outputs
    tags = _Tags()
    tags.feed(outputs)
    assert not [attributes for tag, attributes in tags.found if tag == "img" and attributes.get("src") == "x"]
    assert not [attributes for _, attributes in tags.found if [name for name in attributes if name.startswith("on")]]
    assert "<script>alert" not in outputs
    assert 'href="javascript' not in outputs
    assert_no_controls(outputs)


def test_the_error_of_a_cell_shows_it_without_what_steers_a_terminal(tmp_path: Path) -> None:
    quoted = json.dumps(f"{HOSTILE}; exit 3")
    cells = [
        "%load_ext stepsnb",
        f"%%steps\njobs: [{{ name: bad, plan: [{{ task: fail, run: exit 3, assert: {{ stdout: {quoted} }} }}] }}]\n",
        f"%%agent {HOSTILE}\n{HOSTILE}",
        f"%steps show '{HOSTILE}'",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(book, timeout=60, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()

    errors = [output for cell in book.cells for output in cell["outputs"] if output["output_type"] == "error"]
    assert len(errors) == 3
    for error in errors:
        assert_no_controls("\n".join([error["evalue"], *error["traceback"]]))
