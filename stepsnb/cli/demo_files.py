"""The example notebooks as shipped, and their copy in the person's folder."""

import filecmp
import shutil
from pathlib import Path

from ..errors import InputError

NOTEBOOK = "01_first_pipeline.ipynb"
_SHIPPED = ("*.ipynb", "data/**/*", "projects/**/*", "scripted/**/*", "servers/**/*")


def notebooks_folder() -> Path:
    """Return where the notebooks are: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "_notebooks", package.parent / "notebooks"):
        if (folder / NOTEBOOK).is_file():
            return folder
    raise InputError("this installation has no example notebooks; install stepsnb from its wheel or a checkout")


def copy_notebooks(target: Path) -> list[str]:
    """Copy what is missing from `target` and return what to tell the person; nothing there is overwritten."""
    source = notebooks_folder()
    lines = []
    for file in sorted(path for pattern in _SHIPPED for path in source.glob(pattern) if path.is_file()):
        name = file.relative_to(source)
        own = target / name
        if not own.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, own)
        elif not filecmp.cmp(file, own, shallow=False):
            lines.append(f"keeping your {target.name}/{name}; delete it to get the original back")
    return [f"the notebooks are in {target.name}/", *lines]
