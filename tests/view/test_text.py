import pytest
from inline_snapshot import snapshot

from stepsnb.events import (
    Event,
    Output,
    PlanNode,
    Question,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    TextDelta,
    Tool,
    TurnFinished,
)
from stepsnb.settings import STATIC_TEXT_CHARACTERS
from stepsnb.view import Fold, render_text
from tests.support.recorded import delegation, stamp
from tests.support.sample_run import finished_run


def render(*events: Event) -> str:
    fold = Fold()
    for event in events:
        fold.apply(event)
    return render_text(fold.state)


def test_the_text_says_what_the_html_says():
    assert render(*finished_run()) == snapshot("""\
release-note succeeded · 3 min 05 s · 50,250 tokens (87% cached) · $0.022 · run K7QP2X

step     outcome    tokens  cost    time
repo     succeeded                  2 s
lint     succeeded                  0.4 s
writer   succeeded  50,250  $0.022  1 min 22 s
publish  succeeded                  1.2 s

repo
  Fetched repo/ (2 files, 4.1 KB)

lint
  exit code 0 · 16 bytes
  2 files checked

writer · 5 turns, 3 tool calls, 1 question · gpt-5-mini
  > Write the release note for the files in repo/.
  (thought: The changelog first, then the schema.)
  I have the diff and the two earlier notes. The storage change looks like a migration, so I need to know how it is announced.
  read_file CHANGELOG.md · 3.1 KB · 4 ms
  search_files "schema_version" · 94 bytes · 12 ms · repaired
  ↺ the provider sent broken arguments for `search_files`; repaired
  Question: Which version bump is this release? [major, minor, patch]
  Answer: minor (by a person, after 12 s)
  Done.
  ↺ reminded of what it still owes: the file `report/note.md`
  write_file report/note.md · 15 bytes · 2 ms
  ## 1.5.0
  \n\
  The schema moves to **7**; see `store/meta.py` and [the guide](https://example.com/g).
  Wrote report/note.md (412 bytes)

Whole transcript: %steps transcript K7QP2X\
""")  # noqa: E501  # quoted as it is


def test_a_failed_step_says_why_and_what_it_printed():
    text = render(
        RunStarted(run_id="R1", at=1.0, job="check", plan=[PlanNode("build", "task"), PlanNode("tell", "task")]),
        StepStarted(step_id="s1", name="build", step_kind="task"),
        Output(
            step_id="s1", exit_code=2, stdout="compiling\n", stderr="no such file\n", stdout_bytes=10, stderr_bytes=13
        ),
        StepFinished(step_id="s1", name="build", outcome="failed", reason="exit code 2", duration_s=1.0),
        RunFinished(outcome="failed", error="step `build` failed: exit code 2", duration_s=1.2),
    )

    assert text == snapshot("""\
check failed · 1.2 s · run R1

step `build` failed: exit code 2

step   outcome  time
build  failed   1 s
tell   not run

build · failed
  exit code 2 · 23 bytes
  compiling
  no such file

Whole transcript: %steps transcript R1\
""")


def test_a_failed_tool_call_shows_what_the_tool_said():
    text = render(Tool(step_id="s1", phase="end", call_id="c", tool="read_file", args="{}", result="no file", ok=False))

    assert "read_file · 7 bytes · failed: no file" in text


def test_a_sub_agent_reads_inside_the_call_it_answers():
    text = render(*stamp("R1", delegation()))

    assert text[text.index("write · 2 tool calls") :] == snapshot("""\
write · 2 tool calls · m/large
  > Write about tides.
  read_file a.md · 5 bytes · read beforehand
  ! request failed (429): too many requests
  ↺ the request is tried again in 2 s (2 of 3)
  summarizer "sum up" · 9 bytes · 2 s · repaired
    summarizer, asked by write · 1 tool call · m/small · 12,800 tokens (75% cached) · $0.014
      > sum up
      read_file · 0 bytes · provider_error · failed
      ↺ called `read_file` 6 times with the same result; told so
      In short.
      ! the reply was cut off by the model's output limit
  ↺ the provider sent broken arguments for `summarizer`; repaired
  read_file b.md · 1 byte
  ↺ summarised the conversation: 100,000 → 9,000 tokens
  (summary: Tides so far.)
  ! the server read 4,000 of about 9,000 tokens: it cut the conversation without saying so
  ↺ reminded of what it still owes: the file `a.md`
  High tide.
  Verdict: done
  Output: {"tide": "high"}

Whole transcript: %steps transcript R1\
""")


def test_an_open_question_is_not_answered_yet():
    assert "Question: Go?\n  Answer: not answered yet" in render(Question(step_id="s1", question_id="q", text="Go?"))


def test_the_text_has_no_control_characters():
    hostile = "\x1b[31mred\x1b[0m\x07\x9b2J\u202e"

    text = render(
        RunStarted(job=hostile, run_id=hostile),
        TextDelta(step_id="s1", turn=1, delta=hostile),
        Output(step_id="s1", stdout=hostile),
        RunFinished(run_id=hostile, outcome="failed", error=hostile),
    )

    assert not [c for c in text if (ord(c) < 0x20 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c == "\u202e"]


@pytest.mark.parametrize("turns", [1, 50, 2_000])
def test_the_text_stays_bounded_and_says_what_is_cut(turns):
    text = render(
        RunStarted(run_id="R1"),
        *(TurnFinished(step_id="s1", turn=i, text="word " * 20_000) for i in range(turns)),
    )

    assert len(text) <= STATIC_TEXT_CHARACTERS
    assert "more characters cut here" in text
    assert text.endswith("Whole transcript: %steps transcript R1")


def test_more_steps_than_fit_are_counted():
    steps = [StepStarted(step_id=f"s{i}", name=f"step {i}", step_kind="task", index=i) for i in range(2_000)]

    text = render(RunStarted(run_id="R1"), *steps)

    assert len(text) <= STATIC_TEXT_CHARACTERS
    assert "… and 1,600 more steps" in text
