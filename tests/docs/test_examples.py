"""Every pipeline printed in the pages loads, and runs unless it is marked `noexec`."""

import re
from pathlib import Path

import pytest

import stepsnb
from stepsnb.outcome import Outcome

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```yaml( noexec)?\n(?:%%steps[^\n]*\n)?(.*?)^```$", re.M | re.S)


def examples() -> list[tuple[str, str, bool]]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            line = text.count("\n", 0, fence.start()) + 1
            found.append((f"{page.relative_to(ROOT)}:{line}", fence[2], not fence[1]))
    return found


@pytest.mark.parametrize(("place", "text"), [example[:2] for example in examples()])
def test_printed_pipeline_loads(place: str, text: str):
    assert stepsnb.load(text, name=place, vars={"model": "scripted/unused.yml"}).jobs


@pytest.mark.parametrize(("place", "text"), [(place, text) for place, text, is_run in examples() if is_run])
def test_printed_pipeline_runs(place: str, text: str, tmp_path: Path):
    run = stepsnb.load(text, name=place).run(store=tmp_path)

    assert (run.outcome, run.error) == (Outcome.SUCCEEDED, None)
