"""Finds the arguments a template refers to: `.args.NAME`, or `index .args "NAME"`."""

from collections.abc import Iterator, Sequence

from .syntax import Call, Expression, Field, If, Literal, Node, Output, Range, parse


def template_arguments(text: str) -> tuple[str, ...]:
    """Return the names of all arguments `text` refers to, each once, in order. Raises: TemplateProblem."""
    return tuple(dict.fromkeys(name for name, _ in _references(parse(text), at_root=True)))


def required_arguments(text: str) -> tuple[str, ...]:
    """Return the arguments `text` cannot do without: those it uses somewhere without a `default` or `index`.

    Raises: TemplateProblem.
    """
    return tuple(dict.fromkeys(name for name, is_needed in _references(parse(text), at_root=True) if is_needed))


def _references(nodes: Sequence[Node], *, at_root: bool) -> Iterator[tuple[str, bool]]:
    """Yield each reference, and whether it needs a value; `at_root` says that `.` is not an item of a range."""
    for node in nodes:
        match node:
            case Output(expression):
                yield from _uses(expression, at_root)
            case If(test, body, otherwise):
                yield from _uses(test, at_root)
                yield from _references((*body, *otherwise), at_root=at_root)
            case Range(items, body, otherwise):
                yield from _uses(items, at_root)
                yield from _references(body, at_root=False)
                yield from _references(otherwise, at_root=at_root)


def _uses(expression: Expression, at_root: bool, *, is_needed: bool = True) -> Iterator[tuple[str, bool]]:
    match expression:
        case Field(from_root, ("args", name, *_)) if from_root or at_root:
            yield name, is_needed
        case Call("index", (Field(from_root, ("args",)), Literal(str(name)), *rest)) if from_root or at_root:
            yield name, False
            for argument in rest:
                yield from _uses(argument, at_root)
        case Call("default", (fallback, value)):
            yield from _uses(fallback, at_root)
            yield from _uses(value, at_root, is_needed=not isinstance(value, Field))
        case Call(_, arguments):
            for argument in arguments:
                yield from _uses(argument, at_root)
