import sys
from pathlib import Path
from typing import Any

import pytest

from stepsnb.config import BuiltinGrant, PythonGrant
from stepsnb.errors import InputError
from stepsnb.tools import build_tools


def builtin(name: str, **settings: Any) -> BuiltinGrant:
    return BuiltinGrant.model_validate({"builtin": name, **settings})


def python(name: str, **settings: Any) -> PythonGrant:
    return PythonGrant.model_validate({"python": name, **settings})


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def names(grants, selected=None, functions=None) -> list[str]:
    return [tool.name for tool in build_tools(grants, selected=selected, functions=functions or {})]


def test_no_grant_is_exactly_the_three_that_change_nothing() -> None:
    tools = build_tools(None, selected=None, functions={})
    assert [tool.name for tool in tools] == ["read_file", "list_dir", "search_files"]
    assert all(tool.is_read_only for tool in tools)


def test_empty_grant_is_no_tool() -> None:
    assert names([]) == []


def test_selection_narrows_in_the_order_of_the_grant() -> None:
    grants = [builtin("run_shell"), builtin("write_file"), builtin("read_file")]
    assert names(grants, selected=("read_file", "run_shell")) == ["run_shell", "read_file"]
    assert names(grants, selected=()) == []


def test_selection_never_widens() -> None:
    with pytest.raises(InputError) as caught:
        names(None, selected=("write_file",))
    assert str(caught.value) == (
        "unknown tool `write_file` (did you mean `read_file`?); available: list_dir, read_file, search_files; "
        "a step selects from what its agent is granted"
    )


def test_tools_that_change_or_ask_are_not_read_only() -> None:
    tools = build_tools([builtin("write_file"), builtin("run_shell"), builtin("ask_user")], selected=None, functions={})
    assert not any(tool.is_read_only for tool in tools)


def test_ask_user_takes_its_grants_settings() -> None:
    grant = builtin("ask_user", required=True, default="patch", options_required=True)
    (tool,) = build_tools([grant], selected=None, functions={})
    assert (tool.required, tool.waits_for_person) == (True, True)
    assert tool.call.keywords == {"default": "patch", "timeout_s": None, "options_required": True}  # type: ignore[attr-defined]


def test_python_grant_names_a_function_of_the_notebook() -> None:
    (tool,) = build_tools([python("add", required=True)], selected=None, functions={"add": add})
    assert (tool.name, tool.description, tool.required) == ("add", "Add.", True)


def test_unknown_function_is_told_with_what_was_meant() -> None:
    with pytest.raises(InputError) as caught:
        names([python("ad")], functions={"add": add})
    assert str(caught.value) == (
        "unknown function `ad` (did you mean `add`?); available: add; "
        "define it before the run, or write `module:function`"
    )


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "shop_tools.py").write_text(
        "def sell(item: str) -> str:\n    return item\nLIMIT = 3\nclass Shop: ...\n"
    )
    (tmp_path / "broken_tools.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "shop_tools"
    sys.modules.pop("shop_tools", None)


def test_function_of_a_module_is_imported(module: str) -> None:
    assert names([python("shop_tools:sell")]) == ["sell"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "shop_tools:sel",
            "python tool `shop_tools:sel`: unknown function `sel` (did you mean `sell`?); available: Shop, sell",
        ),
        ("shop_tools:LIMIT", "python tool `shop_tools:LIMIT`: it is a value of type `int`, not a function"),
        ("shop_tools:Shop", "python tool `shop_tools:Shop`: it is a class, not a function"),
        (
            "no_such_tools:f",
            "python tool `no_such_tools:f`: importing `no_such_tools` failed: "
            "ModuleNotFoundError: No module named 'no_such_tools'",
        ),
        (
            "broken_tools:f",
            "python tool `broken_tools:f`: importing `broken_tools` failed: RuntimeError: no licence",
        ),
    ],
)
def test_module_without_such_a_function_is_told(module: str, name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        names([python(name)])
    assert str(caught.value) == message


def test_name_granted_twice_is_told(module: str) -> None:
    with pytest.raises(InputError, match="tool `sell` is granted twice"):
        names([python("shop_tools:sell"), python("sell")], functions={"sell": add})
