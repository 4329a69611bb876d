"""How it is made sure, before a run does anything, that its models are there."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, PrivateAttr, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..settings import PREFLIGHT_PROBE_S, PREFLIGHT_TRUST_MAX_S, PREFLIGHT_TRUST_S
from .concept import Complaint, Concept
from .conversions import bad_value, read_flag
from .scalars import DurationS
from .tree import Entries, Items, Scalar

_MINUTE = 60


class PreflightSpec(Concept):
    """The probe of each model before a run: how long it may take, and how long a good one is trusted."""

    timeout_s: DurationS = Field(
        default=PREFLIGHT_PROBE_S,
        validation_alias="timeout",
        description=f"Of one probe with all its tries; unset: {PREFLIGHT_PROBE_S:g}s.",
    )
    cache_s: DurationS = Field(
        default=PREFLIGHT_TRUST_S,
        validation_alias="cache",
        description=f"How long a model that was there is not probed again; unset: {PREFLIGHT_TRUST_S / _MINUTE:g}m, "
        f'at most {PREFLIGHT_TRUST_MAX_S / _MINUTE:g}m, "0": probed for every run.',
    )

    _is_on: bool = PrivateAttr(default=True)

    @property
    def is_on(self) -> bool:
        """Whether there is one at all: `preflight: false` is the short form of none."""
        return self._is_on

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a probe without an end, and trust that is older than anybody should have."""
        if not self.timeout_s:
            text = "`preflight.timeout: 0` would wait for ever; give a time like `30s`, or write `preflight: false`"
            yield Complaint(("timeout",), text, ("timeout",))
        if self.cache_s > PREFLIGHT_TRUST_MAX_S:
            limit = f"{PREFLIGHT_TRUST_MAX_S / _MINUTE:g}m"
            yield Complaint(("cache",), f"`preflight.cache:` is more than {limit}; give {limit} or less", ("cache",))


def _read_preflight(raw: Any, info: ValidationInfo) -> Any:
    if isinstance(raw, Items):
        raise bad_value("must be `true`, `false` or a mapping with `timeout:` and `cache:`, not a list")
    if not isinstance(raw, Scalar):
        return raw
    flag = read_flag(raw)
    spec = PreflightSpec.model_validate({}, context=info.context)
    spec._is_on = flag
    return spec


class _OrFlag:
    """Adds `true` and `false` to the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "boolean"}, handler(core)]}


Preflight = Annotated[PreflightSpec, BeforeValidator(_read_preflight), _OrFlag()]


def _read_agent_preflight(raw: Any) -> Any:
    if isinstance(raw, Entries):
        raise bad_value("is `true` or `false` for one agent; `timeout:` and `cache:` stand in `defaults.preflight`")
    return read_flag(raw)


AgentPreflight = Annotated[bool, BeforeValidator(_read_agent_preflight)]
