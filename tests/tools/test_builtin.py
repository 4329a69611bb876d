import errno

import pytest

from stepsnb.errors import WorkspaceError
from stepsnb.tools import build_tools
from stepsnb.tools.builtin import file_error
from stepsnb.tools.grants import _BUILTIN


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/host/a"), "cannot write `a`: permission denied"),
        (OSError(errno.ENOSPC, "No space left on device", "/host/a"), "cannot write `a`: no space left on device"),
        (OSError("odd"), "cannot write `a`: oserror"),
        (WorkspaceError("`a` is a socket, not a file"), "`a` is a socket, not a file"),
    ],
)
def test_file_error_says_why_without_host_paths(error: OSError | WorkspaceError, message: str) -> None:
    assert file_error("a", error, verb="write").data == {"error": message}


def test_every_builtin_has_a_description_and_described_arguments() -> None:
    from stepsnb.config import BUILTIN_TOOLS, BuiltinGrant

    assert sorted(_BUILTIN) == sorted(BUILTIN_TOOLS)
    grants = [BuiltinGrant.model_validate({"builtin": name}) for name in BUILTIN_TOOLS]
    for tool in build_tools(grants, selected=None, functions={}):
        assert tool.description
        assert tool.parameters["additionalProperties"] is False
        assert all(argument.get("description") for argument in tool.parameters["properties"].values())


def test_schema_is_as_small_as_it_can_be() -> None:
    (read_file,) = build_tools(None, selected=("read_file",), functions={})
    assert read_file.spec.parameters == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {"type": "string", "description": "File to read, relative to the working directory."},
            "start_line": {"type": "integer", "minimum": 1, "description": "First line to read, counted from 1."},
            "end_line": {"type": "integer", "minimum": 1, "description": "Last line to read."},
        },
        "required": ["path"],
    }
