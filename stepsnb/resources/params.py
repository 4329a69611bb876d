"""The parameters of a `put`, with the texts of files where they name files."""

from collections.abc import Mapping
from typing import Any

from ..errors import ResourceError, WorkspaceError
from ..settings import PARAM_FILE_BYTES
from ..workspace import Root


def read_params(params: Mapping[str, Any], root: Root, *, where: str) -> dict[str, Any]:
    """Return `params` with the text of the file for each value `{file: PATH}`, however deep it stands.

    The text is taken as it is, its last line end included. Paths stay inside `root`, the step's directory.

    Raises: ResourceError for a file that is missing, too large, no text or outside.
    """
    return {name: _read(value, root, f"{where}: `params.{name}`") for name, value in params.items()}


def _read(value: Any, root: Root, where: str) -> Any:
    match value:
        case {"file": str(path)} if len(value) == 1:
            return _text_of(path, root, where)
        case Mapping():
            return {name: _read(each, root, f"{where[:-1]}.{name}`") for name, each in value.items()}
        case list() | tuple():
            return [_read(each, root, f"{where[:-1]}[{index}]`") for index, each in enumerate(value)]
    return value


def _text_of(path: str, root: Root, where: str) -> str:
    try:
        with root.open_read(path) as file:
            raw = file.read(PARAM_FILE_BYTES + 1)
    except FileNotFoundError:
        raise ResourceError(f"{where}: there is no file `{path}` in the step's inputs") from None
    except WorkspaceError as exc:
        raise ResourceError(f"{where}: {exc}") from exc
    except OSError as exc:
        raise ResourceError(f"{where}: cannot read `{path}`: {(exc.strerror or str(exc)).lower()}") from exc
    if len(raw) > PARAM_FILE_BYTES:
        raise ResourceError(f"{where}: `{path}` is over {PARAM_FILE_BYTES:,} bytes; let the program read it instead")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ResourceError(f"{where}: `{path}` is no UTF-8 text; let the program read it instead") from exc
