"""How a scalar becomes a value: by YAML 1.2 core rules, as the field it is meant for decides; text keeps its source.

Values that are Python values already (models built in code) pass through to pydantic.
"""

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

from ..settings import ATTEMPTS, MODEL_NAME_CHARACTERS
from ..suggest import unknown_name
from .tree import Entries, Items, Scalar, Tree
from .wording import not_supported, wrong_shape

WAITING = "waiting"
"""The type of the error of a field whose value is not known before the run."""

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES = {"0o": 8, "0x": 16}
_INT_CHARACTERS = 18  # every token count and price fits, and `int()` refuses texts of thousands of digits
_FLAGS = dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_NEAR_FLAGS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}

_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|h|m|s))+")
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|h|m|s)")
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MAX_DURATION_S = 10 * 365 * 24 * 3600.0

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FUNCTION = re.compile(r"(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:)?[A-Za-z_]\w*")
_PYTHON_VARIABLE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_PLACEHOLDER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_BYTES = re.compile(r"([0-9]{1,15}) ?([kKmMgGtT]?[bB]?)")
_BYTE_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def bad_value(text: str) -> PydanticCustomError:
    """Build the error of a field; `text` begins with a verb, as the value is named before it."""
    return PydanticCustomError("bad_value", "{text}", {"text": text})


def unknown_value(kind: str, got: str, known: Iterable[str], more: str = "") -> PydanticCustomError:
    """Build the error of a name that is none of `known`."""
    return PydanticCustomError("sentence", "{text}", {"text": unknown_name(kind, got, known) + more})


def read_any_text(raw: Any) -> Any:
    """Read text that may be empty."""
    if isinstance(raw, Entries | Items):
        raise bad_value(wrong_shape(raw, "text"))
    if not isinstance(raw, Scalar):
        return raw
    if raw.is_null:
        raise bad_value('has no value; give one, write "" for empty text, or remove the key')
    if "\0" in raw.text:
        raise bad_value("holds a NUL character; remove it")
    return raw.text


def read_text(raw: Any) -> Any:
    """Read text that says something."""
    value = read_any_text(raw)
    if isinstance(value, str) and not value.strip():
        raise bad_value("is empty; write something, or remove the key")
    return value


def read_settled_text(raw: Any) -> Any:
    """Read text that will be converted; what waits for a variable of the run is judged when that is known."""
    if isinstance(raw, Scalar) and raw.waits_for:
        raise PydanticCustomError(WAITING, "waits for a variable")
    return read_any_text(raw)


def _plain_text(raw: Any, expected: str) -> Any:
    """Return the text of a scalar that is to be converted; everything that is no tree passes."""
    value = read_settled_text(raw) if isinstance(raw, Scalar) else raw
    if isinstance(raw, Entries | Items):
        raise bad_value(wrong_shape(raw, expected))
    if isinstance(raw, Scalar) and not raw.is_plain:
        raise bad_value(f"is text, not {expected}; remove the quotes")
    return value


def read_whole(raw: Any) -> Any:
    """Read a whole number."""
    text = _plain_text(raw, "a whole number")
    if not isinstance(raw, Scalar):
        return raw
    if not _INT.fullmatch(text) or len(text) > _INT_CHARACTERS:
        raise bad_value("must be a whole number; write digits only, such as `30`")
    return int(text, _BASES.get(text[:2], 10))


def read_number(raw: Any) -> Any:
    """Read a finite number."""
    text = _plain_text(raw, "a number")
    if not isinstance(raw, Scalar):
        return raw
    if not _FLOAT.fullmatch(text) or math.isinf(float(text)):
        raise bad_value("must be a number; write it with digits, such as `0.2`")
    return float(text)


def read_dollars(raw: Any) -> Any:
    """Read an exact amount."""
    text = _plain_text(raw, "a number")
    if not isinstance(raw, Scalar):
        return raw
    if not _FLOAT.fullmatch(text) or len(text) > _INT_CHARACTERS:
        raise bad_value("must be a number; write US dollars per million tokens, such as `0.25`")
    return Decimal(text)


def read_flag(raw: Any) -> Any:
    """Read `true` or `false`."""
    text = _plain_text(raw, "`true` or `false`")
    if not isinstance(raw, Scalar):
        return raw
    if text not in _FLAGS:
        meant = _NEAR_FLAGS.get(text.lower())
        instead = f"`{text}` is text in YAML 1.2, so write `{meant}`" if meant else "write one of the two"
        raise bad_value(f"must be `true` or `false`; {instead}")
    return _FLAGS[text]


def to_plain(tree: Tree) -> Any:
    """Turn a tree into Python values by YAML 1.2 core rules, for what is JSON and has no field types of its own."""
    match tree:
        case Entries():
            return {key: to_plain(entry) for key, entry in tree.items()}
        case Items():
            return [to_plain(item) for item in tree]
        case _:
            return _plain_scalar(tree)


def _plain_scalar(scalar: Scalar) -> Any:
    if scalar.is_null:
        return None
    if not scalar.is_plain:
        return scalar.text
    if scalar.text in _FLAGS:
        return _FLAGS[scalar.text]
    if _INT.fullmatch(scalar.text) and len(scalar.text) <= _INT_CHARACTERS:
        return int(scalar.text, _BASES.get(scalar.text[:2], 10))
    if _FLOAT.fullmatch(scalar.text) and not math.isinf(float(scalar.text)):
        return float(scalar.text)
    return scalar.text


def read_duration(raw: Any) -> Any:
    """Read a duration like `1h30m` as seconds; 0 means no limit."""
    text = read_settled_text(raw)
    if not isinstance(raw, Entries | Items | Scalar):
        return raw
    if text == "0":
        return 0.0
    if not _DURATION.fullmatch(text):
        raise bad_value('is no duration; write it like `30s`, `5m` or `1h`, or "0" for no limit')
    seconds = sum(float(amount) * _UNITS_S[unit] for amount, unit in _DURATION_PART.findall(text))
    if not 0 < seconds <= _MAX_DURATION_S:
        raise bad_value('is out of range; give more than nothing and less than ten years, or "0" for no limit')
    return seconds


def read_name(raw: Any) -> Any:
    """Read a one-line name."""
    if isinstance(raw, Scalar) and raw.waits_for:
        raise bad_value(
            f"is known only during the run, when `load_var: {min(raw.waits_for)}` has read it; write the name out"
        )
    value = read_text(raw)
    if isinstance(value, str) and (_CONTROL.search(value) or value != value.strip()):
        raise bad_value("is no name; write it on one line without spaces around it")
    return value


def read_artifact_name(raw: Any) -> Any:
    """Read a name that is safe as the name of a directory."""
    value = read_name(raw)
    if isinstance(value, str) and (value.startswith(".") or "/" in value or "\\" in value):
        raise bad_value("is no artifact name; give a plain name without slashes or a leading dot, such as `notes`")
    return value


def read_variable_name(raw: Any) -> Any:
    """Read the name of an environment variable."""
    value = read_text(raw)
    if isinstance(value, str) and ("=" in value or _CONTROL.search(value)):
        raise bad_value("is no name of an environment variable; leave out `=` and control characters")
    return value


def read_key_variable(raw: Any) -> Any:
    """Read the name of a variable that holds a key; what is written is never repeated, it may be the key."""
    value = read_text(raw)
    if isinstance(value, str) and not _VARIABLE.fullmatch(value):
        raise PydanticCustomError(
            "secret",
            "must name an environment variable, never the key itself; write a name such as `OPENROUTER_API_KEY`",
        )
    return value


def read_model_name(raw: Any) -> Any:
    """Read a model's name."""
    value = read_name(raw)
    if isinstance(value, str) and len(value) > MODEL_NAME_CHARACTERS:
        raise bad_value(f"has {len(value)} characters; a model's name has at most {MODEL_NAME_CHARACTERS}")
    if isinstance(value, str) and value.startswith("@"):
        raise bad_value(not_supported("(a command-line agent)", "name a model such as `openrouter/VENDOR/MODEL`"))
    return value


def read_endpoint(raw: Any) -> Any:
    """Read the address of a server."""
    value = read_text(raw)
    if isinstance(value, str):
        try:
            parts = urlsplit(value)
            is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port beyond 65535, an IPv6 address without its bracket
            is_http = False
        if not is_http:
            raise bad_value("is no http address; give a base URL such as `http://127.0.0.1:8080/v1`")
    return value


def read_function_name(raw: Any, kind: str) -> Any:
    """Read the name of something in Python: `NAME` in the notebook or `module:NAME`; `kind` says what it is."""
    name = read_any_text(raw)
    if isinstance(name, str) and not _FUNCTION.fullmatch(name):
        raise bad_value(f"names no {kind}; write `NAME` for one of the notebook, or `package.module:NAME`")
    return name


def read_python_variable(raw: Any) -> Any:
    """Read the name of a Python variable, or of an attribute of one."""
    name = read_any_text(raw)
    if isinstance(name, str) and not _PYTHON_VARIABLE.fullmatch(name):
        raise bad_value("names no Python variable; write `NAME` or `NAME.ATTRIBUTE`")
    return name


def read_attempts(raw: Any) -> Any:
    """Read a number of requests for one reply."""
    value = read_whole(raw)
    if value is not None and value < 1:
        raise bad_value(f"never runs; give 1 or more, or leave it out for the default ({ATTEMPTS})")
    return value


def read_step_attempts(raw: Any) -> Any:
    """Read how often a step is tried."""
    value = read_whole(raw)
    if value is not None and value < 1:
        raise bad_value("never runs; give 1 or more, or leave it out to run it once")
    return value


def read_bytes(raw: Any) -> Any:
    """Read an amount of memory like `512MB`; units are powers of 1024."""
    text = read_settled_text(raw)
    if not isinstance(raw, Entries | Items | Scalar):
        return raw
    found = _BYTES.fullmatch(text.strip())
    if not found or int(found[1]) < 1:
        raise bad_value("is no amount of memory; write it like `512MB` or `2GB`, or as a number of bytes")
    return int(found[1]) * _BYTE_UNITS[found[2].upper()[:1]]


def read_axis_name(raw: Any) -> Any:
    """Read the name of an axis, which templates can say."""
    value = read_name(raw)
    if isinstance(value, str) and not _VARIABLE.fullmatch(value):
        raise bad_value("is no name for an axis; use letters, digits and `_`, as it is written `{{ .vars.NAME }}`")
    return value


def read_placeholder_name(raw: Any) -> Any:
    """Read the name of a variable, which scalars can say as `((name))`."""
    value = read_name(raw)
    if isinstance(value, str) and not _PLACEHOLDER_NAME.fullmatch(value):
        raise bad_value("is no name for a variable; use letters, digits, `_`, `-` and `.`, as it is written `((NAME))`")
    return value


def read_texts_by_name(raw: Entries) -> dict[str, Any]:
    """Read a flat mapping whose values are all text as it was written."""
    for key, value in raw.items():
        if isinstance(value, Entries | Items):
            raise bad_value(f"must be flat, and `{key}:` is no text; write `KEY: VALUE`")
    return {key: read_any_text(value) for key, value in raw.items()}
