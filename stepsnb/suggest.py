"""Wording of "unknown name" messages, with the nearest known name."""

import difflib
from collections.abc import Iterable


def unknown_name(kind: str, got: str, known: Iterable[str]) -> str:
    """Say that `got` is no known `kind`, what was probably meant, and what there is."""
    names = sorted(known)
    near = difflib.get_close_matches(got, names, n=1)
    hint = f" (did you mean `{near[0]}`?)" if near else ""
    return f"unknown {kind} `{got}`{hint}; available: {', '.join(names) or 'none'}"
