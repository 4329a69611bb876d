import sys
from pathlib import Path
from typing import Any

import pytest

from stepsnb.config import AgentGrant, BuiltinGrant, CustomGrant, PythonGrant, RetryLayers
from stepsnb.effects import DEFAULTS, RetryPolicy
from stepsnb.errors import InputError
from stepsnb.tools import Spawn, ToolContext, ToolResult, build_tools, policy_of


def builtin(name: str, **settings: Any) -> BuiltinGrant:
    return BuiltinGrant.model_validate({"builtin": name, **settings})


def python(name: str, **settings: Any) -> PythonGrant:
    return PythonGrant.model_validate({"python": name, **settings})


def custom(name: str, **settings: Any) -> CustomGrant:
    return CustomGrant.model_validate({"name": name, "description": "Do it.", "run": "true", **settings})


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
    grant = builtin("ask_user", required=True, default="patch", options_required=True, answered_by="helper")
    (tool,) = build_tools([grant], selected=None, functions={})
    assert (tool.required, tool.waits_for_person) == (True, True)
    settings = {"default": "patch", "timeout_s": None, "options_required": True, "answered_by": "helper"}
    assert tool.call.keywords == settings  # type: ignore[attr-defined]


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


def test_steps_own_custom_tool_follows_what_it_selects() -> None:
    grants = [builtin("read_file"), builtin("run_shell")]
    assert names(grants, selected=[custom("post"), "run_shell"]) == ["run_shell", "post"]
    with pytest.raises(InputError, match="tool `read_file` is granted twice"):
        names(grants, selected=[custom("read_file")])


def test_python_grant_takes_its_settings() -> None:
    given = {"name": "sum", "description": "Sum.", "args": {"b": "3"}, "max_calls": 2, "max_output_bytes": 500}
    grant = PythonGrant.model_validate({"python": "add", "required": True, **given})
    (tool,) = build_tools([grant], selected=None, functions={"add": add})
    assert (tool.name, tool.description, tool.required) == ("sum", "Sum.", True)
    assert (tool.max_calls, tool.max_output_bytes, dict(tool.pins)) == (2, 500, {"b": "3"})
    assert list(tool.parameters["properties"]) == ["a"]


@pytest.mark.parametrize(
    ("timeout", "run_s", "total_s"),
    [(None, 120.0, 600.0), (5.0, 5.0, 600.0), (1_200.0, 1_200.0, 1_200.0), (0.0, None, None)],
)
@pytest.mark.parametrize("name", ["run_shell", "read_file", "edit_file", "python", "custom"])
def test_timeout_of_a_grant_is_that_of_one_call(
    name: str, timeout: float | None, run_s: float | None, total_s: float | None
) -> None:
    settings = {} if timeout is None else {"timeout": timeout}
    own = {"python": python("add", **settings), "custom": custom("post", **settings)}
    (tool,) = build_tools([own.get(name) or builtin(name, **settings)], selected=None, functions={"add": add})
    policy = policy_of(tool)
    assert (policy.run_timeout_s, policy.total_timeout_s, policy.max_attempts) == (run_s, total_s, 1)


def test_retry_is_layered_from_the_agent_to_the_grant() -> None:
    retry = RetryLayers.model_validate(
        {"default": {"max_attempts": 2, "backoff_max_secs": 9}, "tool": {"run_timeout_secs": 7}}
    )
    grants = [custom("post", retry={"max_attempts": 4}), builtin("run_shell", timeout=3.0), builtin("ask_user")]
    post, shell, ask = build_tools(grants, selected=None, functions={}, retry=retry)
    assert policy_of(post) == RetryPolicy(
        run_timeout_s=7, total_timeout_s=600, max_attempts=4, backoff_base_s=2, backoff_max_s=9
    )
    assert (policy_of(shell).run_timeout_s, policy_of(shell).max_attempts) == (3, 2)
    assert (policy_of(ask).run_timeout_s, policy_of(ask).total_timeout_s) == (7, None)


def test_ask_users_timeout_is_how_long_it_waits_and_no_clock_of_the_call() -> None:
    (tool,) = build_tools([builtin("ask_user", timeout=60.0)], selected=None, functions={})
    assert policy_of(tool) == DEFAULTS["waiting"]
    assert tool.call.keywords["timeout_s"] == 60  # type: ignore[attr-defined]


def test_agent_grant_is_a_tool_with_the_childs_description() -> None:
    spawned: list[AgentGrant] = []

    def spawn(grant: AgentGrant) -> Spawn:
        async def hold(request: str, ctx: ToolContext) -> ToolResult:
            return ToolResult(request)

        spawned.append(grant)
        return hold

    grants = [
        AgentGrant.model_validate({"agent": "summarizer", "timeout": 300.0}),
        AgentGrant.model_validate({"agent": "critic", "description": "Judge it."}),
    ]
    described = {"summarizer": "Condenses a file.", "critic": "Its own."}
    first, second = build_tools(grants, selected=None, functions={}, spawn=spawn, describe=described.get)
    assert spawned == grants
    assert (first.name, first.description, second.description) == ("summarizer", "Condenses a file.", "Judge it.")
    assert policy_of(first) == RetryPolicy(run_timeout_s=300)
    assert policy_of(second) == RetryPolicy()


def test_agent_that_cannot_be_called_is_told() -> None:
    with pytest.raises(InputError, match="agents cannot be called here"):
        names([AgentGrant.model_validate({"agent": "critic"})])
