"""Puts the conversations of sub-agents where the calls stand that they answer."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class Entry(NamedTuple):
    """What places a row: its step, the step and call that step answers (a sub-agent's), and a call of its own."""

    step_id: str
    parent_id: str | None = None
    parent_call_id: str | None = None
    call_id: str | None = None


def nest(frame: "pd.DataFrame", *, before_call: bool) -> "pd.DataFrame":
    """Put the rows of `frame` in the order of `nested_order`; its columns are named as the fields of an `Entry`."""
    rows = frame[list(Entry._fields)].itertuples(index=False)
    entries = [Entry(*(value if isinstance(value, str) else None for value in row)) for row in rows]  # type: ignore[arg-type]  # every row has a step
    return frame.iloc[nested_order(entries, before_call=before_call)].reset_index(drop=True)


class _Anchor(NamedTuple):
    """Right before or right behind the row at `place`."""

    place: int
    is_before: bool


_Inside = dict[_Anchor, list[str]]


def nested_order(entries: Sequence[Entry], *, before_call: bool) -> list[int]:
    """Return the places of `entries`, conversation after conversation, each sub-agent's at the call it answers.

    Within a conversation, and among those of one level, the order stays. A sub-agent's comes `before_call` where the
    row of a call is its result, else right behind it. One that names no call goes to where it began; one whose parent
    has no row stands on its own.
    """
    steps: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        steps.setdefault(entry.step_id, []).append(place)
    inside: _Inside = {}
    roots: list[str] = []
    for step_id, places in steps.items():
        first = entries[places[0]]
        if first.parent_id in steps and first.parent_id != step_id:
            calls = [place for place in steps[first.parent_id] if _is_call(entries[place], first)]
            anchor = _anchor(steps[first.parent_id], calls, places[0], before_call)
            inside.setdefault(anchor, []).append(step_id)
        else:
            roots.append(step_id)
    order: list[int] = []
    seen: set[str] = set()
    for step_id in (*roots, *steps):  # also those that say they are inside each other
        order.extend(_walk(step_id, steps, inside, seen))
    return order


def _is_call(entry: Entry, child: Entry) -> bool:
    return entry.call_id is not None and entry.call_id == child.parent_call_id


def _anchor(parent: Sequence[int], calls: Sequence[int], began: int, before_call: bool) -> _Anchor:
    """Find where a conversation goes that began at `began`; of calls with one id the nearest in time is meant."""
    if calls and before_call:
        return _Anchor(next((place for place in calls if place > began), calls[-1]), True)
    if calls:
        return _Anchor(next((place for place in reversed(calls) if place < began), calls[0]), False)
    earlier = [place for place in parent if place < began]
    return _Anchor(earlier[-1], False) if earlier else _Anchor(parent[0], True)


def _walk(root: str, steps: dict[str, list[int]], inside: _Inside, seen: set[str]) -> Iterator[int]:
    """Yield a conversation with everything inside it; without recursion, as a record may nest as deep as it likes."""
    stack: list[str | int] = [root]
    while stack:
        top = stack.pop()
        if isinstance(top, int):
            yield top
        elif top not in seen:
            seen.add(top)
            rows: list[str | int] = []
            for place in steps[top]:
                rows += [*inside.get(_Anchor(place, True), ()), place, *inside.get(_Anchor(place, False), ())]
            stack.extend(reversed(rows))
