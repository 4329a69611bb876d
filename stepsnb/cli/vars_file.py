"""Reads `--vars-file`: a YAML mapping whose scalars keep their source text, as they do in a pipeline."""

from pathlib import Path

from stepsnb.config.problems import Problems
from stepsnb.config.reader import read_tree
from stepsnb.config.tree import Entries, Items, Mark, Tree
from stepsnb.errors import InputError


def load_vars_file(path: Path) -> dict[str, object]:
    """Return the variables of the file at `path`.

    Raises: `InputError` when it cannot be read, `ConfigError` with the place of what is wrong in it.
    """
    try:
        text = path.read_bytes().decode()
    except OSError as exc:
        raise InputError(f"--vars-file `{path}`: cannot be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise InputError(f"--vars-file `{path}`: byte {exc.start} is not UTF-8; save the file as UTF-8") from exc
    problems = Problems(str(path))
    tree = read_tree(text, problems, {})
    if not isinstance(tree, Entries):
        problems.add(Mark(1, 1), (), "not a mapping; write one `name: value` for each variable")
    if problems:
        raise problems.error()
    values = _plain(tree)
    assert isinstance(values, dict)
    return values


def _plain(tree: Tree) -> object:
    match tree:
        case Entries():
            return {key: _plain(value) for key, value in tree.items()}
        case Items():
            return [_plain(item) for item in tree]
        case _:
            return None if tree.is_null else tree.text
