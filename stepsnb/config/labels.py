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

LISTS = {"agents": "agent", "jobs": "job", "resources": "resource"}
"""Sections that are lists of named entries, and what an entry is called."""


def label_of(root: Tree | None, path: Path, *, job: str | None = None) -> str:
    """Name what `path` leads to; empty for the document itself.

    A document that is a list holds the steps of a cell; `job` names the job they belong to.
    """
    match root, path:
        case Items(), (int(position), *_):
            label = _step_label(root[position], position)
            return f"job `{job}`, {label}" if job else label
        case Entries(), ("jobs", int(position), "plan", int(step_position), *_):
            step, _ = descend(root, path[:4])
            return f"{_entry_label(root, 'jobs', position)}, {_step_label(step, step_position)}"
        case Entries(), (str(section), int(position), *_) if section in LISTS:
            return _entry_label(root, section, position)
        case _:
            return ""


def step_kinds(step: Tree) -> list[str]:
    """Return the step-kind keys a step names; exactly one in a sound step."""
    return [kind for kind in STEP_KINDS if isinstance(step, Entries) and kind in step]


def _entry_label(root: Entries, section: str, position: int) -> str:
    entry, _ = descend(root, (section, position))
    name, _ = descend(entry, ("name",))
    if isinstance(name, Scalar) and name is not entry and name.text:
        return f"{LISTS[section]} `{name.shown}`"
    return f"{LISTS[section]} {position + 1}"


def _step_label(step: Tree, position: int) -> str:
    kinds = step_kinds(step)
    if len(kinds) == 1:
        name, _ = descend(step, (kinds[0],))
        if isinstance(name, Scalar) and name.text:
            return f"step {position + 1} ({kinds[0]} `{name.shown}`)"
    return f"step {position + 1}"
