"""The nearest known name, and the wording of messages about a name that is not known."""

import difflib
from collections.abc import Iterable


def nearest(got: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant; None when none is near."""
    return next(iter(difflib.get_close_matches(got, sorted(known), n=1)), None)


def did_you_mean(got: str, known: Iterable[str]) -> str:
    """Return `` (did you mean `x`?)`` for the nearest known name; empty when none is near."""
    near = nearest(got, known)
    return f" (did you mean `{near}`?)" if near else ""


def unknown_name(kind: str, got: str, known: Iterable[str]) -> str:
    """Say that `got` is no known `kind`, what was probably meant, and what there is."""
    names = sorted(known)
    return f"unknown {kind} `{got}`{did_you_mean(got, names)}; available: {', '.join(names) or 'none'}"
