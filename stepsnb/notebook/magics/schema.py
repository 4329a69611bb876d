"""`%steps schema`: the JSON Schema of pipelines."""

import argparse

from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb


def _arguments() -> Arguments:
    return Arguments("%steps schema", "Show the JSON Schema of pipelines, for editors.", example="%steps schema")


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    from ...config import schema

    return schema()


SCHEMA = Verb("schema", _arguments(), _call)
