"""Questions on their way from the engine to the cell's thread."""

import asyncio
import builtins
import threading
import time

import pytest

from stepsnb.engine import EngineTask, engine
from stepsnb.notebook.asker import CellAsker, Prompts
from stepsnb.people import Answer, PendingQuestion


def question(**fields: object) -> PendingQuestion:
    return PendingQuestion(
        **{"question_id": "q1", "agent": "writer", "text": "Which port?", "timeout_s": 5.0, **fields}  # type: ignore[arg-type]
    )


class Typist:
    """Types lines into `input()` and keeps the prompts it saw."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
        self.prompts: list[str] = []
        self._lines = list(lines)
        monkeypatch.setattr(builtins, "input", self._input)

    def _input(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self._lines:
            raise EOFError
        return self._lines.pop(0)


def serve_until_settled(prompts: Prompts, task: EngineTask[Answer | None]) -> Answer | None:
    deadline = time.monotonic() + 5
    while not task.is_settled and time.monotonic() < deadline:
        prompts.serve()
        time.sleep(0.01)
    return task.result(1.0)


def ask(asked: PendingQuestion) -> Answer | None:
    prompts = Prompts()
    return serve_until_settled(prompts, engine().start(CellAsker(None, prompts).ask(asked)))


class Clicks:
    def __init__(self, *, live: bool) -> None:
        self._live = live

    async def is_live(self) -> bool:
        return self._live

    async def answer(self, question_id: str) -> str:
        return f"clicked {question_id}"


async def test_a_live_view_answers() -> None:
    assert await CellAsker(Clicks(live=True), Prompts()).ask(question()) == Answer("clicked q1", "widget")


async def test_without_view_and_prompt_nobody_is_asked() -> None:
    assert await CellAsker(Clicks(live=False), None).ask(question()) is None


def test_the_prompt_runs_on_the_cells_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[threading.Thread] = []
    monkeypatch.setattr(builtins, "input", lambda _: seen.append(threading.current_thread()) or "80")

    assert ask(question()) == Answer("80", "prompt")
    assert seen == [threading.current_thread()]


def test_the_prompt_shows_options_and_default_and_takes_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist(monkeypatch, "2")

    assert ask(question(options=("A", "B"), default="A")) == Answer("B", "prompt")
    assert typist.prompts == ["writer asks: Which port? [1 A, 2 B; default A] "]


def test_enter_takes_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    Typist(monkeypatch, "  ")

    assert ask(question(default="8080")) == Answer("8080", "prompt")


def test_what_is_not_an_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist(monkeypatch, "", "C", "A")

    assert ask(question(options=("A", "B"), options_required=True)) == Answer("A", "prompt")
    assert len(typist.prompts) == 3


def test_an_approval_says_that_a_reason_may_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist(monkeypatch, "perhaps", "2: not on a Friday")
    approval = PendingQuestion(
        question_id="q",
        agent="",
        text="Ship it?",
        options=("approve", "reject"),
        options_required=True,
        timeout_s=5.0,
        takes_reason=True,
    )

    assert ask(approval) == Answer("reject: not on a Friday", "prompt")
    assert typist.prompts[0] == (
        "approval: Ship it? [1 approve, 2 reject; a reason may follow, as in `reject: not today`] "
    )


def test_a_closed_standard_input_means_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    Typist(monkeypatch)

    assert ask(question()) is None


def test_an_interrupt_at_the_prompt_reaches_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(builtins, "input", interrupted)
    prompts = Prompts()
    task = engine().start(prompts.ask(question()))

    with pytest.raises(KeyboardInterrupt):
        serve_until_settled(prompts, task)
    task.cancel()
    assert task.wait(1.0)


def test_a_question_that_expires_ends_its_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "input", lambda _: time.sleep(30))
    prompts = Prompts()

    async def ask_briefly() -> str | None:
        try:
            async with asyncio.timeout(0.3):
                return await prompts.ask(question())
        except TimeoutError:
            return "expired"

    began = time.monotonic()
    assert serve_until_settled(prompts, engine().start(ask_briefly())) == "expired"
    assert time.monotonic() - began < 3


def test_a_question_that_expired_before_it_was_put_is_not_put(monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist(monkeypatch, "late")
    prompts = Prompts()
    task = engine().start(prompts.ask(question()))
    time.sleep(0.05)
    task.cancel()
    assert task.wait(1.0)

    prompts.serve()

    assert typist.prompts == []
