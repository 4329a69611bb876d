"""The arguments of a server's tool: templates rendered, and their texts made what the tool's schema asks for; pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import ResourceError
from ..suggest import unknown_name
from ..templates import TemplateProblem, render

_REFERENCES = 10
"""References to other parts of a schema that are followed one after the other."""

_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
}


def fill_arguments(
    templates: Mapping[str, Any], values: Mapping[str, Any], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of one call.

    A text is a template over `values`. What it gives is read as JSON where the tool takes no text there: `10` is a
    number for a tool that wants one. A template that gives nothing is left out, unless the tool needs the argument.

    Args:
        schema: What the tool takes, a JSON Schema of an object.

    Raises: ResourceError for a template that cannot be rendered, and for arguments that the tool does not take.
    """
    check_names(templates, schema)
    taken, needed = schema.get("properties") or {}, schema.get("required") or []
    arguments = {}
    for name, template in templates.items():
        value = _render(template, values, name)
        if value == "" and value != template and name not in needed:
            continue
        arguments[name] = _fit(value, taken.get(name, {}), schema, name)
    return arguments


def check_names(templates: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Look, before there is anything to render, whether a tool takes these arguments and none it needs is missing.

    Raises: ResourceError.
    """
    taken = schema.get("properties") or {}
    is_closed = bool(taken) and not schema.get("additionalProperties") and "patternProperties" not in schema
    for name in templates:
        if is_closed and name not in taken:
            raise ResourceError(unknown_name("argument", name, taken))
    for name in schema.get("required") or ():
        if name not in templates:
            raise ResourceError(f"it needs the argument `{name}`; give it under `args:`")


def _render(template: Any, values: Mapping[str, Any], where: str) -> Any:
    match template:
        case str():
            try:
                return render(template, values)
            except TemplateProblem as exc:
                raise ResourceError(f"`args.{where}`: {exc}") from exc
        case Mapping():
            return {name: _render(each, values, f"{where}.{name}") for name, each in template.items()}
        case list():
            return [_render(each, values, f"{where}[{index}]") for index, each in enumerate(template)]
    return template


def _fit(value: Any, schema: Any, root: Mapping[str, Any], where: str) -> Any:
    forms = [*_forms(schema, root)]
    match value:
        case Mapping():
            below = {name: each for form in forms for name, each in (form.get("properties") or {}).items()}
            return {name: _fit(each, below.get(name), root, f"{where}.{name}") for name, each in value.items()}
        case list():
            item = next((form["items"] for form in forms if "items" in form), None)
            return [_fit(each, item, root, f"{where}[{index}]") for index, each in enumerate(value)]
        case str():
            wanted = [name for form in forms for name in _names(form.get("type"))]
            return value if not wanted or "string" in wanted else _read(value, wanted, where)
    return value


def _forms(schema: Any, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that a value may follow; of a union all, with references to other parts looked up."""
    for _ in range(_REFERENCES):
        if not isinstance(schema, Mapping):
            return
        if "$ref" not in schema:
            break
        schema = _part(root, str(schema["$ref"]))
    else:
        return
    yield schema
    for key in ("anyOf", "oneOf"):
        for each in schema.get(key) or ():
            if isinstance(each, Mapping) and not {"anyOf", "oneOf"} & each.keys():
                yield from _forms(each, root)


def _part(root: Mapping[str, Any], reference: str) -> Any:
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _names(wanted: Any) -> list[str]:
    return [wanted] if isinstance(wanted, str) else [*map(str, wanted or ())]


def _read(text: str, wanted: list[str], where: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = text
    kinds = tuple(kind for name in wanted for kind in _TYPES.get(name, ()))
    if isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds):
        return value
    raise ResourceError(f"`args.{where}`: the tool wants {' or '.join(wanted)} there, not `{text[:100]}`")


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
