"""The JSON Schema of pipeline files, for editors and for people who want the full list of keys."""

from typing import Any, get_args

from .pipeline import Pipeline
from .steps import Step


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a pipeline file; rules across keys are the loader's alone."""
    whole = Pipeline.model_json_schema()
    kinds = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in get_args(Step)]
    whole = _name_steps(whole, kinds)
    for kind, key in (("InParallelStep", "in_parallel"), ("RaceStep", "race")):
        properties = whole["$defs"][kind]["properties"]
        bare = {"type": "array", "items": {"$ref": "#/$defs/Step"}, "minItems": 1, "description": "The branches."}
        properties[key] = {"anyOf": [properties[key], bare]}
    whole["$defs"]["Step"] = {"anyOf": kinds, "description": "A step of any kind; it has exactly one kind's key."}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}


def _name_steps(part: Any, kinds: list[dict[str, str]]) -> Any:
    """Return `part` with a reference in place of each list of all kinds of steps."""
    if isinstance(part, list):
        return [_name_steps(each, kinds) for each in part]
    if not isinstance(part, dict):
        return part
    named = {key: _name_steps(value, kinds) for key, value in part.items() if key != "anyOf"}
    choices = part.get("anyOf", [])
    if choices == kinds:
        return {**named, "$ref": "#/$defs/Step"}
    if choices[: len(kinds)] == kinds:
        choices = [{"$ref": "#/$defs/Step"}, *choices[len(kinds) :]]
    return {**named, "anyOf": _name_steps(choices, kinds)} if choices else named
