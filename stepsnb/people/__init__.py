"""Asking people: questions, the answers given in advance, and the ladder that decides who answers."""

from .given import GivenAnswers
from .ladder import Ladder, Respond
from .mailbox import Letter, Mailbox
from .questions import Answer, Asker, PendingQuestion

__all__ = ["Answer", "Asker", "GivenAnswers", "Ladder", "Letter", "Mailbox", "PendingQuestion", "Respond"]
