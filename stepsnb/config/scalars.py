"""Field types of the models, each with the way it reads a scalar."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from ..settings import MODEL_NAME_CHARACTERS
from .conversions import (
    read_any_text,
    read_artifact_name,
    read_attempts,
    read_bytes,
    read_dollars,
    read_duration,
    read_endpoint,
    read_flag,
    read_key_variable,
    read_model_name,
    read_name,
    read_number,
    read_python_variable,
    read_settled_text,
    read_step_attempts,
    read_text,
    read_variable_name,
    read_whole,
    unknown_value,
)


def one_of(kind: str, *known: str) -> BeforeValidator:
    """Build a validator for text out of a fixed set; `kind` names the set in messages."""

    def check(raw: Any) -> Any:
        value = read_settled_text(raw)
        if isinstance(value, str) and value not in known:
            raise unknown_value(kind, value, known)
        return value

    return BeforeValidator(check)


_TEXT_SCHEMA = WithJsonSchema({"type": ["string", "number", "boolean"]})

AnyText = Annotated[str, BeforeValidator(read_any_text), _TEXT_SCHEMA]
Text = Annotated[str, BeforeValidator(read_text), _TEXT_SCHEMA]
Name = Annotated[str, BeforeValidator(read_name), _TEXT_SCHEMA]
ArtifactName = Annotated[
    str, BeforeValidator(read_artifact_name), WithJsonSchema({"type": "string", "pattern": r"^[^./\\][^/\\]*$"})
]
VariableName = Annotated[str, BeforeValidator(read_variable_name), WithJsonSchema({"type": "string"})]
KeyVariable = Annotated[str, BeforeValidator(read_key_variable), WithJsonSchema({"type": "string"})]
ModelName = Annotated[
    str, BeforeValidator(read_model_name), WithJsonSchema({"type": "string", "maxLength": MODEL_NAME_CHARACTERS})
]
PythonVariable = Annotated[str, BeforeValidator(read_python_variable), WithJsonSchema({"type": "string"})]
Endpoint = Annotated[str, BeforeValidator(read_endpoint), WithJsonSchema({"type": "string", "format": "uri"})]
AtLeast0 = Annotated[int, Field(ge=0), BeforeValidator(read_whole)]
AtLeast1 = Annotated[int, Field(ge=1), BeforeValidator(read_whole)]
ExitCode = Annotated[int, Field(ge=0, le=255), BeforeValidator(read_whole)]
Temperature = Annotated[float, Field(ge=0), BeforeValidator(read_number)]
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(read_number)]
Dollars = Annotated[
    Decimal, Field(ge=0), BeforeValidator(read_dollars), WithJsonSchema({"type": "number", "minimum": 0})
]
Percent = Annotated[int, Field(ge=1, le=100), BeforeValidator(read_whole)]
Flag = Annotated[bool, BeforeValidator(read_flag)]
DurationS = Annotated[
    float, BeforeValidator(read_duration), WithJsonSchema({"type": "string", "pattern": "^(0|.*[smh])$"})
]
Attempts = Annotated[int, BeforeValidator(read_attempts), WithJsonSchema({"type": "integer", "minimum": 1})]
StepAttempts = Annotated[int, BeforeValidator(read_step_attempts), WithJsonSchema({"type": "integer", "minimum": 1})]
Bytes = Annotated[
    int,
    BeforeValidator(read_bytes),
    WithJsonSchema({"type": ["integer", "string"], "pattern": "^[0-9]+ ?[kKmMgGtT]?[bB]?$"}),
]
