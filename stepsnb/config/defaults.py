"""Settings for agents that say nothing themselves, and prices of models."""

from typing import ClassVar

from pydantic import Field

from . import unsupported
from .concept import Concept
from .scalars import Dollars, ModelName, Preflight
from .unsupported import Unsupported


class Defaults(Concept):
    """What holds for every agent that does not say otherwise."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.DEFAULTS

    model: ModelName | None = Field(default=None, description="For agents whose `source:` names none.")
    preflight: Preflight | None = None


class PriceEntry(Concept):
    """US dollars per million tokens of one model; a cache price that is not set is that of plain input."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None
