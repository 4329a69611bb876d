"""Tells of steps that a run does not do itself because the run it goes on from got them done."""

from ..events import StepTakenOver
from ..plan import Node
from .past import Done
from .recorder import Recorder


class TakenOver:
    """Records each such step once, however often the run is resumed."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._told = {event.step_id for event in recorder.events if isinstance(event, StepTakenOver)}

    def tell(self, done: Done, node: Node, parent_id: str | None) -> None:
        """Record that another run got a step done; of what this run did itself the record is there already."""
        result = done.result
        if done.run_id == self._recorder.run_id or result.step_id in self._told:
            return
        self._told.add(result.step_id)
        self._recorder.step(result.step_id)(
            StepTakenOver(
                name=node.name,
                step_kind=node.kind,
                index=node.index,
                parent_id=parent_id,
                node=node.path,
                from_run=done.run_id,
                outcome=result.outcome,
                reason=result.reason,
                verdict=result.verdict,
                note=result.note,
                output=result.output,
                artifacts=[tree.name for tree in done.trees],
            )
        )
