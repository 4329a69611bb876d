"""Cells and branches in a real second process: the same record, outcomes and files as in the run's own."""

import asyncio
import json
import time
from collections import Counter
from pathlib import Path

import pytest

from stepsnb.config import load_file, load_text
from stepsnb.engine import engine
from stepsnb.errors import InputError
from stepsnb.people import GivenAnswers, Ladder
from stepsnb.plan import build_plan
from stepsnb.run import JobRun, RunContext
from stepsnb.run.elsewhere import decode_spec, document_of, encode_spec, spec_of
from stepsnb.run.elsewhere.worker import find_node
from stepsnb.run.recorder import Recorder
from stepsnb.run.scope import Scope
from stepsnb.workspace import RunWorkspace
from tests.corpus.test_corpus import variables_of
from tests.support.step_worker import ProcessExecutor

CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "valid").glob("*.yml"))

MATRIX = {
    "task": "each",
    "across": [{"var": "n", "values": ["1", "2", "3"]}],
    "max_in_flight": 2,
    "inputs": ["given"],
    "outputs": ["out"],
    "run": "cat given/word; echo {{ .vars.n }} > out/f",
}
GIVEN = {"task": "give", "outputs": ["given"], "run": "echo hello > given/word"}


class Disk:
    """Keeps what was recorded."""

    def __init__(self):
        self.payloads = []

    def append(self, payload):
        self.payloads.append(payload)

    async def settle(self):
        await asyncio.sleep(0)


@pytest.fixture
def job(tmp_path):
    """Build a run whose branches and cells go to processes of their own, or with `here` stay in this one."""

    def job(*steps, agents=(), here=False, answers=None, functions=None, **keys):
        text = json.dumps({"agents": list(agents), "jobs": [{"name": "job", "plan": list(steps), **keys}]})
        pipeline = load_text(text, base_dir=tmp_path)
        root = tmp_path / ("here" if here else "there")
        executor = ProcessExecutor(root)
        context = RunContext(
            pipeline=pipeline,
            workspace=RunWorkspace(root, "R"),
            recorder=Recorder("R", sink=Disk()),
            ladder=Ladder(GivenAnswers.from_value(answers), None),
            functions=functions or {},
            executor=None if here else executor,
        )
        run = JobRun(build_plan(pipeline), context)
        run.executor = executor
        return run

    return job


def said(result):
    """What a run recorded of its steps, without ids, times and the order of what runs at the same time."""
    rows = []
    for event in result.events:
        if event.kind in ("step_started", "step_finished", "artifact", "output", "turn_finished"):
            fields = ("kind", "name", "outcome", "reason", "digest", "stdout", "exit_code", "hash", "text", "node")
            rows.append(tuple(str(getattr(event, field, None)) for field in fields))
    return sorted(rows)


def trees(result):
    found = {name: path.rglob("*") for name, path in result.artifacts.items()}
    return {
        name: sorted(p.relative_to(result.artifacts[name]).as_posix() for p in each) for name, each in found.items()
    }


async def test_cells_in_other_processes_leave_the_same_as_here(job):
    there, here = job(GIVEN, MATRIX), job(GIVEN, MATRIX, here=True)
    result, expected = await there.run_all(), await here.run_all()
    assert (result.outcome, result.error) == (expected.outcome, expected.error) == ("succeeded", None)
    assert len(there.executor.pids) == 3
    assert said(result) == said(expected)
    assert trees(result) == trees(expected)
    assert [step.name for step in result.steps] == [step.name for step in expected.steps]
    assert len({event.seq for event in result.events}) == len(result.events)


async def test_branches_with_hooks_groups_and_failures_leave_the_same_as_here(job):
    inner = {
        "do": [
            {"task": "a", "outputs": ["x"], "run": "echo x > x/f", "on_success": {"task": "hook", "run": "true"}},
            {"task": "b", "inputs": ["x"], "run": "cat x/f; exit 3", "attempts": 2},
        ],
        "on_failure": {"task": "sorry", "run": "echo sorry"},
    }
    plan = {"in_parallel": {"steps": [inner, {"task": "c", "outputs": ["z"], "run": "echo z > z/f"}]}}
    result = await job(GIVEN, plan).run_all()
    expected = await job(GIVEN, plan, here=True).run_all()
    assert (result.outcome, result.error) == (expected.outcome, expected.error)
    assert said(result) == said(expected)
    assert [step.name for step in result.steps] == [step.name for step in expected.steps]
    ids = [event.step_id for event in result.events if event.kind == "step_started"]
    assert len(set(ids)) == len(ids)


async def test_agents_talk_elsewhere_and_their_tokens_count_here(job, tmp_path):
    usage = "usage: {input: 60, output: 40}"
    (tmp_path / "script.yml").write_text(f"version: 1\nreplies:\n- {{text: It is done., {usage}}}\n")
    agent = {"name": "a", "source": {"model": "scripted/script.yml"}}
    across = [{"var": "n", "values": ["1", "2", "3"]}]
    cell = {"agent": "a", "prompt": "Do {{ .vars.n }}.", "across": across, "budget": {"tokens": 150}}
    run = job(cell, agents=[agent])
    result = await run.run_all()
    assert (result.outcome, len(run.executor.pids)) == ("errored", 2)
    assert "not started: the block's budget of 150 tokens has no room left" in result.error
    assert [event.text for event in result.events if event.kind == "turn_finished"] == ["It is done."] * 2


async def test_question_is_asked_of_the_runs_people(job, tmp_path):
    (tmp_path / "script.yml").write_text(
        "version: 1\nreplies:\n"
        "- calls: [{name: ask_user, arguments: {question: 'Which port?'}}]\n"
        "- {expect: Bergen, text: Bergen it is.}\n"
    )
    agent = {"name": "a", "source": {"model": "scripted/script.yml"}, "tools": ["ask_user"]}
    cell = {"agent": "a", "prompt": "Go.", "across": [{"var": "n", "values": ["1"]}]}
    result = await job(cell, agents=[agent], answers={"port": "Bergen"}).run_all()
    assert (result.outcome, result.steps[0].text) == ("succeeded", "Bergen it is.")
    asked = [event for event in result.events if event.kind == "question"]
    assert [(event.phase, event.answer) for event in asked] == [("asked", None), ("answered", "Bergen")]
    assert asked[0].step_id == result.steps[0].step_id


async def test_decisions_and_variables_travel_both_ways(job, tmp_path):
    (tmp_path / "judge.yml").write_text(
        "version: 1\nreplies:\n- calls: [{name: verdict, arguments: {verdict: good}}]\n- {text: Fine.}\n"
    )
    judge = {"name": "judge", "source": {"model": "scripted/judge.yml"}}
    branch = {"do": [{"agent": "judge", "prompt": "Judge.", "verdicts": ["good", "bad"]}]}
    load = {"load_var": "word", "file": "given/word", "inputs": ["given"]}
    cells = {"task": "tell", "across": [{"var": "n", "values": ["1"]}], "run": "echo ((word)) {{ .vars.n }}"}
    read = {"task": "read", "context": {"from": {"judge": "verdict"}}, "run": "cat upstream/judge"}
    result = await job(GIVEN, load, cells, {"in_parallel": {"steps": [branch]}}, read, agents=[judge]).run_all()
    assert (result.outcome, result.error) == ("succeeded", None)
    assert [step.text for step in result.steps if step.name in ("tell [n=1]", "read")] == ["hello 1\n", "good\n"]


def test_stop_ends_what_runs_elsewhere_and_its_hooks_run(job, tmp_path):
    cell = {
        "task": "slow",
        "across": [{"var": "n", "values": ["1", "2"]}],
        "max_in_flight": 2,
        "run": f"sleep 60 & echo $! > {tmp_path}/pid{{{{ .vars.n }}}}; wait",
        "ensure": {"task": "end", "run": "true"},
    }
    run = job(cell)
    task = engine().start(run.run_all())
    give_up_at = time.monotonic() + 60
    while len(list(tmp_path.glob("pid*"))) < 2:
        assert time.monotonic() < give_up_at
        time.sleep(0.05)
    task.cancel()
    result = task.result(30)
    assert result.outcome == "aborted"
    ends = Counter(str(event.outcome) for event in result.events if event.kind == "step_finished")
    assert ends == {"aborted": 3, "succeeded": 1}
    assert not [pid for pid in run.executor.pids if is_alive(pid)]
    assert not [file for file in tmp_path.glob("pid*") if is_alive(int(file.read_text()))]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_process_that_is_lost_makes_its_cell_errored_and_nothing_twice(job):
    cell = {
        "task": "die",
        "across": [{"var": "n", "values": ["1", "2"]}],
        "attempts": 3,
        "run": "test {{ .vars.n }} = 2 || kill -9 $PPID; true",
    }
    run = job(cell)
    result = await run.run_all()
    assert result.outcome == "errored"
    assert f"the process {run.executor.pids[0]} that ran it ended with -9" in result.error
    assert [(step.name, str(step.outcome)) for step in result.steps] == [
        ("die [n=1]", "errored"),
        ("die [n=2]", "succeeded"),
    ]
    started = Counter(event.step_id for event in result.events if event.kind == "step_started")
    finished = Counter(event.step_id for event in result.events if event.kind == "step_finished")
    assert started == finished
    assert set(started.values()) == {1}


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ({"tools": [{"python": "greet"}]}, "tool `greet` is a function of this process"),
        ({"source": {"model": "scripted/s.yml", "client": "mine"}}, "`client: mine` is a variable of this process"),
    ],
)
async def test_what_is_bound_to_this_process_stays_and_is_said_to(job, tmp_path, agent, words):
    (tmp_path / "s.yml").write_text("version: 1\nreplies:\n- {text: Done.}\n")
    agents = [{"name": "a", "source": {"model": "scripted/s.yml"}, **agent}]
    cell = {"agent": "a", "prompt": "Go.", "across": [{"var": "n", "values": ["1"]}]}
    run = job(cell, agents=agents, functions={"greet": lambda: "hi"})
    result = await run.run_all()
    assert run.executor.pids == []
    notes = [event.text for event in result.events if event.kind == "note"]
    assert any(words in note for note in notes)


def test_other_text_there_than_here_is_refused(job):
    run = job(GIVEN, MATRIX)
    spec = spec_of(
        build_plan(load_text("jobs: [{name: job, plan: [{task: x, run: 'true'}]}]")).nodes[0],
        Scope(),
        document=run._walker._spawner._document,
        job="job",
        workspace=run._context.workspace,
        run_id="R",
        anchor="s1",
        parent_id=None,
        notes_wanted=frozenset(),
        is_cached=False,
    )
    pipeline = run._context.pipeline
    with pytest.raises(InputError, match="has another step at `0` here than where it was planned"):
        find_node(spec, pipeline, build_plan(pipeline))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_step_of_the_corpus_can_be_written_down_and_found_again(path, tmp_path):
    variables = variables_of(path)
    pipeline = load_file(path, variables=variables)
    document = document_of(pipeline, variables)
    workspace = RunWorkspace(tmp_path, "R")
    for job in pipeline.jobs:
        plan = build_plan(pipeline, job.name)
        for node in plan.walk():
            spec = spec_of(
                node, Scope(), document=document, job=job.name, workspace=workspace, run_id="R", anchor="s1",
                parent_id="s0", notes_wanted=plan.notes_wanted, is_cached=True,
            )  # fmt: skip
            assert decode_spec(encode_spec(spec)) == spec
            again = load_text(
                spec.document.text, file=spec.document.file, base_dir=Path(spec.document.base_dir), variables=variables
            )
            found = find_node(decode_spec(encode_spec(spec)), again, build_plan(again, job.name))
            assert (found.hash, found.name, found.path) == (node.hash, node.name, node.path)
