"""The JSON Schema of pipeline files, for editors and for people who want the full list of keys."""

from typing import Any

from .pipeline import Pipeline


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a pipeline file; rules across keys are the loader's alone."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Pipeline.model_json_schema()}
