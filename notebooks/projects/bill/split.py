"""Splits a bill, in cents."""


def split(cents: int, people: int) -> list[int]:
    """Return what each pays; together they pay the whole bill."""
    share = cents // people
    return [share] * people
