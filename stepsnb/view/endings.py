"""What is shown of how a step ended: its output, its reason, its outcome in words."""

from typing import Any

from ..outcome import Outcome
from ..settings import VIEW_RESULT_CHARACTERS
from ..visible import clip, visible
from .words import pretty_arguments

_REASON_CHARACTERS = 4_000


def shown_output(output: str | None) -> dict[str, Any]:
    """Return the fields of a step that show its typed output; none without one."""
    if output is None:
        return {}
    kept, cut = clip(visible(pretty_arguments(output)), VIEW_RESULT_CHARACTERS)
    return {"output": kept, "output_cut": cut}


def shown_reason(text: str | None) -> str | None:
    """Return why a step ended so, or what it noted, as far as it is shown."""
    if text is None:
        return None
    kept, cut = clip(visible(text), _REASON_CHARACTERS)
    return f"{kept}…" if cut else kept


def ended_words(outcome: str) -> str:
    """Say in a sentence how a step ended that did not simply succeed."""
    return f"was {outcome}" if outcome in (Outcome.SKIPPED, Outcome.REUSED, Outcome.ABORTED) else outcome
