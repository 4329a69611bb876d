"""Directories of steps, artifacts, confined paths, the shell, and a notebook's own files in and out."""

from .fetch import fetch_path, gather_files
from .globs import check_glob, match_glob
from .outputs import copy_out
from .paths import PathEscape, Root
from .run_workspace import RunWorkspace, StepDir
from .shell import run_shell
from .text import DecodedText, decode_output, decode_text, trim_partial
from .trees import ArtifactTree, shown

__all__ = [
    "ArtifactTree",
    "DecodedText",
    "PathEscape",
    "Root",
    "RunWorkspace",
    "StepDir",
    "check_glob",
    "copy_out",
    "decode_output",
    "decode_text",
    "fetch_path",
    "gather_files",
    "match_glob",
    "run_shell",
    "shown",
    "trim_partial",
]
