"""The magics through a real shell: what each does, and the message when it cannot."""

from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from stepsnb.errors import Aborted, ConfigError, InputError, StepsError
from stepsnb.notebook.loaded import MagicOptions
from stepsnb.notebook.magics import CELL_MAGICS, VERBS, is_step_list

from . import pipelines


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    pipelines.write_files(tmp_path)


class Cells:
    """Runs magics as cells do."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def line(self, text: str) -> Any:
        return self.shell.run_line_magic("steps", text)

    def cell(self, line: str, body: str, magic: str = "steps") -> Any:
        return self.shell.run_cell_magic(magic, line, body)


@pytest.fixture
def cells(shell: InteractiveShell) -> Cells:
    return Cells(shell)


def test_a_cell_runs_its_only_job(cells: Cells) -> None:
    run = cells.cell("", pipelines.HELLO)

    assert (run.job, run.outcome, run.text) == ("hello", "succeeded", "Tides rise and fall with the moon.")


def test_a_terminal_shows_the_result_as_text(cells: Cells, capsys: pytest.CaptureFixture[str]) -> None:
    cells.cell("", pipelines.HELLO)

    assert "Tides rise and fall with the moon." in capsys.readouterr().out


def test_job_picks_one_of_several(cells: Cells) -> None:
    two = "jobs:\n- name: a\n  plan: [{task: t, run: echo a}]\n- name: b\n  plan: [{task: t, run: echo b}]\n"

    assert cells.cell("--job b", two).text == "b\n"


def test_problems_name_the_line_as_the_cell_shows_it(cells: Cells) -> None:
    with pytest.raises(ConfigError, match=r"^cell:4:3: .*`modl`"):
        cells.cell("", pipelines.HELLO.replace("  source: { model:", "  modl: x\n  source: { model:"))


def test_a_person_sees_the_message_alone(cells: Cells) -> None:
    with pytest.raises(ConfigError) as caught:
        cells.cell("", "jobz: []\n")

    assert caught.value._render_traceback_() == [f"ConfigError: {caught.value}"]


def test_variables_fill_placeholders(cells: Cells) -> None:
    cells.shell.run_cell("place = 'quay'")

    run = cells.cell("--use place", "jobs:\n- name: j\n  plan: [{task: t, run: 'echo ((place))'}]\n")

    assert run.text == "quay\n"


def test_an_unknown_variable_is_named(cells: Cells) -> None:
    cells.shell.run_cell("place = 'quay'")

    with pytest.raises(InputError, match=r"^`--use plase`: unknown Python variable `plase` \(did you mean `place`\?\)"):
        cells.cell("--use plase", pipelines.HELLO)


def test_answers_of_both_kinds_are_refused(cells: Cells) -> None:
    with pytest.raises(InputError, match="use one of the two for all"):
        cells.cell("--answer B --answer port=A", pipelines.ASK)


@pytest.mark.parametrize(
    ("name", "why"), [("get_ipython", "is IPython's own; choose another name"), ("class", "is not a Python name")]
)
def test_a_result_is_not_kept_where_it_would_do_harm(cells: Cells, name: str, why: str) -> None:
    with pytest.raises(InputError, match=f"`{name}` {why}"):
        cells.cell(f"--as {name}", pipelines.HELLO)


def test_an_answer_in_advance_is_given(cells: Cells) -> None:
    assert cells.cell("--answer PORT=A", pipelines.ASK).text == "The port is set."


def test_functions_of_the_notebook_are_tools(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "tool.yml").write_text(
        "version: 1\nreplies:\n- calls: [{name: tide_at, arguments: {port: quay}}]\n- {expect: 4.1 m, text: High.}\n"
    )
    cells.shell.run_cell('def tide_at(port: str) -> str:\n    "The tide."\n    return port + ": 4.1 m"')
    pipeline = (
        "agents:\n- name: a\n  source: {model: scripted/tool.yml}\n  tools: [{python: tide_at}]\n"
        "jobs:\n- name: j\n  plan: [{agent: a, messages: [How high?]}]\n"
    )

    assert cells.cell("", pipeline).text == "High."


def test_next_carries_artifacts_and_the_last_step_ends_the_run(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")

    first, second, third = cells.line("next"), cells.line("next"), cells.line("next")

    assert [first.outcome, second.outcome, third.outcome] == [None, None, "succeeded"]
    assert second.text == "It says spring tide."
    assert [s.text for s in third.steps][-1] == "2\n"
    assert first.run_id == third.run_id


def test_loading_again_ends_the_run_that_was_left_open(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")
    left = cells.line("next")

    cells.line("load relay_pipeline.yml")

    assert cells.line("runs").set_index("run_id").loc[left.run_id, "outcome"] == "aborted"


def test_a_loaded_pipeline_shows_its_jobs_and_agents(cells: Cells, tmp_path: Path) -> None:
    described = pipelines.RELAY.replace("- name: reader", "- name: reader\n  description: reads <files>")
    (tmp_path / "relay_pipeline.yml").write_text(described)

    shown, _ = cells.shell.display_formatter.format(cells.line("load relay_pipeline.yml"))

    assert shown["text/plain"] == (
        "job relay: write (task) → reader → count (task)\nagent reader: scripted/relay.yml · reads <files>"
    )
    assert "scripted/relay.yml · reads &lt;files&gt;" in shown["text/html"]


def test_loading_opens_nothing(cells: Cells, tmp_path: Path) -> None:
    cells.line("load relay_pipeline.yml")

    assert not (tmp_path / ".steps").exists()


def test_next_after_the_end_says_how_to_go_on(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")
    cells.line("step count")

    with pytest.raises(InputError, match=r"has ended \(succeeded\); `%steps load` starts a new one"):
        cells.line("next")


def test_step_runs_up_to_the_named_one(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")

    run = cells.line("step reader")

    assert [s.name for s in run.steps] == ["write", "reader"]


def test_a_list_of_steps_goes_on_in_the_open_run(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")
    opened = cells.line("next")

    run = cells.cell("", "- task: shout\n  run: tr a-z A-Z < note/tide.txt\n  inputs: [note]\n")

    assert (run.run_id, run.outcome, run.text) == (opened.run_id, None, "SPRING TIDE\n")
    assert cells.line("next").text == "It says spring tide."


def test_an_option_that_comes_too_late_for_the_open_run_is_refused(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")
    cells.line("next")

    with pytest.raises(InputError, match=r"^`--answer` comes too late: these steps go on in the open run; "):
        cells.cell("--answer x=y", "- task: t\n  run: echo\n")


def test_a_list_of_steps_after_the_end_still_has_the_artifacts(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")
    ended = cells.line("step count")

    run = cells.cell("", "- task: shout\n  run: tr a-z A-Z < note/tide.txt\n  inputs: [note]\n")

    assert run.text == "SPRING TIDE\n"
    assert run.run_id != ended.run_id


def test_finish_ends_the_open_run(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")
    cells.line("next")

    assert cells.line("finish").outcome == "succeeded"
    with pytest.raises(InputError, match=r"^no run is open; "):
        cells.line("finish")


def test_run_runs_the_whole_loaded_job(cells: Cells) -> None:
    cells.line("load relay_pipeline.yml")

    run = cells.line("run relay --as kept")

    assert [s.name for s in run.steps] == ["write", "reader", "count"]
    assert cells.shell.user_ns["kept"] is run


def test_the_options_of_load_hold_for_its_runs(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "port.yml").write_text(pipelines.ASK)
    cells.line("load port.yml --answer port=A --store elsewhere")

    assert cells.line("run").outcome == "succeeded"
    assert (tmp_path / "elsewhere").is_dir()
    assert list(cells.line("runs")["outcome"]) == ["succeeded"]


def test_an_agent_gets_the_cell_as_its_message(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "echo.yml").write_text(
        'version: 1\nreplies:\n- expect: "Rewrite: the \\"sea\\" for a child"\n  text: Done.\n'
    )
    (tmp_path / "pipeline.yml").write_text(pipelines.HELLO.replace("hello.yml", "echo.yml"))
    cells.line("load pipeline.yml")
    cells.shell.run_cell("paragraph = 'the \"sea\"'")

    run = cells.cell("writer --use paragraph", "Rewrite: ((paragraph)) for a child\n", magic="agent")

    assert (run.outcome, run.text) == ("succeeded", "Done.")


def test_an_agent_reads_the_files_handed_in(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "menu.txt").write_text("soup")
    (tmp_path / "read.yml").write_text(
        "version: 1\nreplies:\n- calls: [{name: read_file, arguments: {path: files/menu.txt}}]\n"
        "- {expect: soup, text: Soup.}\n"
    )
    (tmp_path / "pipeline.yml").write_text(pipelines.HELLO.replace("hello.yml", "read.yml"))
    cells.line("load pipeline.yml")

    assert cells.cell("writer --files menu.txt", "What is there?", magic="agent").text == "Soup."


def test_an_unknown_agent_is_named(cells: Cells) -> None:
    cells.cell("", pipelines.HELLO)

    with pytest.raises((ConfigError, InputError), match=r"unknown agent `writr` \(did you mean `writer`\?\)"):
        cells.cell("writr", "Hello", magic="agent")


def test_an_empty_message_is_refused(cells: Cells) -> None:
    cells.cell("", pipelines.HELLO)

    with pytest.raises(InputError, match=r"^the message is empty; write it below `%%agent NAME`$"):
        cells.cell("writer", " \n", magic="agent")


def test_memory_keeps_nothing(cells: Cells, tmp_path: Path) -> None:
    cells.cell("--memory", pipelines.HELLO)

    assert not (tmp_path / ".steps").exists()


def test_tables_are_dataframes(cells: Cells) -> None:
    run = cells.cell("", pipelines.HELLO)

    assert list(cells.line("runs")["run_id"]) == [run.run_id]
    assert list(cells.line(f"cost {run.run_id}")["step"]) == ["writer"]
    assert "Tides rise and fall with the moon." in cells.line("transcript").df().to_string()


def test_a_transcript_reads_as_in_a_shell_and_holds_its_table(cells: Cells) -> None:
    run = cells.cell("", pipelines.HELLO)

    shown = cells.line(f"transcript {run.run_id}")

    assert repr(shown).startswith("== writer ==\n[system] ")
    assert "<b>assistant</b></p>\n<pre>Tides rise and fall with the moon.</pre>" in shown._repr_html_()
    assert list(shown.df()["role"]) == ["system", "user", "assistant"]


def test_models_and_trajectory_are_tables(cells: Cells) -> None:
    run = cells.cell("", pipelines.HELLO)

    assert list(cells.line("models")["replies"]) == [1]
    assert list(cells.line(f"models {run.run_id}")["replies"]) == [1]
    assert len(cells.line("trajectory")) == 0


def test_a_transcript_needs_a_run(cells: Cells) -> None:
    with pytest.raises(
        InputError, match=r"^nothing has run in this notebook yet; name a run, `%steps runs` lists them$"
    ):
        cells.line("transcript")


def test_copy_hands_an_artifact_to_the_person(cells: Cells, tmp_path: Path) -> None:
    cells.line("load relay_pipeline.yml")
    run = cells.line("next")

    cells.line(f"copy {run.run_id}/note out")
    cells.line("copy note again")

    assert (tmp_path / "out" / "tide.txt").read_text() == "spring tide\n"
    assert (tmp_path / "again" / "tide.txt").read_text() == "spring tide\n"


def test_copy_wants_an_artifact(cells: Cells) -> None:
    with pytest.raises(InputError, match=r"^%steps copy: `RUN/` names no artifact; write RUN/ARTIFACT$"):
        cells.line("copy RUN/ out")


def test_a_verb_without_a_pipeline_says_how_to_load_one(cells: Cells) -> None:
    with pytest.raises(
        InputError, match=r"^no pipeline is loaded; load one with `%steps load FILE` or a `%%steps` cell$"
    ):
        cells.line("next")


@pytest.mark.parametrize("line", ["", "help;", "--help", "  help  "])
def test_steps_alone_shows_the_help(cells: Cells, capsys: pytest.CaptureFixture[str], line: str) -> None:
    cells.line(line)

    assert capsys.readouterr().out.startswith("%%steps")


def test_an_unknown_verb_is_named(cells: Cells) -> None:
    with pytest.raises(InputError, match=r"^%steps: unknown verb `nxt` \(did you mean `next`\?\)"):
        cells.line("nxt")


def test_agent_as_a_line_says_where_the_message_goes(cells: Cells) -> None:
    with pytest.raises(InputError, match="needs a message: write `%%agent NAME` and the message below it"):
        cells.shell.run_line_magic("agent", "writer")


def test_help_fits_on_a_screen_and_shows_every_verb(cells: Cells, capsys: pytest.CaptureFixture[str]) -> None:
    cells.line("help")

    shown = capsys.readouterr().out
    assert all(f"%steps {name}" in shown for name in VERBS if name != "help")
    assert "%%agent writer" in shown
    assert len(shown.splitlines()) <= 48
    assert max(map(len, shown.splitlines())) <= 120


@pytest.mark.parametrize("verb", [*VERBS.values(), *CELL_MAGICS.values()], ids=lambda v: v.arguments.prog)
def test_every_magic_has_help(cells: Cells, capsys: pytest.CaptureFixture[str], verb: Any) -> None:
    if verb.arguments.prog.startswith("%%"):
        cells.cell("--help", "x", magic=verb.name)
    else:
        cells.line(f"{verb.name} --help")

    shown = capsys.readouterr().out
    assert verb.arguments.summary.split()[0] in shown
    assert "example:" in shown


@pytest.mark.parametrize("text", ["- task: x\n", "\n# why\n- task: x", "---\n- a\n", "[{task: x}]", "-\n  task: x"])
def test_a_list_of_steps_is_told_from_a_pipeline(text: str) -> None:
    assert is_step_list(text)


@pytest.mark.parametrize("text", ["", "jobs:\n- name: x\n", "# - a\njobs: []", "---\nagents: []\n"])
def test_a_pipeline_is_no_list(text: str) -> None:
    assert not is_step_list(text)


def test_a_question_at_a_terminal_is_asked_with_input(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "B")

    assert cells.cell("", pipelines.ASK).text == "The port is set."


def test_a_closed_terminal_aborts_with_the_question(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", closed)

    with pytest.raises(Aborted, match=r"asked `Which port\?` and nobody is here to answer"):
        cells.cell("", pipelines.ASK)


ENDS_EARLY = """\
jobs:
- name: j
  plan:
  - { task: a, run: "echo a >> %(here)s/log" }
  - { task: b, run: "echo b >> %(here)s/log; test -e %(here)s/flag" }
"""


def test_a_run_that_failed_goes_on(cells: Cells, tmp_path: Path) -> None:
    with pytest.raises(StepsError, match="step `b` failed"):
        cells.cell("--as r", ENDS_EARLY % {"here": tmp_path})
    (tmp_path / "flag").touch()

    resumed = cells.line("resume")

    assert (resumed.outcome, resumed.run_id) == ("succeeded", cells.shell.user_ns["r"].run_id)
    assert (tmp_path / "log").read_text().split() == ["a", "b", "b"]


def test_view_of_a_run_that_goes_on_begins_with_what_was_done(
    cells: Cells, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(StepsError):
        cells.cell("", ENDS_EARLY % {"here": tmp_path})
    (tmp_path / "flag").touch()
    capsys.readouterr()

    cells.line("resume")

    shown = capsys.readouterr().out
    assert "succeeded" in shown.splitlines()[0]
    assert {"a", "b"} <= set(shown.split())


def test_cell_that_was_mended_is_what_a_run_goes_on_with(cells: Cells, tmp_path: Path) -> None:
    with pytest.raises(StepsError):
        cells.cell("--as r", ENDS_EARLY % {"here": tmp_path})
    first = cells.shell.user_ns["r"].run_id
    mended = (ENDS_EARLY % {"here": tmp_path}).replace("; test -e", "; true")

    cells.shell.magics_manager.registry["StepsMagics"].loaded.load(mended, MagicOptions())
    resumed = cells.line(f"resume {first}")

    assert resumed.outcome == "succeeded"
    assert (tmp_path / "log").read_text().split() == ["a", "b", "b"]


def test_replay_is_a_new_run_from_a_step_on(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "flag").touch()
    first = cells.cell("", ENDS_EARLY % {"here": tmp_path})

    again = cells.line(f"replay {first.run_id} --from b --as again")

    assert again.run_id != first.run_id
    assert (tmp_path / "log").read_text().split() == ["a", "b", "b"]
    assert cells.shell.user_ns["again"].run_id == again.run_id


def test_run_that_succeeded_cannot_go_on(cells: Cells) -> None:
    cells.cell("", pipelines.HELLO)

    with pytest.raises(InputError, match="has succeeded, nothing is left to do"):
        cells.line("resume")
