"""The typed output of a step that is not run again, read from its record as if the model had just handed it in."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ..config import AgentStep, Step
from ..tools import WrongOutput, find_output


class Outdated(Exception):
    """A recorded output that does not fit what the step asks for any more, so that the step has to run."""


def read_output(step: Step, output: str | None, functions: Mapping[str, Callable[..., Any]]) -> object:
    """Return the value that `output`, its JSON, stands for; None for a step without typed output.

    Raises: Outdated; InputError when the form itself cannot be found.
    """
    if not isinstance(step, AgentStep) or step.output is None or output is None:
        return None
    try:
        return find_output(step.output, functions).read(json.loads(output))[0]
    except (WrongOutput, ValueError) as exc:
        raise Outdated(str(exc)) from exc
