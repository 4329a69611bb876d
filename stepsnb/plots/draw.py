"""The pictures with matplotlib."""

from typing import TYPE_CHECKING, Any

from .data import Bars, Lines, Picture, Spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LANE = 0.8


def draw(picture: Picture, ax: "Axes | None" = None) -> "Axes":
    """Draw a picture into `ax`, or into a new figure, and return the axes."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    ax.set_title(_plain(picture.title))
    match picture:
        case Bars():
            _bars(picture, ax)
        case Spans():
            _spans(picture, ax)
        case Lines():
            _lines(picture, ax)
    return ax


def _bars(picture: Bars, ax: "Axes") -> None:
    places = range(len(picture.labels))
    left = [0.0] * len(picture.labels)
    for name, values in picture.series.items():
        ax.barh(places, values, left=left, label=_plain(name))
        left = [a + b for a, b in zip(left, values, strict=True)]
    ax.set_yticks(list(places), [_plain(label) for label in picture.labels])
    ax.invert_yaxis()
    ax.set_xlabel(_plain(f"{picture.unit} ({picture.note})" if picture.note else picture.unit))
    if len(picture.series) > 1:
        ax.legend()


def _spans(picture: Spans, ax: "Axes") -> None:
    colours: dict[str, Any] = {kind: f"C{number}" for number, kind in enumerate(picture.kinds)}
    for lane, spans in enumerate(picture.spans):
        for kind, start, length in spans:
            height = _LANE if kind == "step" else _LANE / 2
            ax.barh(lane, length, left=start, height=height, color=colours[kind], alpha=0.3 if kind == "step" else 1.0)
    ax.set_yticks(range(len(picture.lanes)), [_plain(lane) for lane in picture.lanes])
    ax.invert_yaxis()
    ax.set_xlabel("seconds")
    handles = [ax.barh(0, 0, color=colours[kind], label=_plain(kind)) for kind in picture.kinds]
    if handles:
        ax.legend(handles=handles)


def _lines(picture: Lines, ax: "Axes") -> None:
    for number, (name, values) in enumerate(picture.lines.items()):
        colour = f"C{number}"
        ax.plot(range(1, len(values) + 1), values, color=colour, label=_plain(name))
        if (level := picture.levels.get(name)) is not None:
            ax.axhline(level, color=colour, linestyle="--", linewidth=1)
        for place in picture.marks.get(name, ()):
            ax.axvline(place + 0.5, color=colour, linestyle=":")
    ax.set_xlabel("requests")
    ax.set_ylabel(picture.unit)
    if picture.lines:
        ax.legend()


def _plain(text: str) -> str:
    """Keep what is between two dollar signs from being read as a formula."""
    return text.replace("$", r"\$")
