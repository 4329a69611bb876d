"""Settings for what says nothing itself, and prices of models."""

from typing import ClassVar

from pydantic import Field

from ..settings import DELEGATE_BUDGET_PERCENT
from . import unsupported
from .concept import Concept
from .preflight import Preflight
from .scalars import AtLeast1, Dollars, ModelName, Percent
from .unsupported import Unsupported


class Defaults(Concept):
    """What holds for every agent, job and resource that does not say otherwise."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.DEFAULTS

    model: ModelName | None = Field(default=None, description="For agents whose `source:` names none.")
    preflight: Preflight | None = Field(
        default=None, description="`false`: models are not probed before a run; unset or `true`: they are."
    )
    delegate_budget_percent: Percent | None = Field(
        default=None,
        description=f"Of what an agent has left, for each call of a sub-agent; unset: {DELEGATE_BUDGET_PERCENT}.",
    )
    run_history: AtLeast1 | None = Field(default=None, description="Finished runs of each job that are kept.")
    version_history: AtLeast1 | None = Field(default=None, description="Versions of each resource that are kept.")


class PriceEntry(Concept):
    """US dollars per million tokens of one model; a cache price that is not set is that of plain input."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None
