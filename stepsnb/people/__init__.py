"""Asking people: questions, the answers given in advance, and the ladder that decides who answers."""

from .given import GivenAnswers
from .ladder import Ladder
from .questions import Answer, Asker, PendingQuestion

__all__ = ["Answer", "Asker", "GivenAnswers", "Ladder", "PendingQuestion"]
