"""Notebooks that run without a front end: nbclient, as papermill and nbval use it."""

import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import stepsnb

from . import pipelines

THREADS = "print(sorted(t.name for t in __import__('threading').enumerate()))"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    pipelines.write_files(tmp_path)


def notebook(*cells: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])


def execute(folder: Path, *cells: str, allow_errors: bool = False) -> nbformat.NotebookNode:
    book = notebook("%load_ext stepsnb", *cells)
    NotebookClient(book, timeout=60, allow_errors=allow_errors, resources={"metadata": {"path": str(folder)}}).execute()
    return book


def questions(folder: Path) -> list[tuple[str, str | None, str | None]]:
    frame = stepsnb.questions(store=folder / ".steps")
    rows = frame[["question", "answer", "source"]].itertuples(index=False)
    return [tuple(value if isinstance(value, str) else None for value in row) for row in rows]  # type: ignore[misc]


def test_a_question_nobody_can_answer_is_a_typed_error_that_names_it(tmp_path: Path) -> None:
    book = execute(
        tmp_path,
        "%%steps\n" + pipelines.HELLO,
        THREADS,
        "import time; began = time.monotonic()",
        "%%steps\n" + pipelines.ASK,
        "print(time.monotonic() - began < 5)",
        THREADS,
        allow_errors=True,
    )

    *shown, error = book.cells[4].outputs
    assert [o.output_type for o in shown] == ["display_data"]
    assert error.ename == "Aborted"
    assert error.evalue == (
        "job `port`: step `writer` aborted: agent `writer` asked `Which port?` and nobody is here to answer; "
        "answer it in advance with `--answer 'Which port=…'` (in Python `answers=`), or give the grant a `default:`"
    )
    assert error.traceback == [f"Aborted: {error.evalue}"]
    assert book.cells[5].outputs[0].text == "True\n"
    assert book.cells[6].outputs[0].text == book.cells[2].outputs[0].text
    assert list(stepsnb.runs(store=tmp_path / ".steps")["outcome"]) == ["aborted", "succeeded"]


def test_run_all_stops_at_a_run_that_did_not_succeed(tmp_path: Path) -> None:
    began = time.monotonic()

    with pytest.raises(CellExecutionError, match=r"nobody is here to answer"):
        execute(tmp_path, "%%steps\n" + pipelines.ASK, "raise RuntimeError('not reached')")

    assert time.monotonic() - began < 30


def test_a_list_of_answers_completes(tmp_path: Path) -> None:
    book = execute(
        tmp_path, f"import stepsnb\nr = stepsnb.load({pipelines.ASK!r}).run(answers=['B'])\nprint(r.outcome, r.text)"
    )

    assert book.cells[1].outputs[0].text == "succeeded The port is set.\n"
    assert questions(tmp_path) == [("Which port?", "B", "given")]


@pytest.mark.parametrize("option", ["--answer B", "--answer 'which PORT=B'"])
def test_an_answer_on_the_magics_line_completes(tmp_path: Path, option: str) -> None:
    book = execute(tmp_path, f"%%steps {option}\n" + pipelines.ASK)

    assert [o.output_type for o in book.cells[1].outputs] == ["display_data"]
    assert questions(tmp_path) == [("Which port?", "B", "given")]


def test_one_answer_is_not_used_for_a_second_question(tmp_path: Path) -> None:
    twice = pipelines.ASK.replace("ask.yml", "ask_twice.yml")

    book = execute(tmp_path, "%%steps --answer B\n" + twice, allow_errors=True)

    error = book.cells[1].outputs[-1]
    assert "question `Which host?`: all 1 answers given in advance are used; add one to the list" in error.evalue
    assert questions(tmp_path) == [("Which port?", "B", "given"), ("Which host?", None, None)]
