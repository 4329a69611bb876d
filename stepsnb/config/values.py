"""Values of `((name))` as people write them outside a pipeline: in a YAML file, or behind `--var`."""

from pathlib import Path

from ..errors import ConfigError
from .problems import Problems
from .reader import read_tree
from .text_file import read_text_file
from .tree import Entries, Items, Scalar, Tree
from .wording import shape


def load_mapping(path: str | Path) -> dict[str, object]:
    """Read a YAML file of values by name.

    Scalars keep their source text (`3.10` stays `3.10`), since the field a value ends in decides its type.

    Raises: ConfigError when the file cannot be read or is no mapping.
    """
    path = Path(path)
    problems = Problems(str(path))
    root = read_tree(read_text_file(path), problems, {})
    if not isinstance(root, Entries):
        problems.add(
            root.mark, (), f"must be a mapping of names to values, not {shape(root)}; write `name: value` lines"
        )
    if problems or not isinstance(root, Entries):
        raise problems.error()
    return {key: _value(tree) for key, tree in root.items()}


def parse_scalar(text: str) -> str:
    """Return the text of a value written on a command line; quotes around it are YAML's and come off."""
    if text[:1] not in ("'", '"'):
        return text
    try:
        tree = read_tree(text, Problems("--var"), {})
    except ConfigError:
        return text
    return tree.text if isinstance(tree, Scalar) else text


def _value(tree: Tree) -> object:
    match tree:
        case Entries():
            return {key: _value(entry) for key, entry in tree.items()}
        case Items():
            return [_value(item) for item in tree]
        case _:
            return None if tree.is_null else tree.text
