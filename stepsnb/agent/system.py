"""The system message of a step: persona, working directory, and the deadline."""

from collections.abc import Sequence

_WHOLE_MINUTES_S = 600
"""From here on a time is said in whole minutes: a sub-agent has what is left of its caller's, and a text with other
seconds in it each time would be read anew by a provider that caches what prompts have in common."""


def _duration_words(seconds: float) -> str:
    whole = round(seconds / 60) * 60 if seconds >= _WHOLE_MINUTES_S else round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [
        f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in ((hours, "hour"), (minutes, "minute"), (rest, "second"))
    ]
    return " ".join(p for p in parts if not p.startswith("0 ")) or "less than a second"


def build_system_text(
    persona: str | None, *, inputs: Sequence[str], outputs: Sequence[str], timeout_s: float | None
) -> str:
    """Join the persona with what the model has to know about where it works and for how long."""
    lines = ["You work in a directory of your own. Paths of tools are relative to it."]
    if inputs:
        lines.append(f"It holds: {', '.join(f'{name}/' for name in inputs)}.")
    if outputs:
        lines.append(f"Files to keep go into: {', '.join(f'{name}/' for name in outputs)}; only these survive.")
    if timeout_s:
        lines.append(f"You have {_duration_words(timeout_s)} for all of it.")
    place = " ".join(lines)
    return f"{persona.strip()}\n\n{place}" if persona and persona.strip() else place
