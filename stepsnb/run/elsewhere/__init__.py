"""Runs a branch or cell of a plan in another process: a spec goes there, and through ports what it does comes back.

`worker` is the side that runs a spec; it is imported by whoever is one.
"""

from .ports import Executor, Ports, WorkerLost
from .spawning import Spawner
from .spec import (
    Document,
    Ran,
    StepSpec,
    TreeRef,
    decode_ran,
    decode_spec,
    document_of,
    encode_ran,
    encode_spec,
    spec_of,
)

__all__ = [
    "Document",
    "Executor",
    "Ports",
    "Ran",
    "Spawner",
    "StepSpec",
    "TreeRef",
    "WorkerLost",
    "decode_ran",
    "decode_spec",
    "document_of",
    "encode_ran",
    "encode_spec",
    "spec_of",
]
