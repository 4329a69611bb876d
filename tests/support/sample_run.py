"""One run as its events, told in the order a kernel would: what view tests fold and browser tests look at."""

import time

from stepsnb.events import (
    Artifact,
    ContextUsage,
    Event,
    MessageAdded,
    Nudge,
    Output,
    PlanNode,
    Question,
    Request,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    Tool,
    TurnFinished,
    TurnStarted,
)

RUN_ID = "K7QP2X"
QUESTION_ID = "K7QP2X-1"


def until_question(*, began: float | None = None) -> list[Event]:
    """A file is fetched, linted, and a writer has read it and asks; `began` is when (by default 102 s ago)."""
    began = time.time() - 102 if began is None else began
    writer = {"run_id": RUN_ID, "step_id": "s3"}
    plan = [PlanNode("repo", "get"), PlanNode("lint", "task"), PlanNode("writer", "agent"), PlanNode("publish", "task")]
    search = '{"pattern": "schema_version", "path": "."}'
    return [
        RunStarted(run_id=RUN_ID, at=began, pipeline="release.yml", job="release-note", plan=plan),
        StepStarted(run_id=RUN_ID, step_id="s1", at=began, name="repo", step_kind="get", index=0),
        Artifact(run_id=RUN_ID, step_id="s1", name="repo", files=["CHANGELOG.md", "store/meta.py"], bytes=4_112),
        StepFinished(run_id=RUN_ID, step_id="s1", name="repo", step_kind="get", outcome="succeeded", duration_s=2.0),
        StepStarted(run_id=RUN_ID, step_id="s2", at=began + 2, name="lint", step_kind="task", index=1),
        Output(run_id=RUN_ID, step_id="s2", exit_code=0, stdout="2 files checked\n", stdout_bytes=16),
        StepFinished(run_id=RUN_ID, step_id="s2", name="lint", step_kind="task", outcome="succeeded", duration_s=0.4),
        StepStarted(
            **writer, at=began + 3, name="writer", step_kind="agent", index=2, agent="writer", model="gpt-5-mini"
        ),
        MessageAdded(**writer, role="system", text="You write release notes."),
        MessageAdded(**writer, role="user", text="Write the release note for the files in repo/."),
        TurnStarted(**writer, turn=1, model="gpt-5-mini"),
        ThinkingDelta(**writer, turn=1, delta="The changelog first, then the schema."),
        TextDelta(**writer, turn=1, delta="I have the diff and the two earlier notes. The storage change looks "),
        TextDelta(**writer, turn=1, delta="like a migration, so I need to know how it is announced."),
        _request(writer, 4_120, 9_000, 210, "0.0142"),
        TurnFinished(
            **writer,
            turn=1,
            model="gpt-5-mini",
            thinking="The changelog first, then the schema.",
            text="I have the diff and the two earlier notes. The storage change looks like a migration, so I need to "
            "know how it is announced.",
        ),
        ContextUsage(**writer, used=13_330, total=128_000),
        *_call(writer, "c1", "read_file", '{"path": "CHANGELOG.md"}', "# Changes\n" + "- a line\n" * 340, 0.004),
        *_call(
            writer,
            "c2",
            "search_files",
            search,
            "store/migrations/0007_sessions.sql:1: -- schema_version 7\nstore/meta.py:14: SCHEMA_VERSION = 7",
            0.012,
            repaired=True,
        ),
        TurnStarted(**writer, turn=2, model="gpt-5-mini"),
        _request(writer, 2_000, 16_000, 120, "0.0038"),
        TurnFinished(**writer, turn=2, model="gpt-5-mini"),
        ContextUsage(**writer, used=52_480, total=128_000, compact_at=102_400),
        Question(
            **writer,
            at=began + 40,
            question_id=QUESTION_ID,
            agent="writer",
            text="Which version bump is this release?",
            options=["major", "minor", "patch"],
            default="patch",
            expires_at=began + 355,
        ),
    ]


def after_answer(*, began: float) -> list[Event]:
    """Somebody said `minor`; the writer is reminded of its file, writes it, and the run ends well."""
    writer = {"run_id": RUN_ID, "step_id": "s3"}
    owed = "You still owe the file `note.md` in report/."
    publish = {"run_id": RUN_ID, "step_id": "s4"}
    return [
        Question(
            **writer,
            at=began + 52,
            phase="answered",
            question_id=QUESTION_ID,
            agent="writer",
            text="Which version bump is this release?",
            answer="minor",
            source="widget",
        ),
        TurnStarted(**writer, turn=3, model="gpt-5-mini"),
        TurnFinished(**writer, turn=3, model="gpt-5-mini", text="Done."),
        Nudge(**writer, owed=["the file `report/note.md`"], text=owed),
        MessageAdded(**writer, role="user", text=owed, synthetic=True),
        TurnStarted(**writer, turn=4, model="gpt-5-mini"),
        _request(writer, 500, 18_000, 300, "0.004"),
        TurnFinished(**writer, turn=4, model="gpt-5-mini"),
        *_call(
            writer, "c3", "write_file", '{"path": "report/note.md", "content": "# 1.5.0"}', "wrote 412 bytes", 0.002
        ),
        TurnStarted(**writer, turn=5, model="gpt-5-mini"),
        TurnFinished(
            **writer,
            turn=5,
            model="gpt-5-mini",
            text="## 1.5.0\n\nThe schema moves to **7**; see `store/meta.py` and [the guide](https://example.com/g).\n",
        ),
        Artifact(**writer, name="report", files=["note.md"], bytes=412),
        StepFinished(**writer, name="writer", step_kind="agent", outcome="succeeded", duration_s=82.0),
        StepStarted(**publish, at=began + 180, name="publish", step_kind="task", index=3),
        StepFinished(**publish, name="publish", step_kind="task", outcome="succeeded", duration_s=1.2),
        RunFinished(run_id=RUN_ID, at=began + 185, outcome="succeeded", duration_s=185.0),
    ]


def finished_run() -> list[Event]:
    """The whole run."""
    return [*until_question(began=1_000.0), *after_answer(began=1_000.0)]


def _request(step: dict[str, str], fresh: int, cached: int, output: int, cost_usd: str) -> Request:
    return Request(
        **step,
        model="gpt-5-mini",
        status=200,
        input_tokens=fresh,
        cached_input_tokens=cached,
        output_tokens=output,
        cost_usd=cost_usd,
    )


def _call(
    step: dict[str, str],
    call_id: str,
    tool: str,
    args: str,
    result: str,
    duration_s: float,
    *,
    repaired: bool = False,
) -> list[Event]:
    return [
        Tool(**step, phase="start", call_id=call_id, tool=tool, args=args, repaired=repaired),
        Tool(**step, phase="end", call_id=call_id, tool=tool, args=args, result=result, duration_s=duration_s),
    ]
