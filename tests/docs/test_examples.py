"""Every pipeline printed in the pages loads, and runs unless it is marked `noexec: WHY`.

It runs in a folder with the scripts that its page prints, each after a line that names its file, and with what the
page's Python above it defines.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stepsnb
from stepsnb.outcome import Outcome

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```yaml( noexec: [^\n]+)?\n(?:%%steps[^\n]*\n)?(.*?)^```$", re.M | re.S)
SCRIPT = re.compile(r"`([\w]+\.yml)`[^`]*\n+```yml\n(.*?)^```$", re.M | re.S)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def write_scripts(page: str, folder: Path) -> None:
    for script in SCRIPT.finditer(page):
        (folder / script[1]).write_text(script[2], encoding="utf-8")


def defined_above(page: str, line: int) -> dict[str, Callable[..., Any]]:
    """What the Python of a page defines in the lines above one."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in PYTHON.finditer("".join(page.splitlines(keepends=True)[: line - 1])):
        exec(block[1], names)
    return names


def examples() -> list[tuple[str, str, bool]]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            line = text.count("\n", 0, fence.start()) + 1
            found.append((f"{page.relative_to(ROOT)}:{line}", fence[2], not fence[1]))
    return found


def test_every_block_runs_or_says_why_not() -> None:
    blocks = [
        line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("```yaml")
    ]

    assert [line for line in blocks if line != "```yaml" and not re.fullmatch(r"```yaml noexec: .+", line)] == []
    assert len(examples()) == len(blocks)


@pytest.mark.parametrize(("place", "text"), [example[:2] for example in examples()])
def test_printed_pipeline_loads(place: str, text: str):
    assert stepsnb.load(text, name=place, vars={"model": "scripted/unused.yml"}).jobs


@pytest.mark.parametrize(("place", "text"), [(place, text) for place, text, is_run in examples() if is_run])
def test_printed_pipeline_runs(place: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, _, line = place.partition(":")
    page = (ROOT / path).read_text(encoding="utf-8")
    write_scripts(page, tmp_path)
    monkeypatch.chdir(tmp_path)

    run = stepsnb.load(text, name=place, functions=defined_above(page, int(line))).run()

    assert (run.outcome, run.error) == (Outcome.SUCCEEDED, None)
