"""The pipelines of the page on custom tools run as printed, with the scripts printed below them."""

import re
from pathlib import Path

import pytest

import stepsnb
from stepsnb.outcome import Outcome
from stepsnb.settings import INLINE_OUTPUT_BYTES, SPILL_CEILING_BYTES, TOOL_RUN_S
from stepsnb.templates import check_template
from stepsnb.templates.functions import FUNCTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "custom-tools.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(yaml noexec[^\n]*|yml)\n(.*?)^```$", PAGE, re.M | re.S)
PIPELINES = [text for kind, text in BLOCKS if kind != "yml"]
SCRIPTS = [text for kind, text in BLOCKS if kind == "yml"]


@pytest.mark.parametrize(("pipeline", "script"), list(zip(PIPELINES, SCRIPTS, strict=True)), ids=["berth", "tide"])
def test_printed_pipeline_holds(pipeline: str, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    name = re.search(r"scripted/(\w+\.yml)", pipeline)[1]
    assert f"`{name}`" in PAGE
    (tmp_path / name).write_text(script, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    run = stepsnb.load(pipeline, name="page.yml").run(store=tmp_path / "store")

    assert (run.outcome, run.error) == (Outcome.SUCCEEDED, None)


def test_table_shows_templates():
    shown = re.findall(r"^\| `(.*?)` \|", PAGE, re.M)
    assert len(shown) == 6
    for text in shown:
        check_template(text.replace("\\|", "|"))


def test_all_functions_are_named():
    assert {name for name in FUNCTIONS if f"`{name}`" not in PAGE} == set()


def test_numbers_are_those_that_hold():
    assert f"{INLINE_OUTPUT_BYTES:,} if unset and {SPILL_CEILING_BYTES:,} at most" in PAGE
    assert f"runs for {TOOL_RUN_S:g} s" in PAGE
