"""Renders templates: their trees become jinja2's, so that no text of a template or a value is ever source code."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .functions import FUNCTIONS, look_up, look_up_or_none, to_items, to_text
from .problem import TemplateProblem, Unfit
from .syntax import Call, Expression, Field, If, Literal, Node, Output, Range, parse

if TYPE_CHECKING:
    from jinja2 import Environment, Template, nodes

_CACHED = 256


def render(text: str, values: Mapping[str, Any]) -> str:
    """Render a template with `values`, by name: `{"args": {"city": "Oslo"}}` is what `.args.city` is found in.

    Values are put in as they are and never rendered themselves.

    Raises: TemplateProblem for a template that is none, a key that is missing, or a value a function cannot take.
    """
    template = _compile(text)
    try:
        return template.render(dot=values, root=values)
    except _Unfit as exc:
        raise TemplateProblem(exc.reason, text, exc.offset) from exc


def check_template(text: str) -> None:
    """Raise TemplateProblem for a template that could not be rendered with any values."""
    parse(text)


class _Unfit(Exception):
    """An `Unfit` with its place."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


def _placed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a jinja2 filter of a function: `value | name(offset, more values)`."""

    def placed(value: Any, offset: int, *others: Any) -> Any:
        try:
            return function(value, *others)
        except Unfit as exc:
            raise _Unfit(str(exc), offset) from exc

    return placed


@functools.cache
def _environment() -> "Environment":
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # here, as it takes long to import

    environment = ImmutableSandboxedEnvironment(autoescape=False)
    environment.filters.clear()
    environment.globals.clear()
    own = {"_field": look_up, "_field_or_none": look_up_or_none, "_text": to_text, "_items": to_items}
    for name, function in own.items():
        environment.filters[name] = _placed(function)
    for name, known in FUNCTIONS.items():
        environment.filters[name] = _placed(known.call)
    return environment


@functools.lru_cache(_CACHED)
def _compile(text: str) -> "Template":
    from jinja2 import nodes

    environment = _environment()
    tree = nodes.Template(_nodes(parse(text)))
    tree.set_environment(environment)
    tree.set_lineno(1)
    return environment.from_string(tree)


def _nodes(parts: Sequence[Node]) -> "list[nodes.Node]":
    from jinja2 import nodes

    made: list[nodes.Node] = []
    for part in parts:
        match part:
            case str():
                made.append(nodes.Output([nodes.TemplateData(part)]))
            case Output(expression):
                made.append(nodes.Output([_filter("_text", expression.offset, _expression(expression))]))
            case If(test, body, otherwise):
                others: list[nodes.If] = []
                while len(otherwise) == 1 and isinstance(chained := otherwise[0], If):  # an `else if`, however many
                    others.append(nodes.If(_expression(chained.test), _nodes(chained.body), [], []))
                    otherwise = chained.otherwise
                made.append(nodes.If(_expression(test), _nodes(body), others, _nodes(otherwise)))
            case Range(items, body, otherwise):
                listed = _filter("_items", items.offset, _expression(items))
                target = nodes.Name("dot", "store")
                made.append(nodes.For(target, listed, _nodes(body), _nodes(otherwise), None, False))
    return made


def _expression(expression: Expression, *, may_be_missing: bool = False) -> "nodes.Expr":
    from jinja2 import nodes

    match expression:
        case Literal(value):
            return nodes.Const(value)
        case Field(from_root, names, offset):
            start = nodes.Name("root" if from_root else "dot", "load")
            found = "_field_or_none" if may_be_missing else "_field"
            return _filter(found, offset, start, *(nodes.Const(name) for name in names))
        case Call(name, arguments, offset):
            is_default = name == "default"
            first, *others = (
                _expression(argument, may_be_missing=is_default and position == 1)
                for position, argument in enumerate(arguments)
            )
            return _filter(name, offset, first, *others)


def _filter(name: str, offset: int, value: "nodes.Expr", *others: "nodes.Expr") -> "nodes.Filter":
    from jinja2 import nodes

    return nodes.Filter(value, name, [nodes.Const(offset), *others], [], None, None)
