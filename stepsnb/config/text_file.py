"""Reading a text file a person named, with errors that say what to do."""

from pathlib import Path

from ..errors import ConfigError
from ..suggest import did_you_mean


def read_text_file(path: Path) -> str:
    """Return the text of a UTF-8 file. Raises: ConfigError that names the file as it was given."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError as exc:
        if not path.parent.is_dir():
            raise ConfigError(f"{path}: no folder `{path.parent}`; check the path") from exc
        hint = did_you_mean(path.name, (other.name for other in path.parent.iterdir()))
        raise ConfigError(f"{path}: no such file{hint}; check the path, it starts at {Path.cwd()}") from exc
    except IsADirectoryError as exc:
        raise ConfigError(f"{path}: is a folder; name a YAML file in it") from exc
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        raise ConfigError(f"{path}: cannot be read: {exc}; check the path and its permissions") from exc
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        before = raw[: exc.start]
        line, column = before.count(b"\n") + 1, exc.start - before.rfind(b"\n")
        raise ConfigError(
            f"{path}:{line}:{column}: byte 0x{raw[exc.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from exc
