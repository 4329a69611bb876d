"""What a person sees of an error in a cell: its message, without the traceback of our own machinery."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import StepsError
from ..visible import visible


class Interrupted(KeyboardInterrupt):
    """The kernel's interrupt reached a run; it is stopped and settled by the time this is raised."""


def show_plainly(error: BaseException) -> None:
    """Make IPython print `error` as one message; `error` itself and its traceback stay as they are."""
    name, message = type(error).__name__, visible(str(error))

    def render() -> list[str]:
        return [f"{name}: {message}" if message else name]

    # IPython asks the instance, so Python code that catches the exception still sees an ordinary one.
    error._render_traceback_ = render  # type: ignore[attr-defined]  # IPython's protocol, not BaseException's


@contextmanager
def plain_errors() -> Iterator[None]:
    """Show what a person can act on, or caused, as its message alone."""
    try:
        yield
    except (StepsError, Interrupted) as error:
        show_plainly(error)
        raise
