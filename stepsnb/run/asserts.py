"""Checks what a step or job asserted about itself; says in words what is missing."""

from collections.abc import Callable, Mapping, Sequence

from ..agent import OwedCall, missing_calls
from ..config import JobAssert, StepAssert
from ..outcome import Outcome

_EXCERPT = 200


def _excerpt(text: str) -> str:
    shown = text.strip()
    return f"`{shown[:_EXCERPT]}`" + (" …" if len(shown) > _EXCERPT else "") if shown else "nothing"


def unmet_of_step(
    asserted: StepAssert,
    *,
    text: str,
    has_file: Callable[[str], bool],
    code: int | None = None,
    calls: Sequence[tuple[str, Mapping[str, object]]] = (),
    verdict: str | None = None,
) -> list[str]:
    """Return one sentence for each part of a step's assert that does not hold; `code` is a task's exit code."""
    unmet = []
    if asserted.code is not None and code != asserted.code:
        unmet.append(f"assert.code: wanted exit code {asserted.code}, got {code}")
    if asserted.stdout is not None and asserted.stdout not in text:
        unmet.append(f"assert.stdout: wanted `{asserted.stdout}` in the output, which was {_excerpt(text)}")
    if asserted.verdict is not None and verdict != asserted.verdict:
        unmet.append(f"assert.verdict: wanted `{asserted.verdict}`, the step decided `{verdict}`")
    missing = [path for path in asserted.files if not has_file(path)]
    owed = missing_calls(owed_calls(asserted), calls)
    is_task = code is not None
    hint = "" if is_task or asserted.nudge else "; set `nudge: true` beside it to have the model told what it owes"
    if missing:
        unmet.append(f"assert.files: missing or empty: {', '.join(missing)}{hint}")
    if owed:
        unmet.append(f"assert.tool_calls: not made, in this order: {', '.join(map(str, owed))}{hint}")
    return unmet


def owed_calls(asserted: StepAssert) -> list[OwedCall]:
    """Return the tool calls an assert names."""
    return [OwedCall(call.name, dict(call.args)) for call in asserted.tool_calls]


def judge_job(
    asserted: JobAssert | None, outcome: Outcome, error: str | None, execution: Sequence[str]
) -> tuple[Outcome, str | None]:
    """Return a job's outcome and error after its assert.

    A matching `execution` clears the plan's failure, unless `outcome: succeeded` stands beside it; `outcome:
    failed` matches failed and errored. What a person stopped stays aborted.
    """
    if asserted is None or (outcome is Outcome.ABORTED and asserted.outcome != "aborted"):
        return outcome, error
    unmet = []
    if asserted.execution is not None and list(asserted.execution) != list(execution):
        ran = ", ".join(execution) or "nothing"
        unmet.append(f"assert.execution: wanted {', '.join(asserted.execution) or 'nothing'}; ran {ran}")
    if asserted.outcome is not None and not _matches(asserted.outcome, outcome):
        because = f" ({error})" if error else ""
        unmet.append(f"assert.outcome: wanted {asserted.outcome}, the plan {outcome}{because}")
    if unmet:
        return Outcome.FAILED, "; ".join(unmet)
    return Outcome.SUCCEEDED, None


def _matches(wanted: str, outcome: Outcome) -> bool:
    if wanted == Outcome.FAILED:
        return outcome in (Outcome.FAILED, Outcome.ERRORED)
    return wanted == outcome
