"""How messages name the part of a pipeline a path leads to: ``job `review`, step 2 (agent `critic`)``."""

from .tree import Entries, Items, Path, Scalar, Tree, descend

STEP_KINDS = (
    "task",
    "agent",
    "get",
    "put",
    "load_var",
    "do",
    "in_parallel",
    "race",
    "ensemble",
    "approval",
    "try",
)
"""Every step kind of the language; a step has exactly one of these keys."""

_BRANCHES = frozenset({"steps", "in_parallel", "race"})
_STEP_LISTS = frozenset({"do", "agents", *_BRANCHES})
_HELD_STEPS = frozenset({"on_success", "on_failure", "on_error", "on_abort", "ensure", "try"})

LISTS = {
    "agents": "agent",
    "jobs": "job",
    "mcp_servers": "MCP server",
    "resource_types": "resource type",
    "resources": "resource",
    "tasks": "task",
}
"""Sections that are lists of named entries, and what an entry is called."""


def label_of(root: Tree | None, path: Path, *, job: str | None = None) -> str:
    """Name what `path` leads to; empty for the document itself.

    A document that is a list holds the steps of a cell; `job` names the job they belong to.
    """
    match root, path:
        case Items(), (int(position), *_):
            label = _step_labels(root, path, 0)
            return f"job `{job}`, {label}" if job else label
        case Entries(), ("jobs", int(position), *rest):
            entry = _entry_label(root, "jobs", position)
            steps = _step_labels(root, path, 3 if rest and rest[0] == "plan" else 2)
            return f"{entry}, {steps}" if steps else entry
        case Entries(), (str(section), int(position), *_) if section in LISTS:
            return _entry_label(root, section, position)
        case _:
            return ""


def _step_labels(root: Tree, path: Path, start: int) -> str:
    """Name the step at `path`, and those around it, from the part `start` of the path on."""
    labels: list[str] = []
    for end in range(start, len(path)):
        part, above = path[end], path[end - 1] if end else None
        if isinstance(part, int) and (end == start or above in _STEP_LISTS):
            step, _ = descend(root, path[: end + 1])
            word = "member" if above == "agents" else "branch" if above in _BRANCHES else "step"
            labels.append(_step_label(step, f"{word} {part + 1}"))
        elif part in _HELD_STEPS:
            step, _ = descend(root, path[: end + 1])
            labels.append(_step_label(step, f"`{part}:`"))
    return ", ".join(labels)


def step_kinds(step: Tree) -> list[str]:
    """Return the step-kind keys a step names; exactly one in a sound step."""
    return [kind for kind in STEP_KINDS if kind in step] if isinstance(step, Entries) else []


def _entry_label(root: Entries, section: str, position: int) -> str:
    entry, _ = descend(root, (section, position))
    name, _ = descend(entry, ("name",))
    if isinstance(name, Scalar) and name is not entry and name.text:
        return f"{LISTS[section]} `{name.shown}`"
    return f"{LISTS[section]} {position + 1}"


def _step_label(step: Tree, words: str) -> str:
    kinds = step_kinds(step)
    if len(kinds) != 1:
        return words
    name, _ = descend(step, (kinds[0],))
    if isinstance(name, Scalar) and name.text:
        return f"{words} ({kinds[0]} `{name.shown}`)"
    return f"{words} ({kinds[0]})"
