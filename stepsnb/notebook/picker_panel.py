"""Pipelines to pick from below a cell; the one that is picked takes the panel's place."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .display import DisplayPlace, pipeline_html, pipeline_text
from .given import MagicOptions
from .panel import PanelHost
from .pipeline_panel import PipelinePanel

if TYPE_CHECKING:
    from ..api import PipelinePicker
    from .loaded import Loaded


class PickerPanel:
    """Lists the files of a picker, and loads the one that is clicked for the cells that follow."""

    def __init__(self, loaded: "Loaded", picker: "PipelinePicker", options: MagicOptions) -> None:
        self._loaded = loaded
        self._picker = picker
        self._options = options
        self._host = PanelHost(self.act, self._state())

    def open(self) -> None:
        """Offer it to the front end, on the cell's thread."""
        self._host.open()

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a person asks for. Raises: StepsError with what is wrong."""
        match message:
            case {"t": "refresh"}:
                self._host.show(self._state())
            case {"t": "pick", "file": str(file)}:
                pipeline = self._picker.pick(file)
                self._loaded.adopt(pipeline, self._options)
                shown = {"text/plain": pipeline_text(pipeline), "text/html": pipeline_html(pipeline)}
                DisplayPlace(self._host.output).show(shown)
                PipelinePanel(self._loaded, pipeline, self._options, host=self._host)

    def _state(self) -> dict[str, Any]:
        return {"kind": "picker", "files": self._picker.files}
