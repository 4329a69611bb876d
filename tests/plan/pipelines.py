"""Pipelines as Python values, which YAML reads as they are."""

import copy
import json
from typing import Any

from stepsnb.config import Pipeline, load_text
from stepsnb.plan import Node, Plan, build_plan

AGENTS: list[dict[str, Any]] = [
    {
        "name": "writer",
        "description": "Writes.",
        "source": {"model": "openrouter/one/model"},
        "system": "You write.",
        "max_turns": 9,
        "temperature": 0.5,
        "tools": [
            "read_file",
            {"builtin": "ask_user", "default": "yes"},
            {"name": "count", "description": "Counts.", "run": "wc {{ .args.file }}"},
            {"agent": "helper"},
        ],
    },
    {"name": "helper", "description": "Helps.", "source": {"model": "openrouter/small/model"}, "system": "You help."},
    {"name": "fixer", "source": {"model": "openrouter/one/model"}, "system": "You mend.", "tools": ["edit_file"]},
]


def pipeline_of(*steps: dict[str, Any], **more: Any) -> Pipeline:
    """Load a pipeline of one job `job` with these steps; `more` are other top-level keys."""
    document = {"agents": AGENTS, "jobs": [{"name": "job", "plan": list(steps)}], **more}
    return load_text(json.dumps(document))


def plan_of(*steps: dict[str, Any], **more: Any) -> Plan:
    """Plan a pipeline of these steps."""
    return build_plan(pipeline_of(*steps, **more))


def node_of(step: dict[str, Any], **more: Any) -> Node:
    """Plan one step."""
    return plan_of(step, **more).nodes[0]


def changed(value: Any, path: str, new: Any) -> Any:
    """Return a copy of nested mappings and lists with one value replaced; `path` is like `tools.2.run`."""
    made = copy.deepcopy(value)
    *parts, last = path.split(".")
    at = made
    for part in parts:
        at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
    at[int(last) if isinstance(at, list) else last] = new
    return made
