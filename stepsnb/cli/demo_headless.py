"""Executes a notebook with this interpreter's own kernel and reads what its tagged cells show."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from ..errors import StepsError

_SHOWN = ("report", "cost")


class DemoFailed(StepsError):
    """A cell of the notebook did not run to its end."""

    code = "demo"


class _OwnKernel(KernelSpecManager):
    """Knows one kernel: this interpreter, whatever is registered on the machine."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the kernel of this interpreter under any name."""
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "--log-level=40", "-f", "{connection_file}"],
            display_name="Python 3",
            language="python",
        )


def execute(notebook: Path) -> Path:
    """Execute `notebook` in its folder and save the result beside it as `NAME.executed.ipynb`.

    Raises: `DemoFailed` with the cell's error; what ran until then is saved all the same.
    """
    content = nbformat.reads(notebook.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]  # nbformat's reads has no types
    manager = AsyncKernelManager(kernel_spec_manager=_OwnKernel())
    client = NotebookClient(content, km=manager, timeout=None, resources={"metadata": {"path": str(notebook.parent)}})
    executed = notebook.with_suffix(".executed.ipynb")
    try:
        client.execute()
    except CellExecutionError as exc:
        raise DemoFailed(f"{notebook.name}: {exc.ename}: {exc.evalue}; see {executed.name}") from exc
    finally:
        executed.write_text(nbformat.writes(content), encoding="utf-8")  # type: ignore[no-untyped-call]  # nor has its writes
    return executed


def read_outputs(notebook: Path) -> dict[str, str]:
    """Return the text that the cells tagged `report` and `cost` show, by tag."""
    shown: dict[str, str] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for tag in cell["metadata"].get("tags", []):
            if tag in _SHOWN:
                shown[tag] = "\n".join(filter(None, map(_text_of, cell.get("outputs", [])))).strip("\n")
    return shown


def _text_of(output: Mapping[str, Any]) -> str:
    if output["output_type"] == "stream":
        return "".join(output["text"])
    return "".join(output.get("data", {}).get("text/plain", ""))
