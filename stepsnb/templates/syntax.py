"""Reads the pieces of a template into a tree."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..suggest import unknown_name
from .functions import FUNCTIONS
from .lexer import Action, Token, scan
from .problem import TemplateProblem


@dataclass(frozen=True, slots=True)
class Literal:
    """A value written in the template."""

    value: str | int | float | bool | None
    offset: int


@dataclass(frozen=True, slots=True)
class Field:
    """`.a.b` of what a range is at, or `$.a.b` of the values; without names the whole of it."""

    from_root: bool
    names: tuple[str, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments, what was piped into it last."""

    name: str
    arguments: tuple["Expression", ...]
    offset: int


Expression: TypeAlias = Literal | Field | Call


@dataclass(frozen=True, slots=True)
class Output:
    """`{{ expression }}`."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class If:
    """`{{ if … }}` up to its `{{ end }}`; an `else if` is an `If` in `otherwise`."""

    test: Expression
    body: tuple["Node", ...]
    otherwise: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Range:
    """`{{ range … }}` up to its `{{ end }}`; `otherwise` is for a list that is empty."""

    items: Expression
    body: tuple["Node", ...]
    otherwise: tuple["Node", ...]


Node: TypeAlias = str | Output | If | Range

_CONSTANTS = {"true": True, "false": False, "nil": None}
_WORDS = ("if", "else", "range", "end")

_DEEPEST_BLOCK = 16
"""Python, which jinja2 compiles to, has at most 20 loops inside each other."""

_DEEPEST_VALUE = 60
"""And at most 200 brackets."""


def parse(text: str) -> tuple[Node, ...]:
    """Return the tree of a template. Raises: TemplateProblem."""
    try:
        return _Parser(text).parse()
    except RecursionError as exc:
        reason = "an `if` has hundreds of `else if`; look the value up with `index` instead"
        raise TemplateProblem(reason, text, 0) from exc


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: Iterator[str | Action] = scan(text)
        self._depth = 0

    def parse(self) -> tuple[Node, ...]:
        nodes, ending = self._block()
        if ending is not None:
            word = ending.tokens[0].value
            raise self._problem(f"`{word}` belongs to no `if` or `range`", ending.offset)
        return nodes

    def _block(self) -> tuple[tuple[Node, ...], Action | None]:
        """Read up to an `else` or `end`, which is returned as well."""
        nodes: list[Node] = []
        for piece in self._pieces:
            if isinstance(piece, str):
                nodes.append(piece)
                continue
            if not piece.tokens:
                raise self._problem("`{{ }}` is empty; write a value, such as `{{ .args.name }}`", piece.offset)
            word = piece.tokens[0]
            if word.kind == "name" and word.value in ("else", "end"):
                return tuple(nodes), piece
            nodes.append(self._action(piece))
        return tuple(nodes), None

    def _action(self, action: Action) -> Node:
        word, rest = action.tokens[0], action.tokens[1:]
        if word.kind != "name" or word.value not in _WORDS:
            return Output(self._expression(action.tokens, action.offset))
        value = self._expression(rest, action.offset, f"`{word.value}` needs a value, as in `{word.value} .args.name`")
        self._depth += 1
        if self._depth > _DEEPEST_BLOCK:
            raise self._problem(f"more than {_DEEPEST_BLOCK} `if` and `range` inside each other", action.offset)
        body, ending = self._block()
        self._depth -= 1
        if word.value == "if":
            return If(value, body, self._otherwise(action, ending, may_chain=True))
        return Range(value, body, self._otherwise(action, ending, may_chain=False))

    def _otherwise(self, opened: Action, ending: Action | None, *, may_chain: bool) -> tuple[Node, ...]:
        """Read what follows the body of an `if` or `range`, up to its `end`."""
        if ending is None:
            raise self._problem(f"this `{opened.tokens[0].value}` has no `{{{{ end }}}}`", opened.offset)
        word, rest = ending.tokens[0], ending.tokens[1:]
        if word.value == "else" and rest and may_chain and (rest[0].kind, rest[0].value) == ("name", "if"):
            return (self._action(Action(rest, ending.offset)),)
        if rest:
            raise self._problem(f"nothing may follow `{word.value}` here", rest[0].offset)
        if word.value == "end":
            return ()
        self._depth += 1
        nodes, end = self._block()
        self._depth -= 1
        if end is not None and end.tokens[0].value == "else":
            raise self._problem("a second `else`; an `if` or `range` has one", end.offset)
        if end is not None and len(end.tokens) > 1:
            raise self._problem("nothing may follow `end` here", end.tokens[1].offset)
        if end is None:
            raise self._problem(f"this `{opened.tokens[0].value}` has no `{{{{ end }}}}`", opened.offset)
        return nodes

    def _expression(self, tokens: tuple[Token, ...], offset: int, empty: str = "a value is missing") -> Expression:
        if not tokens:
            raise self._problem(empty, offset)
        words = _Words(self._text, tokens)
        value = words.pipeline()
        if (left := words.peek()) is not None:
            raise self._problem(f"`{left.value}` is not expected here", left.offset)
        return value

    def _problem(self, reason: str, offset: int) -> TemplateProblem:
        return TemplateProblem(reason, self._text, offset)


class _Words:
    """The tokens of one action on their way into an expression."""

    def __init__(self, text: str, tokens: tuple[Token, ...]) -> None:
        self._text = text
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def peek(self) -> Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def pipeline(self) -> Expression:
        outer = self._depth
        value = self._command(None)
        while (bar := self.peek()) is not None and bar.kind == "pipe":
            self._next += 1
            token = self.peek()
            if token is None or token.kind != "name" or token.value in _CONSTANTS:
                raise self._problem("a `|` hands a value to a function, and none follows", bar)
            value = self._command(value)
        self._depth = outer
        return value

    def _command(self, piped: Expression | None) -> Expression:
        token = self.peek()
        if token is None:
            raise self._problem("a value is missing", self._tokens[-1])
        if token.kind != "name" or token.value in _CONSTANTS:
            value = self._operand()
            if (after := self.peek()) is not None and after.kind not in ("pipe", "close"):
                raise self._problem("only functions take values; separate what follows with `|`", after)
            return value
        name = str(token.value)
        self._deepen(token)
        self._next += 1
        if name not in FUNCTIONS:
            raise self._problem(unknown_name("function", name, FUNCTIONS), token)
        arguments: list[Expression] = []
        while (after := self.peek()) is not None and after.kind not in ("pipe", "close"):
            arguments.append(self._operand())
        if piped is not None:
            arguments.append(piped)
        if problem := FUNCTIONS[name].wrong_count(len(arguments)):
            raise self._problem(f"`{name}` {problem}", token)
        return Call(name, tuple(arguments), token.offset)

    def _operand(self) -> Expression:
        token = self._tokens[self._next]
        self._next += 1
        match token.kind:
            case "string" | "number":
                return Literal(token.value, token.offset)
            case "name" if token.value in _CONSTANTS:
                return Literal(_CONSTANTS[str(token.value)], token.offset)
            case "field" | "dot":
                return Field(False, _names(token), token.offset)
            case "root":
                after = self.peek()
                if after is not None and after.kind == "field" and after.offset == token.offset + 1:
                    self._next += 1
                    return Field(True, _names(after), token.offset)
                return Field(True, (), token.offset)
            case "open":
                self._deepen(token)
                value = self.pipeline()
                closing = self.peek()
                if closing is None or closing.kind != "close":
                    raise self._problem("this `(` is not closed", token)
                self._next += 1
                return value
        wanted = f"; a function's result as a value stands in `( )`, as in `({token.value} …)`"
        raise self._problem(f"`{token.value}` is no value{wanted if token.kind == 'name' else ''}", token)

    def _deepen(self, token: Token) -> None:
        self._depth += 1
        if self._depth > _DEEPEST_VALUE:
            raise self._problem(f"more than {_DEEPEST_VALUE} functions and brackets around one value", token)

    def _problem(self, reason: str, token: Token) -> TemplateProblem:
        return TemplateProblem(reason, self._text, token.offset)


def _names(token: Token) -> tuple[str, ...]:
    return tuple(name for name in str(token.value).split(".") if name)
