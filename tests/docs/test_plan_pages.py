"""What the pages on plans say happens, happens: where one run of one job is not enough to show it."""

import json
import re
from pathlib import Path

import pytest

import stepsnb
from stepsnb.config.schema import schema
from stepsnb.outcome import Outcome
from stepsnb.run.guard import GUARD_S
from stepsnb.settings import HOOK_GRACE_S

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def pipeline(page: str) -> stepsnb.LoadedPipeline:
    """The first pipeline of a page."""
    text = (HOW_TO / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(r"^```yaml(?: noexec[^\n]*)?\n(.*?)^```$", text, re.M | re.S)
    assert found is not None
    return stepsnb.load(found[1], name=f"{page}.md")


@pytest.mark.parametrize(
    ("answer", "outcome", "last"),
    [("approve", "succeeded", "print"), ("reject: not on a Friday", "failed", "put_away")],
)
def test_approval_of_the_page_goes_on_or_fails(answer: str, outcome: str, last: str, tmp_path: Path) -> None:
    run = pipeline("approvals").run(store=tmp_path, answers={"print": answer})

    assert (run.outcome, run.steps[-1].name) == (outcome, last)
    assert outcome == "succeeded" or "not on a Friday" in (run.error or "")


def test_approval_of_the_page_is_aborted_where_nobody_is(tmp_path: Path) -> None:
    run = pipeline("approvals").run(store=tmp_path)

    assert run.outcome is Outcome.ABORTED
    assert run.error == (
        "step `go_ahead` aborted: `Print the sheet?` waits for approval and nobody is here to answer; approve it in "
        "advance with `--answer 'Print the sheet=approve'` (in Python `answers=`)"
    )


def test_second_run_reuses_what_the_page_says_and_the_plan_says_so_before(tmp_path: Path) -> None:
    loaded = pipeline("reuse-and-resume")
    loaded.run(store=tmp_path)

    planned = loaded.plan(store=tmp_path)
    again = loaded.run(store=tmp_path)

    assert planned["action"].tolist() == ["reuse", "reuse", "run", "run"]
    assert [step.outcome for step in again.steps] == ["reused", "reused", "succeeded", "succeeded"]
    page = (HOW_TO / "reuse-and-resume.md").read_text(encoding="utf-8")
    assert [reason for reason in planned["reason"][2:] if reason not in page] == []


def test_schema_of_the_page_is_a_json_schema_with_every_top_level_key() -> None:
    printed = json.loads(json.dumps(schema()))

    assert {"agents", "jobs", "resources", "resource_types", "tasks"} <= printed["properties"].keys()


def test_bounds_on_the_page_about_hooks_hold() -> None:
    page = (HOW_TO / "hooks-and-guards.md").read_text(encoding="utf-8")

    assert f"hooks have {HOOK_GRACE_S:g} seconds" in page
    assert f"has not ended after {GUARD_S:g} seconds" in page
