"""Pictures of runs and costs."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..plots import Picture, picture_of, picture_text
from ..store import Store
from .options import PathLike, store_root
from .tables import id_of

if TYPE_CHECKING:
    from .tables import RunId


class TextPicture:
    """A picture as text, where matplotlib is not installed (`pip install "stepsnb[plots]"`)."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    def __repr__(self) -> str:
        return picture_text(self._picture)


def plot(kind: str, run: "RunId | None" = None, *, store: PathLike | None = None, ax: Any = None) -> Any:
    """Draw a picture of a run, or of all runs of the store.

    `cost`: US dollars per day, by model. `tokens`: of each step of a run, or of each job, by class, cached ones apart.
    `timeline`: of a run, when each step, request, tool and question took how long. `context`: of a run, how each
    conversation grew, where it was summarised and where it would be. `verdicts`: how often each step decided what.

    Returns matplotlib's axes (`ax`, or those of a new figure); a `TextPicture` where it is not installed.

    Raises: InputError for an unknown kind or run, or a kind that is of one run when none is named; StoreError.
    """
    picture = picture_of(Store(store_root(store)), kind, id_of(run))
    if ax is None and find_spec("matplotlib") is None:
        return TextPicture(picture)
    from ..plots.draw import draw

    return draw(picture, ax)


def plot_text(kind: str, run: "RunId | None" = None, *, store: PathLike | None = None) -> str:
    """Return the same as text."""
    return picture_text(picture_of(Store(store_root(store)), kind, id_of(run)))
