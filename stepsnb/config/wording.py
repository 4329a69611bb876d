"""The sentences load errors are made of: what is wrong, then what to do instead."""

from .tree import Entries, Items, Path, Scalar, Tree

_MISSING = {
    "agent": "name an entry of `agents:`",
    "builtin": "name a built-in tool",
    "description": "say what the tool does, the model reads it",
    "from": "write `from: {STEP: verdict}`",
    "input": "give US dollars per million tokens",
    "jobs": "a pipeline has at least one job",
    "name": "give it one",
    "output": "give US dollars per million tokens",
    "path": "name a file or folder",
    "plan": "list the job's steps under it",
    "python": "name a Python function",
    "run": "write the shell program, or remove the step",
    "artifact": "name an input of the step",
    "agents": "list the agent steps that vote",
    "server": "name an entry of `mcp_servers:`",
    "tool": "name one of the server's tools",
    "file": "name a file in an input, `INPUT/FILE`",
    "steps": "list the steps under it",
    "tokens": "say how many tokens all cells may spend together",
    "type": "name `git`, `path` or an entry of `resource_types:`",
    "uri": "give what `git clone` takes",
    "var": "name the axis, `{{ .vars.NAME }}` is its value",
    "verdicts": "list the names to decide between",
}


def not_supported(what: str, instead: str) -> str:
    """Say that `what` belongs to the language and this version cannot do it yet."""
    return f"{what} is not supported by this version of stepsnb; {instead}"


def not_a_path(text: str) -> str | None:
    """Say why `text` cannot be the path of an included file, beginning with a verb; None when it can."""
    if text.startswith(("/", "~")) or "\\" in text or "\0" in text:
        return "is no path relative to the pipeline file; write it with slashes, `..` is allowed"
    return None


def missing(path: Path) -> str:
    """Say that the key at the end of `path` is missing."""
    return f"`{dotted(path)}:` is missing; {_MISSING.get(str(path[-1]), 'add it')}"


def dotted(path: Path) -> str:
    """Join the keys of `path`, leaving out list positions."""
    return ".".join(part for part in path if isinstance(part, str))


def subject(tree: Tree, path: Path) -> str:
    """Name the value at the end of `path` in a message: with its text when it has one, else by its key."""
    key = dotted(path)
    shown = tree.shown if isinstance(tree, Scalar) else ""
    if isinstance(path[-1], int):
        return f"`{shown}` in `{key}:`" if shown else f"entry {path[-1] + 1} of `{key}:`"
    return f"`{key}: {shown}`" if shown else f"`{key}:`"


def wrong_shape(tree: Tree, expected: str) -> str:
    """Say that a value is no `expected` (`text`, `a list`, `a mapping` …) and how to write one."""
    instead = {
        "a list": "write `[a, b]`, or one `- ` line for each entry",
        "a mapping": "write `key: value` lines under it",
    }.get(expected, "write it on one line")
    if expected == "text" and isinstance(tree, Entries):
        instead = "put text that holds `: ` in quotes"
    return f"must be {expected}, not {shape(tree)}; {instead}"


def shape(tree: Tree) -> str:
    """Name what kind of value `tree` is."""
    match tree:
        case Entries():
            return "a mapping"
        case Items():
            return "a list"
        case _:
            return "empty" if tree.is_null else "text"
