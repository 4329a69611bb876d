"""`stepsnb schema`: the pipeline language as a JSON schema, for editors and scripts."""

import argparse
from typing import TYPE_CHECKING

from .options import add_json
from .output import print_json

if TYPE_CHECKING:
    from .options import Verbs


def add_verb(verbs: "Verbs") -> None:
    """Offer `schema`."""
    parser = verbs.add_parser("schema", help="print the JSON schema of pipelines")
    add_json(parser)
    parser.set_defaults(verb=schema)


def schema(args: argparse.Namespace) -> int:
    """Print the schema; it is one JSON value with and without `--json`."""
    import stepsnb

    print_json(stepsnb.schema())
    return 0
