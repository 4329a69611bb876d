"""Keys of the language this version knows and cannot do yet, each with what to do instead.

They are load errors: a key that reads as configured and binds nothing is worse than one that is refused.
"""

from collections.abc import Mapping
from typing import Final

Unsupported = Mapping[str, str]

_REMOVE = "remove it"


def _all(instead: str, *keys: str) -> dict[str, str]:
    return dict.fromkeys(keys, instead)


_HOOKS = _all("put the work into a step of its own", "on_success", "on_failure", "on_error", "on_abort", "ensure")
_CONTAINER = _all(
    "remove it, as everything runs on this machine", "image", "network", "privileged", "container_limits", "user"
)
_STEP = {
    **_HOOKS,
    "across": "write one step for each value",
    "budget": _REMOVE,
    "max_in_flight": _REMOVE,
    "max_visits": _REMOVE,
    "to": "let the steps follow one another",
    "volatile": "remove it, as every step runs each time",
    "when": "test the condition inside the step",
}

PIPELINE: Final[Unsupported] = {
    "executor": _REMOVE,
    "mcp_servers": "grant built-in or Python tools",
    "resource_types": "use a resource of type `path`",
    "tasks": "write `run:` in the task steps themselves",
    "workspace": _REMOVE,
}
DEFAULTS: Final[Unsupported] = _all(_REMOVE, "delegate_budget_percent", "run_history", "version_history")
JOB: Final[Unsupported] = {
    **_HOOKS,
    **_all(_REMOVE, "budget", "interruptible", "max_in_flight", "serial", "serial_groups"),
}
RESOURCE: Final[Unsupported] = {**_CONTAINER, **_all(_REMOVE, "check_every", "env", "version")}
AGENT: Final[Unsupported] = {
    **_CONTAINER,
    **_all(
        _REMOVE,
        "budget",
        "delegate_budget_percent",
        "env",
        "fallback",
        "settings",
        "volatile",
    ),
    "file": "write the agent's keys here",
    "system_file": "write the text under `system:`",
}
TASK: Final[Unsupported] = {
    **_STEP,
    **_CONTAINER,
    "file": "write the program under `run:`",
    "fix": "repair it in an agent step that follows",
    "input_mapping": "use the artifact's own name",
    "output_mapping": "use the artifact's own name",
    "run_file": "write the program under `run:`",
    "verdicts": "let the steps follow one another",
}
AGENT_STEP: Final[Unsupported] = {
    **_STEP,
    **_CONTAINER,
    "dir": "write paths from the step's own directory on",
    "env": _REMOVE,
    "fallback": _REMOVE,
    "message_files": "write the texts under `messages:`",
    "retry": "write it on the agent",
}
GET: Final[Unsupported] = {
    **_STEP,
    "assert": "check the files in a task step that follows",
    "passed": "put both steps into one job",
    "timeout": _REMOVE,
    "trigger": "remove it, as a job runs when it is told to",
    "version": "remove it, as the files are taken as they are",
}
STEP_KINDS: Final[Unsupported] = {
    "put": "publish from a task step",
    "load_var": "read the file in the step that needs it",
    "do": "list its steps in the plan",
    "in_parallel": "list its steps in the plan",
    "race": "pick one of its steps",
    "ensemble": "ask the agents in steps of their own",
    "approval": "have an agent ask with the tool `ask_user`",
    "try": "write the step itself, and let its command exit 0",
}
BUILTIN_GRANT: Final[Unsupported] = _all(_REMOVE, "allow", "answered_by")
GRANT_FORMS: Final[Unsupported] = {
    "mcp": "grant built-in, Python or custom tools",
}
TOOLS: Final[Unsupported] = {
    "web_fetch": "fetch in a task step, or with a Python tool",
}
RESOURCE_TYPES: Final[Unsupported] = {"git": "clone in a task step, or use `path`"}

COVERED: Final[Mapping[str, str]] = {"run_file": "run", "file": "run", "message_files": "messages"}
"""Unsupported keys that stand in for a required one; its absence is then no second problem."""
