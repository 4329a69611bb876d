"""What the templates in a step or a resource type refer to."""

from collections.abc import Iterator, Sequence

from ..templates import TemplateProblem
from ..templates.syntax import Call, Expression, Field, If, Literal, Node, Output, Range, parse


def template_uses(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the keys each reference of a template follows from the top: `.vars.dim` is `("vars", "dim")`.

    Raises: TemplateProblem for a text that is no template.
    """
    if "{{" in text:
        yield from _of_nodes(parse(text), is_top=True)


def vars_in(text: str) -> tuple[str, ...]:
    """Return the names a text asks `.vars` for, when it is a template at all."""
    if ".vars" not in text:
        return ()
    try:
        return tuple(use[1] for use in template_uses(text) if use[0] == "vars" and len(use) > 1)
    except TemplateProblem:
        return ()


def _of_nodes(nodes: Sequence[Node], *, is_top: bool) -> Iterator[tuple[str, ...]]:
    for node in nodes:
        match node:
            case Output(expression):
                yield from _of_expression(expression, is_top)
            case If(test, body, otherwise):
                yield from _of_expression(test, is_top)
                yield from _of_nodes((*body, *otherwise), is_top=is_top)
            case Range(items, body, otherwise):
                yield from _of_expression(items, is_top)
                yield from _of_nodes(body, is_top=False)
                yield from _of_nodes(otherwise, is_top=is_top)


def _of_expression(expression: Expression, is_top: bool) -> Iterator[tuple[str, ...]]:
    match expression:
        case Field(from_root, (*names,)) if names and (from_root or is_top):
            yield tuple(names)
        case Call("index", (Field(from_root, (*names,)), Literal(str(key)), *rest)) if from_root or is_top:
            yield (*names, key)
            for argument in rest:
                yield from _of_expression(argument, is_top)
        case Call(_, arguments):
            for argument in arguments:
                yield from _of_expression(argument, is_top)
