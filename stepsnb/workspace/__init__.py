"""Directories of steps, artifacts, confined paths, shells and containers, and a notebook's own files in and out."""

from .containers import check_containers, find_engine, open_shell
from .fetch import digest_path, fetch_path, fill_from_path, gather_files
from .finishing import finish, finish_in_thread
from .globs import check_glob, match_glob
from .outputs import copy_out
from .paths import PathEscape, Root
from .run_workspace import RunWorkspace, StepDir
from .shell import HostShell, Shell, run_shell
from .taking import take_artifact
from .text import DecodedText, decode_output, decode_text, trim_partial
from .trees import ArtifactTree, digest_tree, remove_tree, shown

__all__ = [
    "ArtifactTree",
    "DecodedText",
    "HostShell",
    "PathEscape",
    "Root",
    "RunWorkspace",
    "Shell",
    "StepDir",
    "check_containers",
    "check_glob",
    "copy_out",
    "decode_output",
    "decode_text",
    "digest_path",
    "digest_tree",
    "fetch_path",
    "fill_from_path",
    "find_engine",
    "finish",
    "finish_in_thread",
    "gather_files",
    "match_glob",
    "open_shell",
    "remove_tree",
    "run_shell",
    "shown",
    "take_artifact",
    "trim_partial",
]
