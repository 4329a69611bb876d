"""What a tool may be called: a name that providers take, and none that stands for a tool of ours."""

import re

SYNTHESIZED_TOOLS = ("verdict", "submit_output", "read_step")
"""Tools that a step's own keys bring along; no granted tool may have their names."""

_USABLE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def wrong_name(name: str, instead: str) -> str | None:
    """Say why a model cannot be offered a tool called `name`; None when it can. `instead` says what to do."""
    if name in SYNTHESIZED_TOOLS:
        return f"a tool cannot be called `{name}`, stepsnb has one of that name; {instead}"
    if not _USABLE.fullmatch(name):
        return f"a tool cannot be called `{name}`, its name is 1 to 64 letters, digits, `_` and `-`; {instead}"
    return None
