"""Prompts are tried, compared and looked at again from cells."""

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from stepsnb.errors import InputError, StepsError


@pytest.fixture
def loaded(shell: InteractiveShell, tmp_path: Path, scripted_llm):
    """A shell with a pipeline loaded, whose model says what the test tells it."""
    (tmp_path / "p.yml").write_text(f"""
agents: [{{name: writer, source: {{model: {scripted_llm.model}}}, tools: []}}]
jobs: [{{name: j, plan: [{{agent: writer, prompt: x}}, {{task: t, run: 'echo hi > o/a.txt', outputs: [o]}}]}}]
""")
    shell.run_line_magic("steps", "load p.yml")
    return shell


def test_variants_are_shown_as_a_table_and_kept(loaded, scripted_llm, capsys) -> None:
    scripted_llm.says("Cool.").says("Warm.")

    loaded.run_cell_magic("agent", "writer --vary temperature=0,1 --as tried", "Write.")

    table = loaded.user_ns["tried"].df()
    assert sorted(table["text"]) == ["Cool.", "Warm."]
    assert list(table["temperature"]) == ["0", "1"]
    assert "temperature" in capsys.readouterr().out


def test_line_of_dashes_parts_the_messages_to_try(loaded, scripted_llm) -> None:
    for _ in range(2):
        scripted_llm.says("Done.")

    loaded.run_cell_magic("agent", "writer --vary temperature=0 --as tried", "Be short.\n---\nBe long.")

    assert sorted(body["messages"][-1]["content"] for body in scripted_llm.requests) == ["Be long.", "Be short."]
    assert list(loaded.user_ns["tried"].df()["message"]) == [1, 2]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("writer --vary temperature", "says nothing to try"),
        ("writer --vary heat=1", "unknown dial `heat`"),
        ("writer --verdicts good bad", "goes with `--vary`"),
    ],
)
def test_what_cannot_be_tried_is_one_line(loaded, scripted_llm, line: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        loaded.run_cell_magic("agent", line, "Write.")
    assert scripted_llm.request_count == 0


def test_last_run_is_compared_shown_and_opened(loaded, scripted_llm) -> None:
    scripted_llm.says("One.").says("Two.")
    first = loaded.run_line_magic("steps", "run")
    second = loaded.run_line_magic("steps", "run")

    compared = loaded.run_line_magic("steps", f"diff {first.run_id}")
    shown = loaded.run_line_magic("steps", "show")
    opened = loaded.run_line_magic("steps", "open o/a.txt")

    assert (compared.a, compared.b) == (first.run_id, second.run_id)
    assert compared.df().query("what == 'response' and not same")["b"].tolist() == ["Two."]
    assert (shown.run_id, shown.text) == (second.run_id, "Two.")
    assert opened.text == "hi\n"


def test_store_is_asked_cleaned_and_read_with_sql(loaded, scripted_llm) -> None:
    for _ in range(3):
        scripted_llm.says("One.")
        loaded.run_line_magic("steps", "run")

    assert len(loaded.run_line_magic("steps", "store clean --keep 1")) == 2
    assert loaded.run_line_magic("steps", "sql select count(*) as n from runs")["n"].tolist() == [1]
    assert loaded.run_line_magic("steps", "store").set_index("part").loc["spools", "files"] >= 1


def test_pipelines_are_checked_and_tested_in_a_cell(loaded, scripted_llm) -> None:
    scripted_llm.says("One.")

    assert loaded.run_line_magic("steps", "validate p.yml")["valid"].tolist() == [True]
    assert loaded.run_line_magic("steps", "test")["outcome"].tolist() == ["succeeded"]
    assert loaded.run_line_magic("steps", "schema")["type"] == "object"


def test_cell_is_recorded_and_replayed(loaded, scripted_llm, tmp_path: Path) -> None:
    scripted_llm.says("Recorded.")
    first = loaded.run_cell_magic("agent", "writer --record tape.yml", "Write.")

    again = loaded.run_cell_magic("agent", "writer --replay tape.yml", "Write.")

    assert (first.text, again.text, scripted_llm.request_count) == ("Recorded.", "Recorded.", 1)
    with pytest.raises(StepsError, match=r"message 2 is another one: recorded `user: Write\.`, now `user: Wrote\.`"):
        loaded.run_cell_magic("agent", "writer --replay tape.yml", "Wrote.")


def test_last_run_is_frozen_into_its_file(loaded, scripted_llm, tmp_path: Path) -> None:
    scripted_llm.says("One.")
    loaded.run_line_magic("steps", "run")

    frozen = loaded.run_line_magic("steps", "freeze --write")

    assert "assert: { code: 0, files: [o/a.txt] }" in (tmp_path / "p.yml").read_text("utf-8")
    assert "+" in repr(frozen)
