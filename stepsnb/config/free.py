"""Values with keys of the user's own, such as a resource's `source:`."""

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from .conversions import bad_value
from .tree import Entries, Items, Scalar, Tree
from .wording import wrong_shape


def _to_value(tree: Tree) -> Any:
    match tree:
        case Entries():
            return {key: _to_value(entry) for key, entry in tree.items()}
        case Items():
            return [_to_value(item) for item in tree]
        case Scalar(is_null=True):
            return None
        case Scalar(is_plain=True, text="true" | "false"):
            return tree.text == "true"
        case _:
            return tree.text


def _read_free(raw: Any) -> Any:
    if isinstance(raw, Items | Scalar):
        raise bad_value(wrong_shape(raw, "a mapping"))
    return _to_value(raw) if isinstance(raw, Entries) else raw


FreeMapping = Annotated[dict[str, Any], BeforeValidator(_read_free), WithJsonSchema({"type": "object"})]
"""A mapping that means what its reader makes of it: a number is text as it was written, `3.10` stays `3.10`."""
