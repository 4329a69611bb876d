"""An `approval:` step in a real kernel: clicked, typed, expired, interrupted."""

import queue
import time
from collections.abc import Callable

import pytest

from .kernel import Executed, Kernel
from .test_cell import outcomes

CELL = """%%steps
jobs:
- name: j
  plan:
  - approval: { name: ship, message: Ship it? }
  - { task: after, run: echo shipped }
"""
EXPIRING = CELL.replace("message: Ship it?", "message: Ship it?, timeout: 1s")
STEPS = "__import__('stepsnb').steps()[['name', 'outcome']].values.tolist()"


def click(kernel: Kernel, request: str, answer: str) -> Executed:
    """Finish a cell as a front end with widgets does: prove that clicks arrive, then answer what is asked."""
    client = kernel.client
    executed, is_idle, has_answered, give_up_at = Executed(), False, False, time.monotonic() + 30

    def send(comm_id: str, content: dict[str, object]) -> None:
        data = {"method": "custom", "content": content}
        client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": comm_id, "data": data}))

    while not (is_idle and executed.reply):
        assert time.monotonic() < give_up_at, executed.outputs
        for channel in (client.iopub_channel, client.shell_channel):
            try:
                message = channel.get_msg(timeout=0.02)
            except queue.Empty:
                continue
            content = message["content"]
            if message["msg_type"] == "comm_msg" and content["data"].get("method") == "custom":
                told = content["data"]["content"]
                if told["t"] == "ping":
                    send(content["comm_id"], {"t": "pong"})
                elif (question := asked_in(told)) is not None and not has_answered:
                    has_answered = True
                    send(content["comm_id"], {"t": "answer", "id": question, "value": answer})
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "execute_reply":
                executed.reply = content
            elif message["msg_type"] == "status":
                is_idle = content["execution_state"] == "idle"
            elif "data" in content and message["msg_type"] != "comm_open":
                executed.outputs.append({"msg_type": message["msg_type"], "content": content})
    return executed


def asked_in(told: dict[str, object]) -> str | None:
    """The id of the question that a batch of changes brings."""
    for patch in told.get("patches", ()):  # type: ignore[union-attr]
        value = patch["value"]
        if patch["op"] == "push" and isinstance(value, dict) and value.get("kind") == "question":
            return str(value["id"])
    return None


def test_a_click_approves(kernel: Kernel) -> None:
    executed = click(kernel, kernel.start(CELL, allow_stdin=True), "approve")

    assert executed.error is None
    assert kernel.value(STEPS) == "[['ship', 'succeeded'], ['after', 'succeeded']]"
    assert kernel.value("__import__('stepsnb').questions()['source'].tolist()") == "['widget']"


def test_a_click_rejects_with_a_reason(kernel: Kernel) -> None:
    executed = click(kernel, kernel.start(CELL, allow_stdin=True), "reject: not today")

    assert executed.error is not None
    assert "not today" in executed.error[1]
    assert outcomes(kernel) == "['failed']"


@pytest.mark.parametrize(("typed", "outcome"), [("1", "succeeded"), ("reject: not today", "failed")])
def test_where_no_click_arrives_the_prompt_asks(kernel: Kernel, typed: str, outcome: str) -> None:
    prompts: list[str] = []
    answer: Callable[[str], str] = lambda prompt: prompts.append(prompt) or typed  # noqa: E731

    kernel.finish(kernel.start(CELL, allow_stdin=True), answer=answer)

    assert len(prompts) == 1
    assert prompts[0].startswith("approval: Ship it? [1 approve, 2 reject")
    assert outcomes(kernel) == f"['{outcome}']"


def test_an_approval_that_nobody_gives_in_time_aborts_the_run(kernel: Kernel) -> None:
    executed = kernel.finish(kernel.start(EXPIRING, allow_stdin=True), answer=lambda _: None)

    assert executed.error is not None
    assert executed.error[0] == "Aborted"
    assert outcomes(kernel) == "['aborted']"


def test_an_interrupt_while_an_approval_waits_stops_the_run(kernel: Kernel) -> None:
    def interrupt(_: str) -> None:
        kernel.manager.interrupt_kernel()

    executed = kernel.finish(kernel.start(CELL, allow_stdin=True), answer=interrupt)

    assert executed.error is not None
    assert executed.error[0] == "Interrupted"
    assert outcomes(kernel) == "['aborted']"
    assert kernel.value("1 + 1") == "2"
