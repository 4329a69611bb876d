"""Texts and definitions in files of their own are like text written in the pipeline."""

import pytest

from stepsnb.config import load_file, load_text
from stepsnb.errors import ConfigError

AGENTS = "agents: [{name: a, source: {model: m/x}}]\n"


@pytest.fixture
def load(tmp_path):
    """Write files beside a pipeline and load that."""

    def load(text, files, **options):
        folder = tmp_path / "pipeline"
        for name, content in {"p.yml": text, **files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return load_file(folder / "p.yml", **options)

    return load


def plan(step):
    return f"{AGENTS}jobs: [{{name: j, plan: [{step}]}}]\n"


def test_program_from_a_file_is_like_one_written_here(load):
    [step] = load(plan("{task: t, run_file: ci/unit.sh}"), {"ci/unit.sh": "echo unit\n"}).jobs[0].plan

    assert step.run == "echo unit\n"


def test_path_may_lead_out_of_the_folder(load):
    [step] = load(plan("{task: t, run_file: ../shared/unit.sh}"), {"../shared/unit.sh": "echo shared"}).jobs[0].plan

    assert step.run == "echo shared"


def test_persona_from_a_file(load):
    text = plan("{agent: a, prompt: Go.}").replace("{model: m/x}", "{model: m/x}, system_file: a.md")

    assert load(text, {"a.md": "Be kind."}).agents[0].system == "Be kind."


def test_messages_from_files_come_in_order(load):
    [step] = load(plan("{agent: a, message_files: [1.md, 2.md]}"), {"1.md": "One", "2.md": "Two"}).jobs[0].plan

    assert (step.messages, step.message_files) == (("One", "Two"), ())


def test_files_of_artifacts_are_read_during_the_run(load):
    text = plan("{agent: a, inputs: [files], message_files: [1.md, {artifact: files, path: ci/R.md}]}")
    [step] = load(text, {"1.md": "One"}).jobs[0].plan

    assert step.messages == ("One",)
    assert [(each.artifact, each.path) for each in step.message_files] == [("files", "ci/R.md")]


def test_files_of_artifacts_alone_are_messages_enough(load):
    [step] = load(plan("{agent: a, inputs: [files], message_files: [{artifact: files, path: R.md}]}"), {}).jobs[0].plan

    assert (step.messages, len(step.message_files)) == ((), 1)


def test_repair_takes_its_messages_from_files(load):
    [step] = load(plan("{task: t, run: echo, fix: {agent: a, message_files: [1.md]}}"), {"1.md": "One"}).jobs[0].plan

    assert step.fix.messages == ("One",)


def test_variables_are_replaced_in_files_too(load):
    files = {"t.sh": "echo ((who)) $((who))", "u.yml": "run: echo ((who))\ntimeout: ((n))m\n"}
    text = plan("{task: t, run_file: t.sh}, {task: u}") + "tasks: [{name: u, file: u.yml}]\n"
    one, other = load(text, files, variables={"who": "me", "n": 2}).jobs[0].plan

    assert (one.run, other.run, other.timeout_s) == ("echo me $((who))", "echo me", 120.0)


def test_pipeline_in_a_cell_reads_from_its_folder(tmp_path):
    (tmp_path / "t.sh").write_text("echo")

    assert load_text(plan("{task: t, run_file: t.sh}"), base_dir=tmp_path).jobs[0].plan[0].run == "echo"


def test_step_without_a_program_takes_the_entry_of_its_name(load):
    text = plan("{task: unit, timeout: 1m, outputs: [b]}, {task: unit, run: echo inline}")
    text += "tasks: [{name: unit, run: echo unit, fix: a, timeout: 5m, attempts: 2, outputs: [a], env: {A: 1}}]\n"
    entry, inline = load(text, {}).jobs[0].plan

    assert (entry.run, entry.fix.agent, entry.attempts, entry.env) == ("echo unit", "a", 2, {"A": "1"})
    assert (entry.timeout_s, entry.outputs) == (60.0, ("b",))
    assert (inline.run, inline.fix, inline.attempts) == ("echo inline", None, None)


def test_entry_may_take_its_program_from_a_file(load):
    text = plan("{task: unit}") + "tasks: [{name: unit, run_file: unit.sh}]\n"

    assert load(text, {"unit.sh": "echo unit"}).jobs[0].plan[0].run == "echo unit"


def test_keys_of_an_entry_win_over_its_document(load):
    text = plan("{task: unit}") + "tasks: [{name: unit, file: unit.yml, timeout: 5m}]\n"
    [step] = load(text, {"unit.yml": "run: echo doc\ntimeout: 1m\nattempts: 3\n"}).jobs[0].plan

    assert (step.run, step.timeout_s, step.attempts) == ("echo doc", 300.0, 3)


@pytest.mark.parametrize(("here", "there"), [("true", "false"), ("false", "true")])
def test_privileged_holds_when_either_says_so(load, here, there):
    text = plan("{task: unit, privileged: false}")
    text += f"tasks: [{{name: unit, file: unit.yml, privileged: {here}}}]\n"
    [step] = load(text, {"unit.yml": f"run: echo\nimage: debian\nprivileged: {there}\n"}).jobs[0].plan

    assert step.image.is_privileged


def test_agent_in_a_file_of_its_own(load):
    text = f"agents: [{{name: a, file: a.yml, max_turns: 10}}]\n{plan('{agent: a, prompt: Go.}').removeprefix(AGENTS)}"
    [agent] = load(text, {"a.yml": "source: {model: m/x}\nmax_turns: 3\ntools: [run_shell]\nsystem: S.\n"}).agents

    assert (agent.source.model, agent.max_turns, agent.tool_names, agent.system) == ("m/x", 10, ("run_shell",), "S.")


def test_document_without_a_model_leaves_the_agent_without_one(load):
    text = "agents: [{name: a, file: a.yml}]\njobs: [{name: j, plan: [{agent: a, prompt: Go.}]}]\n"

    with pytest.raises(ConfigError, match="agent `a`: has no model"):
        load(text, {"a.yml": "max_turns: 3\n"})
    with pytest.raises(ConfigError) as caught:
        load(text, {"a.yml": "source: [x]\n"})
    assert str(caught.value).endswith(
        "a.yml:1:9: `source:` must be a mapping, not a list; write `key: value` lines under it"
    )
    assert str(caught.value).count("\n") == 0


def test_entry_with_a_broken_document_is_one_problem(load):
    text = plan("{task: unit}, {task: unit, inputs: [x]}") + "tasks: [{name: unit, file: unit.yml}]\n"

    with pytest.raises(ConfigError) as caught:
        load(text, {"unit.yml": "timeout: soon\nrun: [echo]\noutputs: [x]\n"})
    assert [line.rpartition("/")[2].partition(": ")[0] for line in str(caught.value).splitlines()] == [
        "p.yml:3:23",
        "unit.yml:1:10",
        "unit.yml:2:6",
    ] or str(caught.value).count("unit.yml") == 2


def test_file_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "t.sh").write_bytes(b"echo \xff")

    with pytest.raises(ConfigError, match=r"`run_file: t\.sh`:1:6: byte 0xff is not UTF-8"):
        load_text(plan("{task: t, run_file: t.sh}"), base_dir=tmp_path)
