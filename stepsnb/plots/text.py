"""The pictures as text, for a terminal or where matplotlib is not installed."""

from .data import Bars, Lines, Picture, Spans

_WIDTH = 48
_EIGHTHS = " ▏▎▍▌▋▊▉"
_FILLS = "█▓▒░"
_LEVELS = "▁▂▃▄▅▆▇█"


def picture_text(picture: Picture) -> str:
    """Return a picture as lines of text."""
    match picture:
        case Bars():
            lines = _bars(picture)
        case Spans():
            lines = _spans(picture)
        case Lines():
            lines = _lines(picture)
    return "\n".join([picture.title, *(lines or ["nothing to show yet"])])


def _bars(picture: Bars) -> list[str]:
    totals = [sum(values) for values in zip(*picture.series.values(), strict=True)]
    most, width = max(totals, default=0.0), max(map(len, picture.labels), default=0)
    lines = []
    for index, label in enumerate(picture.labels):
        bar = ""
        for number, values in enumerate(picture.series.values()):
            bar += _FILLS[number % len(_FILLS)] * round(_WIDTH * values[index] / most) if most else ""
        lines.append(f"{label:<{width}}  {totals[index]:>12,.6g} {bar}".rstrip())
    if lines and len(picture.series) > 1:
        keys = (f"{_FILLS[number % len(_FILLS)]} {name}" for number, name in enumerate(picture.series))
        lines.append(f"{picture.unit}: {'  '.join(keys)}")
    elif lines:
        lines.append(picture.unit)
    return [*lines, picture.note] if lines and picture.note else lines


def _spans(picture: Spans) -> list[str]:
    end = max((start + length for spans in picture.spans for _, start, length in spans), default=0.0)
    width = max(map(len, picture.lanes), default=0)
    fills = dict(zip(picture.kinds, "░█▓▒", strict=False))
    lines = []
    for lane, spans in zip(picture.lanes, picture.spans, strict=True):
        row = [" "] * _WIDTH
        for kind, start, length in spans:  # the step first, what happened in it over it
            first = min(int(_WIDTH * start / end), _WIDTH - 1) if end else 0
            last = min(max(int(_WIDTH * (start + length) / end), first + 1), _WIDTH) if end else 1
            row[first:last] = fills[kind] * (last - first)
        took = spans[0][2] if spans else 0.0
        lines.append(f"{lane:<{width}} |{''.join(row)}| {took:,.2f} s")
    if lines:
        lines.append("  ".join(f"{fill} {kind}" for kind, fill in fills.items()))
    return lines


def _lines(picture: Lines) -> list[str]:
    width = max(map(len, picture.lines), default=0)
    lines = []
    for name, values in picture.lines.items():
        level = picture.levels.get(name)
        most = max([*values, level or 0.0]) or 1.0
        drawn = "".join(_LEVELS[min(int(len(_LEVELS) * value / most), len(_LEVELS) - 1)] for value in values[-_WIDTH:])
        limit = "" if level is None else f", summarised at {level:,.0f}"
        again = len(picture.marks.get(name, ()))
        often = f", {again} times so far" if again else ""
        lines.append(f"{name:<{width}}  {drawn}  {values[-1]:,.0f} {picture.unit}{limit}{often}")
    return lines
