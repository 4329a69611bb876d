"""The kinds of steps that hold others, one file each."""

from .across import run_across
from .ensemble import run_ensemble
from .in_parallel import run_in_parallel
from .race import run_race

__all__ = ["run_across", "run_ensemble", "run_in_parallel", "run_race"]
