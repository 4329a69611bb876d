"""Finds the client that `source.client` names among the variables of the notebook."""

from collections.abc import Mapping
from types import ModuleType

from ..errors import InputError
from ..suggest import did_you_mean

_LISTED = 5


def find_client(name: str, functions: Mapping[str, object]) -> object:
    """Return the client in the variable `name`: OpenAI's, or anything that has `.chat.completions.create` as it does.

    Raises: `InputError` when there is no such variable, or it holds something else.
    """
    if name not in functions:
        names = [each for each in functions if not each.startswith("_")]
        clients = [each for each in names if _is_client(functions.get(each))]
        near = did_you_mean(name, clients) or did_you_mean(name, names)
        listed = f"; clients here: {', '.join(sorted(clients)[:_LISTED])}" if clients else ""
        raise InputError(
            f"`source.client: {name}`: unknown variable `{name}`{near}{listed}; set it before the run, "
            f"such as `{name} = openai.OpenAI()`"
        )
    client = functions[name]
    if isinstance(client, ModuleType | type) or not _is_client(client):
        raise InputError(
            f"`source.client: {name}`: `{name}` is {_describe(client)}, not a client; give it an OpenAI client, or an "
            "object that has `.chat.completions.create`"
        )
    return client


def _is_client(value: object) -> bool:
    completions = getattr(getattr(value, "chat", None), "completions", None)
    return callable(getattr(completions, "create", None))


def _describe(value: object) -> str:
    if isinstance(value, ModuleType):
        return f"the module `{value.__name__}`"
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    return f"of type `{type(value).__name__}`"
