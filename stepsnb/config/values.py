"""Values of `((name))` from a YAML file."""

from pathlib import Path

from .problems import Problems
from .reader import read_tree
from .text_file import read_text_file
from .tree import Entries, Items, Tree
from .wording import shape


def load_mapping(path: str | Path) -> dict[str, object]:
    """Read a YAML file of values by name.

    Scalars keep their source text (`3.10` stays `3.10`), since the field a value ends in decides its type.

    Raises: ConfigError when the file cannot be read or is no mapping.
    """
    path = Path(path)
    problems = Problems(str(path))
    root = read_tree(read_text_file(path), problems, {}).root
    if not isinstance(root, Entries):
        problems.add(
            root.mark, (), f"must be a mapping of names to values, not {shape(root)}; write `name: value` lines"
        )
    if problems or not isinstance(root, Entries):
        raise problems.error()
    return {key: _value(tree) for key, tree in root.items()}


def _value(tree: Tree) -> object:
    match tree:
        case Entries():
            return {key: _value(entry) for key, entry in tree.items()}
        case Items():
            return [_value(item) for item in tree]
        case _:
            return None if tree.is_null else tree.text
