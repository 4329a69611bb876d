"""Tab completion on the lines of our magics: verbs, options, jobs, steps, agents, run ids, variables, paths."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from ..errors import StepsError
from ..events import Artifact, Event, StepSkipped, StepStarted
from .loaded import Loaded
from .magics import CELL_MAGICS, VERBS

_RUNS_OFFERED = 30


def build_matcher(loaded: Loaded) -> Callable[[CompletionContext], Any]:
    """Build the IPython matcher; it has nothing to say about any other line."""

    @context_matcher(identifier="stepsnb")  # type: ignore[untyped-decorator]  # IPython ships no types
    def stepsnb_matcher(context: CompletionContext) -> dict[str, Any]:
        line = context.text_until_cursor
        before, _, fragment = line.rpartition(" ")
        offered = _candidates(before.split(), fragment, loaded)
        if offered is None:
            return {"completions": []}
        return {
            "completions": [SimpleCompletion(text, type="param") for text in offered if text.startswith(fragment)],
            "matched_fragment": fragment,
            "suppress": True,
        }

    return stepsnb_matcher  # type: ignore[no-any-return]  # as above


def _candidates(words: list[str], fragment: str, loaded: Loaded) -> Iterable[str] | None:
    """What may stand after `words`; None where the line is not ours."""
    words = words[2:] if words[1:2] == ["<<"] else words
    match words:
        case ["%steps"]:
            return VERBS
        case ["%steps", verb, *rest] if verb in VERBS:
            arguments = VERBS[verb].arguments
        case [magic, *rest] if magic.startswith("%%") and magic[2:] in CELL_MAGICS:
            arguments = CELL_MAGICS[magic[2:]].arguments
        case _:
            return None
    if fragment.startswith("-"):
        return arguments.options
    kind = arguments.completes(rest)
    if kind == "begun":
        return _begun(loaded, rest)
    return arguments.options if kind is None else _known(kind, fragment, loaded)


def _known(kind: str, fragment: str, loaded: Loaded) -> Iterable[str]:
    match kind:
        case "job":
            return loaded.pipeline.jobs if loaded.has_pipeline else []
        case "agent":
            return [a.name for a in loaded.pipeline.pipeline.agents] if loaded.has_pipeline else []
        case "step":
            return loaded.step_names
        case "run":
            return _run_ids(loaded)
        case "artifact":
            run_id, slash, _ = fragment.partition("/")
            return _artifacts(loaded, run_id) if slash else [f"{found}/" for found in _run_ids(loaded)]
        case "variable":
            return loaded.variable_names
        case _:
            return _paths(fragment)


def _run_ids(loaded: Loaded) -> list[str]:
    """The newest runs of the store; none is not a reason to make a store."""
    from .. import api
    from ..api.options import store_root

    if not store_root(loaded.options.store).is_dir():
        return []
    try:
        return [str(run_id) for run_id in api.runs(store=loaded.options.store)["run_id"][:_RUNS_OFFERED]]
    except StepsError:
        return []  # the verb itself will say what is wrong with the store


def _begun(loaded: Loaded, words: list[str]) -> list[str]:
    """The steps of the run that stands in the line, else of the notebook's last one, in order."""
    run_id = next((word for word in words if not word.startswith("-")), loaded.last_run_id)
    events = [] if run_id is None else _events(loaded, run_id)
    return list(
        dict.fromkeys(e.name for e in events if isinstance(e, StepStarted | StepSkipped) and e.node is not None)
    )


def _events(loaded: Loaded, run_id: str) -> list[Event]:
    from ..api.options import store_root
    from ..store import Store, run_events

    root = store_root(loaded.options.store)
    try:
        return run_events(Store(root), run_id) if root.is_dir() else []
    except StepsError:
        return []


def _artifacts(loaded: Loaded, run_id: str) -> list[str]:
    events = _events(loaded, run_id)
    return sorted({f"{run_id}/{event.name}" for event in events if isinstance(event, Artifact)})


def _paths(fragment: str) -> list[str]:
    head, slash, name = fragment.rpartition("/")
    folder = Path(head + slash).expanduser()
    found = [path for path in folder.glob("*") if path.name.startswith(name) and (name or path.name[0] != ".")]
    return sorted(head + slash + path.name + ("/" if path.is_dir() else "") for path in found)
