"""Fingerprints: what a step does, part by part, so that a difference can be named and nothing said twice."""

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec

SCHEME = 1
"""Version of what enters a hash and how; another one makes every result of before unknown."""

_HASH_BYTES = 20
_PART_BYTES = 8

# ASCII, so that a lone surrogate from a command line is text like any other.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False).encode


class Fingerprint(msgspec.Struct, frozen=True):
    """Digests of what a step does, by the part of it, such as `run`, `env.LANG` or `messages[0]`.

    `content` is the digest of all of them. None of the values can be read back from it.
    """

    parts: dict[str, str] = {}
    content: str = ""


def take_fingerprint(parts: Mapping[str, Any]) -> Fingerprint:
    """Make the fingerprint of parts, which are values of JSON's types."""
    texts = {name: _encode((name, value)).encode() for name, value in parts.items()}
    whole = blake2b(digest_size=_HASH_BYTES)
    for name in sorted(texts):
        whole.update(texts[name])  # its brackets and quotes delimit it
    digests = {name: blake2b(text, digest_size=_PART_BYTES).hexdigest() for name, text in texts.items()}
    return Fingerprint(digests, whole.hexdigest())


def chain(previous: str, content: str, below: Iterable[str] = ()) -> str:
    """Return the hash of a step that does `content` after `previous`, with `below` the hashes of what it holds."""
    text = _encode((SCHEME, previous, content, list(below)))
    return blake2b(text.encode(), digest_size=_HASH_BYTES).hexdigest()


def changed_parts(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Say in words which parts changed, were added or are gone."""
    said = []
    for name, digest in now.items():
        if name not in before:
            said.append(f"{name} added")
        elif before[name] != digest:
            said.append(f"{name} changed")
    said.extend(f"{name} removed" for name in before if name not in now)
    return said
