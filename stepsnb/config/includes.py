"""Texts and definitions that stand in files of their own: read at load time, and from then on like written here."""

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Final

from ..errors import ConfigError
from .problems import Problems
from .text_file import read_text_file
from .tree import Entries, Items, Mark, Path, Scalar, Tree
from .variables import Variables
from .wording import not_a_path

_TEXT_KEYS: Final[dict[str, tuple[str, str]]] = {
    "task": ("run_file", "run"),
    "tasks": ("run_file", "run"),
    "agents": ("system_file", "system"),
}
"""For each kind of step and each section: the key that names a file, and the key its text belongs to."""


class Includes:
    """Reads the files a text names, relative to `base_dir`, with `((name))` in them replaced like in the text."""

    def __init__(
        self, problems: Problems, base_dir: FilePath, variables: Variables, values: Mapping[str, object]
    ) -> None:
        self.values = values
        self._problems = problems
        self._base_dir = base_dir
        self.variables = variables

    def fold(self, what: str, raw: Entries, path: Path) -> tuple[Entries, frozenset[str]]:
        """Return `raw` with the texts of the files it names at their keys, and the keys whose text is not to be had.

        `what` is a kind of step or a section.
        """
        folded = raw
        missing: set[str] = set()
        if what in _TEXT_KEYS:
            file_key, key = _TEXT_KEYS[what]
            if file_key in raw and self._is_alone(file_key, key, raw, path):
                text = self._text(raw[file_key], file_key, key, path)
                if text is None:
                    missing.add(key)
                else:
                    folded = _with(folded, key, text, raw.key_marks[file_key])
        fix = raw.get("fix")
        if what in ("task", "tasks") and isinstance(fix, Entries):
            folded = _with(folded, "fix", self._fold_messages(fix, (*path, "fix"), set()), raw.key_marks["fix"])
        if what == "agent":
            folded = self._fold_messages(folded, path, missing)
        return folded, frozenset(missing)

    def _fold_messages(self, raw: Entries, path: Path, missing: set[str]) -> Entries:
        files = raw.get("message_files")
        if not isinstance(files, Items):
            return raw
        if not self._is_alone("message_files", "messages", raw, path):
            missing.add("message_files")
            return raw
        messages, of_artifacts = Items(files.mark, files.path), Items(files.mark, files.path)
        for index, file in enumerate(files):
            if not isinstance(file, Scalar):
                of_artifacts.append(file)
                continue
            if of_artifacts:
                text = "a file beside the pipeline stands after one of an artifact; list files of artifacts last"
                self._problems.add(file.mark, (*path, "message_files", index), text)
            message = self._text(file, "message_files", "messages", path)
            if message is None:
                missing.add("messages")
            else:
                messages.append(message)
        mark = raw.key_marks["message_files"]
        folded = _with(raw, "message_files", of_artifacts, mark)
        return _with(folded, "messages", messages, mark) if messages else folded

    def _is_alone(self, file_key: str, key: str, raw: Entries, path: Path) -> bool:
        for other in (key, "prompt") if key == "messages" else (key,):
            if other in raw:
                text = f"has both `{other}:` and `{file_key}:`; keep one, the file's text is `{key}:`"
                self._problems.add(raw.key_marks[file_key], path, text)
                return False
        return True

    def _text(self, file: Tree, file_key: str, key: str, path: Path) -> Tree | None:
        found = self.read(file, file_key, path)
        if found is None:
            return None
        name, text = found
        if not text.strip():
            self._problems.add(file.mark, path, f"`{file_key}: {name}` is an empty file; write something into it")
            return None
        return self.variables.expand(Scalar(text, file.mark, is_plain=False), (*path, key))

    def read(self, file: Tree, key: str, path: Path) -> tuple[str, str] | None:
        """Return the name and the text of the file that stands at `key`; None when it cannot be read."""
        if not isinstance(file, Scalar) or file.is_null or not file.text.strip():
            return None
        if complaint := not_a_path(file.text):
            self._problems.add(file.mark, path, f"`{key}: {file.shown}` {complaint}")
            return None
        try:
            shown = f"`{key}: {file.shown}`"
            return file.text, read_text_file(self._base_dir / file.text, shown=shown, start="the pipeline's folder")
        except ConfigError as exc:
            self._problems.add(file.mark, path, str(exc))
            return None


def _with(raw: Entries, key: str, value: Tree, mark: Mark) -> Entries:
    copy = Entries(raw.mark, raw.path)
    copy.update(raw)
    copy.key_marks = dict(raw.key_marks)
    copy.put(key, value, mark)
    return copy
