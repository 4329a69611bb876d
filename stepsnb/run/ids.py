"""Ids of runs, steps and questions: short enough to type, never reused."""

import secrets

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O or U to misread
_LENGTH = 8


def new_run_id() -> str:
    """Return a fresh run id of eight letters and digits (40 random bits)."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
