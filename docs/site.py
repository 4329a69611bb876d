"""Builds the site: the pages of `docs/`, the notebooks with their stored outputs, and the Python API.

    python docs/site.py OUT

The pages link to each other, and to the notebooks, as they lie in the repository, so that they read the same there.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

import stepsnb

DOCS = Path(__file__).parent
TOP = DOCS.parent
_NOTEBOOK = re.compile(r"\((?:\.\./)+notebooks/([\w-]+\.ipynb)(#[\w-]*)?\)")
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!notebooks/)(?:[\w./-]+)\)")

API_HEAD = """# Python

Everything below is imported from `stepsnb`. What is not here is not part of the interface.

```{eval-rst}
.. currentmodule:: stepsnb
```
"""


def put_together(folder: Path) -> None:
    """Write the sources of the site into a folder."""
    shutil.copytree(DOCS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py", "__pycache__", "_build"))
    shutil.copy(DOCS / "conf.py", folder)
    tutorials = folder / "tutorials"
    tutorials.mkdir(exist_ok=True)
    notebooks = sorted((TOP / "notebooks").glob("*.ipynb"))
    for notebook in notebooks:
        text = notebook.read_text("utf-8").replace("(../docs/", "(../")
        (tutorials / notebook.name).write_text(text, "utf-8")
    for page in folder.rglob("*.md"):
        depth = len(page.relative_to(folder).parts) - 1
        text = page.read_text("utf-8")
        text = _NOTEBOOK.sub(lambda found, up="../" * depth: f"({up}tutorials/{found[1]})", text)
        page.write_text(_OUTSIDE.sub(r"\1", text), "utf-8")
    (folder / "reference" / "python.md").write_text(api_page(), "utf-8")
    index = folder / "index.md"
    index.write_text(index.read_text("utf-8") + "\n" + contents(folder), "utf-8")


def api_page() -> str:
    """Write the page of the Python API: every public name, with its docstring."""
    entries = []
    for name in sorted(stepsnb.__all__, key=str.lower):
        kind = "autoclass" if isinstance(getattr(stepsnb, name), type) else "autofunction"
        members = "\n   :members:" if kind == "autoclass" else ""
        entries.append(f"## {name}\n\n```{{eval-rst}}\n.. {kind}:: {home_of(name)}{members}\n```\n")
    return API_HEAD + "\n" + "\n".join(entries)


def home_of(name: str) -> str:
    """Return where a public object is defined; verbs that are packages too are functions of `stepsnb.api`."""
    found = getattr(stepsnb, name)
    if not hasattr(found, "__qualname__"):
        from stepsnb import _VERBS_TOO, api

        found = getattr(api, _VERBS_TOO[name])
    return f"{found.__module__}.{found.__qualname__}"


def contents(folder: Path) -> str:
    """Write the navigation: every page, by its folder."""
    parts = []
    for title, place in (
        ("Tutorials", "tutorials"),
        ("How to", "how-to"),
        ("Reference", "reference"),
        ("Explanation", "explanation"),
    ):
        pages = sorted(path.relative_to(folder).with_suffix("") for path in (folder / place).iterdir())
        names = "\n".join(page.as_posix() for page in pages)
        parts.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{names}\n```\n")
    return "\n".join(parts)


def build(out: Path) -> int:
    """Build the site; every warning is an error."""
    with tempfile.TemporaryDirectory(prefix="stepsnb-site-") as name:
        source = Path(name) / "docs"
        put_together(source)
        return int(build_main(["-W", "--keep-going", "-q", "-b", "html", str(source), str(out)]))


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
