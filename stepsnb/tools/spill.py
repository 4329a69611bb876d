"""Keeps long tool output out of the conversation: a file in the working directory, and a short pointer to it."""

import contextlib
import os
import re

from ..messages import cut_utf8
from ..settings import INLINE_OUTPUT_BYTES, SPILL_CEILING_BYTES, SPILL_DIR
from ..workspace import Root, trim_partial

_HEAD_BYTES = 1_800
_TAIL_BYTES = 1_200


def spill(text: str, *, call_id: str, root: Root, max_bytes: int = _HEAD_BYTES + _TAIL_BYTES) -> tuple[str, str]:
    """Save `text` below the root, at most `SPILL_CEILING_BYTES` of it.

    Returns: the file's relative path, and the pointer that takes the text's place; the pointer is below
        `SPILL_POINTER_BYTES`, and shows no more than `max_bytes` of the text.
    Raises: OSError when the file cannot be written.
    """
    raw = text.encode("utf-8", "backslashreplace")
    path = _save(trim_partial(raw[:SPILL_CEILING_BYTES]), _file_name(call_id), root)
    return path, _pointer(raw, f'path="{path}" bytes="{len(raw)}"', _how_to_read(raw), max_bytes)


def shorten(text: str, *, call_id: str, root: Root, max_bytes: int = INLINE_OUTPUT_BYTES) -> str:
    """Return `text`, or where it is longer than `max_bytes` the pointer to a file that holds it."""
    if len(text.encode("utf-8", "backslashreplace")) <= max_bytes:
        return text
    try:
        return spill(text, call_id=call_id, root=root)[1]
    except OSError as exc:
        return preview(text, (exc.strerror or "").lower())


def preview(text: str, why: str, *, max_bytes: int = _HEAD_BYTES + _TAIL_BYTES) -> str:
    """Stand in for text that could not be saved: its two ends, and why the rest is gone."""
    raw = text.encode("utf-8", "backslashreplace")
    explanation = f"The output is too long to show, and saving it failed: {why}."
    return _pointer(raw, f'bytes="{len(raw)}"', explanation, max_bytes)


def _how_to_read(raw: bytes) -> str:
    kept = ""
    if len(raw) > SPILL_CEILING_BYTES:
        kept = f" Only the first {SPILL_CEILING_BYTES:,} of {len(raw):,} bytes were kept."
    return (
        "The output is too long to show, so it was saved to this file. read_file reads it, in parts with start_line"
        f" and end_line; search_files searches it.{kept}"
    )


def _pointer(raw: bytes, attributes: str, explanation: str, max_bytes: int) -> str:
    shown = min(max_bytes, _HEAD_BYTES + _TAIL_BYTES)
    tail_bytes = shown * _TAIL_BYTES // (_HEAD_BYTES + _TAIL_BYTES)
    head = trim_partial(raw[: shown - tail_bytes]).decode()
    tail = raw[len(raw) - tail_bytes :].decode("utf-8", "ignore")
    return (
        f"<persistent_file {attributes}>\n{cut_utf8(explanation, 500)}\n"
        f"It begins:\n{head}\n[...]\nIt ends:\n{tail}\n</persistent_file>"
    )


def _file_name(call_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", call_id)[:60] or "output"


def _save(raw: bytes, stem: str, root: Root) -> str:
    """Write a new file into the spill folder, following no link that may have been put there."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    top = os.open(root.path, flags)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(SPILL_DIR, dir_fd=top)
        folder = os.open(SPILL_DIR, flags | os.O_NOFOLLOW, dir_fd=top)
    finally:
        os.close(top)
    try:
        name, descriptor = _create(folder, stem)
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
    finally:
        os.close(folder)
    return root.relative(root.path / SPILL_DIR / name)


def _create(folder: int, stem: str) -> tuple[str, int]:
    count = 1
    while True:  # some providers number the calls of each reply anew
        name = f"{stem}.txt" if count == 1 else f"{stem}-{count}.txt"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            return name, os.open(name, flags, 0o666, dir_fd=folder)
        except FileExistsError:
            count += 1
