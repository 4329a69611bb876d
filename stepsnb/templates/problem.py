"""What is wrong with a template, and where."""

from ..errors import StepsError


class TemplateProblem(StepsError):
    """A template that cannot be rendered; the message begins with the place in it.

    `offset` counts the characters before that place, `line` and `column` from 1; `reason` is the message without it.
    """

    code = "template"

    def __init__(self, reason: str, text: str, offset: int) -> None:
        self.reason = reason
        self.offset = offset
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {reason}")


class Unfit(ValueError):
    """What a lookup or a function cannot do; where that is, only its caller knows."""
