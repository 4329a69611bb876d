"""Reads a Google-style docstring: what the function does, and what each argument is."""

import re
from dataclasses import dataclass, field

_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns?|Yields?|Raises|Examples?|Notes?|Attributes):\s*$")
_ARGUMENT = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_TOLD = ("Return", "Note", "Example")
"""Sections that tell a caller something; a model is told what may be raised when it is."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """The text for a model, and one description an argument."""

    text: str = ""
    arguments: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str) -> Docstring:
    """Take a docstring, cleaned as `inspect.getdoc` does it, apart."""
    told: list[str] = []
    arguments: list[str] = []
    into: list[str] | None = told
    for line in text.splitlines():
        if section := _SECTION.match(line):
            name = section[1]
            into = (
                arguments if name in ("Args", "Arguments", "Parameters") else told if name.startswith(_TOLD) else None
            )
            if into is not told:
                continue
        if into is not None:
            into.append(line)
    return Docstring("\n".join(told).strip(), _arguments(arguments))


def _arguments(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    current = ""
    indent = next((len(line) - len(line.lstrip()) for line in lines if line.strip()), 0)
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        if depth <= indent and (start := _ARGUMENT.match(line.strip())):
            current = start[1]
            found[current] = start[2]
        elif current and depth > indent:
            found[current] = f"{found[current]} {line.strip()}".strip()
    return found
