"""Reading a text file a person named, with errors that say what to do."""

from pathlib import Path

from ..errors import ConfigError
from ..suggest import did_you_mean


def read_text_file(path: Path, *, shown: str | None = None, start: str | None = None) -> str:
    """Return the text of a UTF-8 file.

    Messages call it `shown`, else by its path, and say that relative paths begin at `start`.

    Raises: ConfigError that names the file as it was given.
    """
    shown = shown or str(path)
    start = start or str(Path.cwd())
    try:
        raw = path.read_bytes()
    except FileNotFoundError as exc:
        if not path.parent.is_dir():
            raise ConfigError(f"{shown}: no folder `{path.parent.name or path.parent}`; check the path") from exc
        hint = did_you_mean(path.name, (other.name for other in path.parent.iterdir()))
        raise ConfigError(f"{shown}: no such file{hint}; check the path, it starts at {start}") from exc
    except IsADirectoryError as exc:
        raise ConfigError(f"{shown}: is a folder; name a file in it") from exc
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        raise ConfigError(f"{shown}: cannot be read: {exc}; check the path and its permissions") from exc
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        before = raw[: exc.start]
        line, column = before.count(b"\n") + 1, exc.start - before.rfind(b"\n")
        raise ConfigError(
            f"{shown}:{line}:{column}: byte 0x{raw[exc.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from exc
