"""Questions and approvals of any run of a store, and their answers from wherever somebody is."""

import getpass
import os
from typing import TYPE_CHECKING

from .. import store as frames
from ..errors import InputError
from ..people import Letter, Mailbox, PendingQuestion
from .options import PathLike, store_root
from .tables import id_of

if TYPE_CHECKING:
    import pandas as pd

    from ..events import Question
    from .tables import RunId

APPROVE, REJECT = "approve", "reject"


def questions(run: "RunId | None" = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row a question that was asked, with its answer and who gave it.

    An answer that waits for its run to go on counts as given.
    """
    return _with_letters(frames.questions_df(frames.Store(store_root(store)), id_of(run)), store)


def approvals(run: "RunId | None" = None, *, store: PathLike | None = None) -> "pd.DataFrame":
    """One row an approval that was asked for, with what was said to it and by whom."""
    return _with_letters(frames.approvals_df(frames.Store(store_root(store)), id_of(run)), store)


def answer(question_id: str, text: str, *, store: PathLike | None = None) -> str:
    """Answer a question of any run, from any kernel or shell, and return the answer as its run gets it.

    The run that waits for it goes on; one that was killed meanwhile uses it once it is resumed.

    Raises: InputError for an unknown question, an answer that was not offered where only those count, and a question
        that was answered or expired before; StoreError.
    """
    root = store_root(store)
    asked = _open_question(question_id, frames.Store(root))
    _check_text(question_id, text)
    read = _pending(asked).read_answer(text)
    if read is None:
        offered = ", ".join(f"`{option}`" for option in asked.options)
        raise InputError(f"question {question_id}: `{text}` was not offered; answer one of {offered}")
    earlier = Mailbox(root).post(question_id, read, _who())
    if earlier is not None:
        raise InputError(_too_late(question_id, earlier))
    return read


def approve(approval_id: str, *, reason: str | None = None, store: PathLike | None = None) -> str:
    """Approve what an approval step of any run asks for. Raises: as `answer` does."""
    return _decide(approval_id, APPROVE, reason, store)


def reject(approval_id: str, *, reason: str | None = None, store: PathLike | None = None) -> str:
    """Reject what an approval step of any run asks for; its reason is the step's. Raises: as `answer` does."""
    return _decide(approval_id, REJECT, reason, store)


def _check_text(question_id: str, text: object) -> None:
    if not isinstance(text, str):
        raise InputError(f"question {question_id}: an answer is a text, not {type(text).__name__}; give it in quotes")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"question {question_id}: the answer holds half of a character; give it as whole UTF-8 text")


def _decide(approval_id: str, word: str, reason: str | None, store: PathLike | None) -> str:
    asked = _open_question(approval_id, frames.Store(store_root(store)))
    if not asked.takes_reason:
        raise InputError(f"question {approval_id} is no approval; answer it with `answer {approval_id} TEXT`")
    return answer(approval_id, f"{word}: {reason}" if reason else word, store=store)


def _open_question(question_id: str, store: frames.Store) -> "Question":
    asked = frames.find_question(store, str(question_id))
    if asked is None:
        raise InputError(f"there is no question {question_id}; `questions` lists them")
    if asked.phase == "answered":
        by = asked.answered_by or asked.source or "somebody"
        raise InputError(f"question {question_id} was answered `{asked.answer}` before ({by})")
    if asked.phase == "expired":
        raise InputError(_expired(question_id))
    return asked


def _pending(asked: "Question") -> PendingQuestion:
    return PendingQuestion(
        question_id=asked.question_id,
        agent=asked.agent,
        text=asked.text,
        options=tuple(asked.options),
        options_required=asked.options_required,
        default=asked.default,
        timeout_s=0.0,
        takes_reason=asked.takes_reason,
    )


def _too_late(question_id: str, earlier: Letter) -> str:
    if earlier.answered_by == "expired":
        return _expired(question_id)
    return f"question {question_id} was answered `{earlier.answer}` before ({earlier.answered_by})"


def _expired(question_id: str) -> str:
    return f"question {question_id} has expired: its run waits for it no more; resume the run to be asked again"


def _who() -> str:
    """Name whoever answers: the user of this process."""
    try:
        return f"{getpass.getuser()}, process {os.getpid()}"
    except (KeyError, OSError):
        return f"process {os.getpid()}"


def _with_letters(frame: "pd.DataFrame", store: PathLike | None) -> "pd.DataFrame":
    """Fill in answers that lie in the mailbox until their run goes on."""
    import pandas as pd

    mailbox = Mailbox(store_root(store))
    for row in frame.index[frame["answered_at"].isna()]:
        letter = mailbox.read(str(frame.loc[row, "id"]))
        if letter is None or not letter.is_answer:
            continue
        frame.loc[row, "answered_at"] = pd.Timestamp(letter.at, unit="s", tz="UTC").as_unit("us")
        frame.loc[row, ["answer", "source", "answered_by"]] = [letter.answer, "mailbox", letter.answered_by]
    return frame
