"""Questions, folders, repairs, included files, matrices and votes of a plan, through whole runs."""

import json
import threading

import pytest

import stepsnb
from stepsnb.errors import ConfigError
from stepsnb.llm import register_script, unregister_script
from tests.support.fixtures_llm import ScriptedModel

QUICK = {"llm": {"backoff_base_secs": 0.001}}


def names(result):
    return [step.name for step in result.steps]


def outcomes(result):
    return [str(step.outcome) for step in result.steps]


def notes(result):
    return [event.text for event in result.events if event.kind == "note"]


def users(request):
    """What the user says in a request, as one text."""
    return "\n".join(str(each["content"]) for each in request["messages"] if each["role"] == "user")


@pytest.fixture
def plan(scripted_llm, store):
    """Run steps given as values; `a` is an agent on the scripted model, `agent` has more of its keys."""

    def plan(*steps, agent=None, **options):
        a = {"name": "a", "source": {"model": scripted_llm.model}, "retry": QUICK, **(agent or {})}
        text = json.dumps({"agents": [a], "jobs": [{"name": "job", "plan": list(steps)}]})
        options.setdefault("store", store)
        return stepsnb.load(text).run(**options)

    return plan


@pytest.fixture
def voters():
    """Three scripted models, by the names of the agents that are on them."""
    models = {name: ScriptedModel(f"rows-plans-{name}") for name in ("one", "two", "three")}
    for model in models.values():
        register_script(model.script.name, model.script)
    yield models
    for model in models.values():
        unregister_script(model.script.name)


# -- what a failed wrap-up leads to


def test_failed_wrap_up_runs_on_error(plan, scripted_llm):
    scripted_llm.says(calls=[("list_dir", {})]).says(error=(503, "overloaded"))
    hooks = {f"on_{kind}": {"task": kind, "run": "true"} for kind in ("error", "failure", "success")}
    result = plan({"agent": "a", "prompt": "Go.", **hooks}, agent={"max_turns": 1, "attempts": 1})
    assert (result.outcome, names(result)) == ("errored", ["a", "error"])


# -- questions of a step that is reused


def asking(scripted_llm, answer):
    scripted_llm.says(calls=[("ask_user", {"question": "Which port?"})])
    scripted_llm.says(calls=[("write_file", {"path": "out/port", "content": answer})]).says("noted")


ASKS = {"agent": "a", "prompt": "Ask for the port.", "outputs": ["out"]}
SHOWS = {"task": "show", "inputs": ["out"], "run": "cat out/port"}
MAY_ASK = {"tools": ["ask_user", "write_file"]}


def test_reused_step_asks_nobody_and_what_came_of_the_answer_is_there(plan, scripted_llm, store):
    asking(scripted_llm, "Bergen")
    plan(ASKS, SHOWS, agent=MAY_ASK, answers={"port": "Bergen"})
    sent = scripted_llm.request_count
    again = plan(ASKS, SHOWS, agent=MAY_ASK)
    assert (outcomes(again), again.steps[-1].text) == (["reused", "succeeded"], "Bergen")
    assert scripted_llm.request_count == sent
    assert stepsnb.questions(store=store)["answer"].tolist() == ["Bergen"]


def test_volatile_step_asks_again(plan, scripted_llm, store):
    for answer in ("Bergen", "Oslo"):
        asking(scripted_llm, answer)
        result = plan({**ASKS, "volatile": True}, SHOWS, agent=MAY_ASK, answers={"port": answer})
        assert result.steps[-1].text == answer
    assert sorted(stepsnb.questions(store=store)["answer"]) == ["Bergen", "Oslo"]


# -- dir


CMD = {"task": "fetch", "outputs": ["repo"], "run": "mkdir repo/cmd; echo main > repo/cmd/main.go"}
IN_CMD = {"agent": "a", "prompt": "Read.", "inputs": ["repo"], "dir": "repo/cmd"}


def test_paths_of_an_agent_begin_in_its_dir(plan, scripted_llm, ends):
    scripted_llm.says(calls=[("read_file", {"path": "main.go"}), ("run_shell", {"command": "cat main.go"})]).says(
        "done"
    )
    result = plan(CMD, IN_CMD, agent={"tools": ["read_file", "run_shell"]})
    assert [(end.ok, "main" in end.result) for end in ends(result)] == [(True, True), (True, True)]


@pytest.mark.parametrize("path", ["../../../../etc/hostname", "/etc/hostname", "link/hostname"])
def test_paths_that_leave_the_dir_are_refused(plan, scripted_llm, ends, path):
    scripted_llm.says(calls=[("run_shell", {"command": "ln -s /etc link"})])
    scripted_llm.says(calls=[("read_file", {"path": path})]).says("done")
    result = plan(CMD, IN_CMD, agent={"tools": ["read_file", "run_shell"]})
    linked, read = ends(result)
    assert (linked.ok, read.ok) == (True, False)
    assert f"`{path}` is outside the working directory" in read.result


@pytest.mark.parametrize(
    ("folder", "words"),
    [("repo", "lies in no input or output"), ("out/../..", "leads out of the step's directory")],
)
def test_dir_that_is_in_no_artifact_of_the_step_is_an_error(plan, folder, words):
    with pytest.raises(ConfigError, match=words):
        plan(CMD, {"agent": "a", "prompt": "Go.", "outputs": ["out"], "dir": folder})


# -- fix


BROKEN = {"task": "fetch", "outputs": ["repo"], "run": "echo red > repo/state"}
CHECK = {
    "task": "check",
    "inputs": ["repo"],
    "outputs": ["repo"],
    "run": 'echo . >> "$COUNT"; cat repo/state',
    "assert": {"stdout": "green"},
}
WRITES = {"tools": ["read_file", "write_file", "list_dir"]}


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Count how often the command of `CHECK` ran."""
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    return lambda: len((tmp_path / "count").read_text().splitlines())


@pytest.mark.parametrize(
    ("criteria", "run", "is_repaired"),
    [
        ({}, "exit 3", True),
        ({}, "true", False),
        ({"assert": {"code": 3}}, "exit 3", False),
        ({"assert": {"code": 3}}, "true", True),
        ({"assert": {"stdout": "fine"}}, "echo fine; exit 1", False),
        ({"assert": {"stdout": "fine"}}, "echo wrong", True),
    ],
)
def test_own_criteria_of_a_task_decide_whether_it_is_repaired(plan, scripted_llm, criteria, run, is_repaired):
    scripted_llm.says("I look at it.")
    result = plan({"task": "check", "run": run, "fix": "a", **criteria})
    assert scripted_llm.request_count == is_repaired
    assert (result.outcome, names(result)) == (("failed", ["a", "check"]) if is_repaired else ("succeeded", ["check"]))


def test_green_task_needs_nothing_its_fixer_would_need(plan, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    source = {"model": "openai/some", "api_key_env": "NO_SUCH_KEY"}
    result = plan({"task": "check", "run": "true", "fix": "a"}, agent={"source": source})
    assert (result.outcome, names(result)) == ("succeeded", ["check"])
    red = plan({"task": "check", "run": "false", "fix": "a"}, agent={"source": source})
    assert (red.outcome, "NO_SUCH_KEY" in red.error) == ("errored", True)


def test_fixer_is_told_what_failed_and_runs_the_command_again_and_is_judged_by_one_more_run(
    plan, scripted_llm, commands, ends
):
    scripted_llm.says(calls=[("rerun", {})])
    scripted_llm.says(calls=[("write_file", {"path": "repo/state", "content": "green"})])
    scripted_llm.says(calls=[("rerun", {})]).says("Mended.")
    result = plan(
        BROKEN, {**CHECK, "fix": "a"}, {"task": "show", "inputs": ["repo"], "run": "cat repo/state"}, agent=WRITES
    )
    assert (result.outcome, names(result)) == ("succeeded", ["fetch", "a", "check", "show"])
    told = users(scripted_llm.requests[0])
    assert all(words in told for words in ("assert.stdout", "cat repo/state", "red"))
    reruns = [end.result for end in ends(result) if end.tool == "rerun"]
    assert ["red" in reruns[0], "green" in reruns[1]] == [True, True]
    assert commands() == 1 + 2 + 1
    assert result.steps[-1].text == "green"


def test_command_that_stays_red_is_repaired_once_however_often_it_ran_again(plan, scripted_llm, commands):
    scripted_llm.says(calls=[("rerun", {})]).says("I give up.")
    result = plan(BROKEN, {**CHECK, "fix": "a", "on_failure": {"task": "told", "run": "true"}})
    assert (result.outcome, names(result)) == ("failed", ["fetch", "a", "check", "told"])
    assert "agent `a` could not repair it" in result.error
    assert (commands(), scripted_llm.request_count) == (1 + 1 + 1, 2)


def test_long_output_reaches_the_fixer_as_a_file(plan, scripted_llm, commands):
    long = {**CHECK, "run": 'seq 20000; cat repo/state; echo "last words"', "assert": {"stdout": "green"}}
    scripted_llm.says(calls=[("list_dir", {"path": ".steps-output"}), ("rerun", {})])
    scripted_llm.says(calls=[("read_file", {"path": ".steps-output/output-of-check.txt", "start_line": 20_000})])
    scripted_llm.says(calls=[("write_file", {"path": "repo/state", "content": "green"})]).says("Mended.")
    result = plan(BROKEN, {**long, "fix": "a"}, agent=WRITES)
    assert result.outcome == "succeeded", result.error
    told = users(scripted_llm.requests[0])
    assert '<persistent_file path=".steps-output/output-of-check.txt"' in told
    assert "last words" in told
    assert len(told) < 6_000
    listed, rerun, read = [event for event in result.events if event.kind == "tool" and event.phase == "end"][:3]
    assert "output-of-check.txt" in listed.result
    assert "<persistent_file" in rerun.result
    assert "20000\nred\nlast words" in read.result
    assert [name for name in result.files if "output-of" in str(name)] == []


def test_fixer_that_says_it_is_done_convinces_nobody(plan, scripted_llm, commands):
    scripted_llm.says("Everything is green now.")
    assert plan(BROKEN, {**CHECK, "fix": "a"}).outcome == "failed"
    assert commands() == 2


def test_fix_in_full_has_messages_a_folder_and_tools_of_its_own(plan, scripted_llm, commands):
    scripted_llm.says(calls=[("write_file", {"path": "state", "content": "green"})]).says("Mended.").says("As I said.")
    fix = {
        "agent": "a",
        "messages": ["Only mend the state.", "What did you do?"],
        "dir": "repo",
        "tools": ["write_file"],
    }
    result = plan(BROKEN, {**CHECK, "fix": fix}, agent=WRITES)
    assert result.outcome == "succeeded", result.error
    assert [tool["function"]["name"] for tool in scripted_llm.requests[0]["tools"]] == ["write_file", "rerun"]
    first, *others = (users(request) for request in scripted_llm.requests)
    assert first.startswith("Only mend the state.")
    assert ["What did you do?" in told for told in (first, *others)] == [False, False, True]


def test_repair_makes_what_follows_run_again_and_says_so(plan, scripted_llm, commands):
    after = {"task": "pack", "inputs": ["repo"], "outputs": ["box"], "run": "cp repo/state box/state"}
    for _ in range(2):
        scripted_llm.says(calls=[("write_file", {"path": "repo/state", "content": "green"})]).says("Mended.")
        result = plan(BROKEN, {**CHECK, "fix": "a"}, after, agent=WRITES)
    assert notes(result) == ["note: check makes this chain uncacheable (fix: a)"]
    assert outcomes(result) == ["reused", "succeeded", "succeeded", "succeeded"]


@pytest.mark.parametrize(("attempts", "outcome"), [(1, "failed"), (2, "succeeded")])
def test_attempts_of_a_fix_are_requests_of_its_own(plan, scripted_llm, commands, attempts, outcome):
    scripted_llm.says(error=(503, "overloaded"))
    scripted_llm.says(calls=[("write_file", {"path": "repo/state", "content": "green"})]).says("Mended.")
    result = plan(BROKEN, {**CHECK, "fix": {"agent": "a", "attempts": attempts}}, agent={**WRITES, "attempts": 5})
    assert (result.outcome, commands()) == (outcome, 2)


def test_attempts_of_a_task_are_none_of_its_fixer(plan, scripted_llm, commands):
    for _ in range(2):
        scripted_llm.says(error=(503, "overloaded"))
    result = plan(BROKEN, {**CHECK, "fix": "a", "attempts": 2}, agent={"attempts": 5})
    assert (result.outcome, commands(), scripted_llm.request_count) == ("failed", 4, 2)


def test_timeout_of_a_task_does_not_hold_for_its_fixer(plan, scripted_llm, commands):
    scripted_llm.says(calls=[("write_file", {"path": "repo/state", "content": "green"})]).says("Mended.", delay_s=2.5)
    result = plan(BROKEN, {**CHECK, "fix": "a", "timeout": "2s"}, agent=WRITES)
    assert (names(result)[1:], outcomes(result)[1:]) == (["a", "check"], ["succeeded", "succeeded"])


def test_timeout_of_a_fix_ends_the_fixer_and_the_command_is_still_judged(plan, scripted_llm, commands):
    scripted_llm.says(calls=[("write_file", {"path": "repo/state", "content": "green"})]).says(
        "word " * 99, delay_s=0.5
    )
    fix = {"agent": "a", "timeout": "2s"}
    result = plan(BROKEN, {**CHECK, "fix": fix, "timeout": "1m"}, agent=WRITES)
    assert (result.outcome, outcomes(result)[1]) == ("succeeded", "failed")
    assert commands() == 2


# -- tasks and files beside the pipeline


def test_step_by_an_entry_of_tasks_is_reused_as_the_step_written_out(store):
    keys = "run: echo one > out/a, outputs: [out]"
    by_name = f"tasks: [{{name: t, {keys}}}]\njobs: [{{name: j, plan: [{{task: t}}]}}]\n"
    written = f"jobs: [{{name: j, plan: [{{task: t, {keys}}}]}}]\n"
    runs = [stepsnb.load(text).run(store=store) for text in (by_name, written, by_name.replace("one", "two"))]
    assert [outcomes(run) for run in runs] == [["succeeded"], ["reused"], ["succeeded"]]


PARTS = """
agents: [{name: a, source: {model: MODEL}, system_file: ../shared/persona.md, tools: [write_file]}]
jobs:
- name: j
  plan:
  - {task: t, run_file: ci/t.sh, outputs: [made]}
  - {agent: a, message_files: [ask.md], outputs: [said]}
"""


@pytest.fixture
def beside(tmp_path, scripted_llm):
    """Write files in and beside the folder of `PARTS`, and load that."""

    def beside(text=PARTS, **files):
        files = {
            "pipeline/ci/t.sh": "echo 1 > made/a\n",
            "shared/persona.md": "Be kind.",
            "pipeline/ask.md": "Go.",
        } | files
        for name, content in {"pipeline/p.yml": text.replace("MODEL", scripted_llm.model), **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        return stepsnb.load(tmp_path / "pipeline" / "p.yml")

    return beside


@pytest.mark.parametrize(
    ("name", "text", "outcome"),
    [
        ("pipeline/ask.md", "Go.", ["reused", "reused"]),
        ("pipeline/ci/t.sh", "echo 2 > made/a\n", ["succeeded", "succeeded"]),
        ("shared/persona.md", "Be brief.", ["reused", "succeeded"]),
        ("pipeline/ask.md", "Go on.", ["reused", "succeeded"]),
    ],
)
def test_included_file_that_changes_makes_its_step_run_again(beside, scripted_llm, store, name, text, outcome):
    for _ in range(2):
        scripted_llm.says(calls=[("write_file", {"path": "said/a", "content": "x"})]).says("done")
    first = beside().run(store=store)
    assert (first.outcome, outcomes(first)) == ("succeeded", ["succeeded", "succeeded"])
    assert [each["content"] for each in scripted_llm.requests[0]["messages"] if each["role"] == "user"] == ["Go."]
    assert scripted_llm.requests[0]["messages"][0]["content"].startswith("Be kind.")
    assert outcomes(beside(**{name: text}).run(store=store)) == outcome


@pytest.mark.parametrize("name", ["pipeline/ci/t.sh", "shared/persona.md", "pipeline/ask.md"])
def test_included_file_without_a_word_is_an_error(beside, name):
    with pytest.raises(ConfigError, match="is an empty file; write something into it"):
        beside(**{name: ""})


@pytest.mark.parametrize(
    ("key", "both"),
    [
        ("run_file: ci/t.sh", "run: echo"),
        ("system_file: ../shared/persona.md", "system: Be kind."),
        ("message_files: [ask.md]", "messages: [Go.]"),
    ],
)
def test_text_and_its_file_together_are_an_error(beside, key, both):
    with pytest.raises(ConfigError, match="keep one"):
        beside(PARTS.replace(key, f"{key}, {both}"))


# -- messages in an artifact


READS_MESSAGE = {"agent": "a", "inputs": ["repo"], "message_files": [{"artifact": "repo", "path": ".ci/ASK.md"}]}


def test_message_in_an_artifact_is_read_when_the_step_runs(plan, scripted_llm):
    for words in ("Review it.", "Review it well."):
        scripted_llm.says("done")
        fetch = {"task": "fetch", "outputs": ["repo"], "run": f"mkdir repo/.ci; echo '{words}' > repo/.ci/ASK.md"}
        assert plan(fetch, READS_MESSAGE).outcome == "succeeded"
    assert [users(request).strip() for request in scripted_llm.requests] == ["Review it.", "Review it well."]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        ("ln -s /etc repo/.ci", "`.ci` is a symbolic link that leads out"),
        ("mkdir repo/.ci; ln -s /etc/hostname repo/.ci/ASK.md", "`.ci/ASK.md` is a symbolic link that leads out"),
        ("true", "message_files: `repo/.ci/ASK.md`: there is no `repo/.ci/ASK.md`"),
    ],
)
def test_message_that_is_a_link_out_or_missing_is_never_sent(plan, scripted_llm, make, words):
    result = plan({"task": "fetch", "outputs": ["repo"], "run": make}, READS_MESSAGE)
    assert (result.outcome, scripted_llm.request_count) == ("errored", 0)
    assert words in result.error


def test_message_behind_a_link_inside_its_artifact_is_read(plan, scripted_llm):
    scripted_llm.says("done")
    make = "mkdir repo/.ci; echo Go. > repo/real; ln -s ../real repo/.ci/ASK.md"
    assert plan({"task": "fetch", "outputs": ["repo"], "run": make}, READS_MESSAGE).outcome == "succeeded"
    assert users(scripted_llm.requests[0]).strip() == "Go."


def test_message_of_an_artifact_that_is_no_input_is_an_error(plan):
    fetch = {"task": "fetch", "outputs": ["repo"], "run": "true"}
    with pytest.raises(ConfigError, match="`artifact: repo` of `message_files:` is no input of this step"):
        plan(fetch, {**READS_MESSAGE, "inputs": []})


# -- context files of a matrix


MATRIX = {
    "agent": "a",
    "across": [{"var": "part", "values": ["api", "storage"]}],
    "inputs": ["repo"],
    "outputs": ["out"],
    "prompt": "Review.",
    "context_paths": ["repo/{{ .vars.part }}.go"],
}
PARTED = {
    "task": "fetch",
    "outputs": ["repo"],
    "run": "for n in api storage api2 storage2; do echo is $n > repo/$n.go; done",
}


def test_each_cell_has_the_files_of_its_own(plan, scripted_llm):
    for _ in range(2):
        scripted_llm.says("done")
    result = plan(PARTED, {**MATRIX, "outputs": []})
    assert names(result) == ["fetch", "a [part=api]", "a [part=storage]"]
    given = [
        [each["content"] for each in request["messages"] if each["role"] == "tool"] for request in scripted_llm.requests
    ]
    assert [len(texts) for texts in given] == [1, 1]
    assert ["is api\n" in given[0][0], "is storage\n" in given[1][0]] == [True, True]


def test_axis_that_there_is_not_is_an_error_that_names_the_entry(plan):
    with pytest.raises(ConfigError, match=r"`context_paths\[1\]` has an unknown axis `prat` \(did you mean `part`\?\)"):
        plan(PARTED, {**MATRIX, "context_paths": ["repo/{{ .vars.part }}.go", "repo/{{ .vars.prat }}.go"]})


def test_cell_is_what_its_path_has_become(scripted_llm):
    def hashes(**keys):
        agents = [{"name": "a", "source": {"model": scripted_llm.model}}]
        jobs = [{"name": "j", "plan": [PARTED, {**MATRIX, **keys}]}]
        frame = stepsnb.plan(json.dumps({"agents": agents, "jobs": jobs}))
        return frame[frame["step"].str.startswith("a [")]["hash"].tolist()

    same = "repo/{{ .vars.part | lower }}.go"
    assert hashes(context_paths=[same]) == hashes()
    assert not set(hashes(context_paths=["repo/{{ .vars.part }}2.go"])) & set(hashes())


# -- ensembles


def test_members_vote_at_the_same_time_and_are_listed_in_their_order(voters, store, ends):
    meeting = threading.Barrier(3, timeout=20)

    def meet() -> str:
        """Wait for the two others."""
        meeting.wait()
        return "all are here"

    for model in voters.values():
        model.says(calls=[("meet", {})]).says(calls=[("verdict", {"verdict": "yes"})]).says("")
    agents = [{"name": n, "source": {"model": m.model}, "tools": [{"python": "meet"}]} for n, m in voters.items()]
    ensemble = {"verdicts": ["no", "yes"], "agents": [{"agent": name, "prompt": "Vote."} for name in voters]}
    text = json.dumps({"agents": agents, "jobs": [{"name": "j", "plan": [{"ensemble": ensemble}]}]})
    result = stepsnb.load(text).run(store=store, functions={"meet": meet})
    assert (result.outcome, names(result)) == ("succeeded", ["one", "two", "three"])
    assert [end.result for end in ends(result) if end.tool == "meet"] == ["all are here"] * 3


# -- what would run


def test_plan_says_what_would_run_before_anything_is_sent(scripted_llm, store):
    scripted_llm.says(calls=[("write_file", {"path": "text/a", "content": "x"})]).says("done")
    agents = [{"name": "a", "source": {"model": scripted_llm.model}, "tools": ["write_file"]}]
    steps = [
        {"agent": "a", "prompt": "Write.", "outputs": ["text"]},
        {"task": "jump", "run": "true", "to": {"success": "show", "failure": "show"}},
        {"task": "passed_by", "run": "true"},
        {"task": "show", "inputs": ["text"], "run": "cat text/a"},
    ]
    loaded = stepsnb.load(json.dumps({"agents": agents, "jobs": [{"name": "j", "plan": steps}]}))
    before = loaded.plan(store=store)
    assert (scripted_llm.request_count, store.exists()) == (0, False)
    run = loaded.run(store=store)
    sent = scripted_llm.request_count
    after = loaded.plan(store=store)
    assert before["action"].tolist() == ["run", "run", "skip", "run"]
    assert after["action"].tolist() == ["reuse", "run", "skip", "run"]
    assert after["reason"][0] == f"unchanged since run {run.run_id}"
    assert all(before["reason"])
    assert all(after["reason"])
    assert scripted_llm.request_count == sent
