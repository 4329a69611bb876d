"""Answers given in advance: a mapping for any number of questions, or a queue with one answer each."""

from collections.abc import Mapping, Sequence

from ..errors import InputError


class GivenAnswers:
    """Answers that stand ready before the run starts.

    A mapping answers every question whose text contains the key, whatever the case; a list is used up front to
    back, one answer a question, and asking beyond its end is an error rather than a repeated answer.
    """

    def __init__(self, by_substring: Mapping[str, str], queue: Sequence[str] | None) -> None:
        self._by_substring = dict(by_substring)
        self._queue = None if queue is None else list(queue)
        self._given = 0 if queue is None else len(queue)
        self._used: set[str] = set()

    @classmethod
    def from_value(cls, value: object) -> "GivenAnswers":
        """Accept what `answers=` accepts.

        Raises: InputError for anything but a mapping or list of texts.
        """
        if value is None:
            return cls({}, None)
        if isinstance(value, Mapping):
            if not all(isinstance(k, str) and isinstance(v, str) for k, v in value.items()):
                raise InputError("answers: keys and values are texts; write {'part of the question': 'answer'}")
            return cls(value, None)
        if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(v, str) for v in value):
            raise InputError("answers: give a mapping {'part of the question': 'answer'} or a list of texts")
        return cls({}, value)

    def find(self, question: str) -> str | None:
        """Return the answer standing ready for `question`, or None.

        Raises: InputError when the answers are a list and every one of them has been used.
        """
        if self._queue is not None:
            if not self._queue:
                raise InputError(
                    f"question `{question}`: all {self._given} answers given in advance are used; add one to the list"
                )
            return self._queue.pop(0)
        lowered = question.lower()
        for part, answer in self._by_substring.items():
            if part.lower() in lowered:
                self._used.add(part)
                return answer
        return None

    @property
    def unused(self) -> list[str]:
        """Parts of questions that no question held, in the order in which they were given."""
        return [part for part in self._by_substring if part not in self._used]
