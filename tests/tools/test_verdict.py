import pytest

from stepsnb.tools import Tool, verdict_tool

from .conftest import Call, error_of


class Judged:
    """What was decided; `owed` is what has to be done first."""

    def __init__(self) -> None:
        self.verdicts: list[tuple[str, str | None]] = []
        self.owed: str | None = None

    def tool(self, *, note_required: bool = False) -> Tool:
        return verdict_tool(
            ["pass", "revise"],
            note_required=note_required,
            on_verdict=lambda verdict, note: self.verdicts.append((verdict, note)),
            refuse=lambda: self.owed,
        )


@pytest.fixture
def judged() -> Judged:
    return Judged()


async def test_verdict_and_note_are_handed_on(call: Call, judged: Judged) -> None:
    called = await call(judged.tool(), verdict="revise", note=" too long \n")
    assert called.result.data == {"verdict": "revise", "recorded": True}
    assert judged.verdicts == [("revise", "too long")]


def test_schema_offers_the_verdicts_and_asks_for_a_note_when_it_is_needed(judged: Judged) -> None:
    tool = judged.tool()
    assert tool.name == "verdict"
    assert tool.parameters["properties"]["verdict"]["enum"] == ["pass", "revise"]
    assert tool.parameters["required"] == ["verdict"]
    assert judged.tool(note_required=True).parameters["required"] == ["verdict", "note"]


async def test_one_verdict_alone_can_be_chosen(call: Call) -> None:
    tool = verdict_tool(["done"], note_required=False, on_verdict=lambda verdict, note: None, refuse=lambda: None)
    assert (await call(tool, verdict="done")).ok


async def test_other_verdict_is_told(call: Call, judged: Judged) -> None:
    message = error_of(await call(judged.tool(), verdict="Pass"))
    assert message == "the call was not run: argument `verdict`: input should be 'pass' or 'revise'"
    assert judged.verdicts == []


@pytest.mark.parametrize("note", [{}, {"note": ""}, {"note": "  "}])
async def test_needed_note_that_is_missing_is_told(call: Call, judged: Judged, note: dict[str, str]) -> None:
    assert "note" in error_of(await call(judged.tool(note_required=True), verdict="pass", **note))
    assert judged.verdicts == []


async def test_verdict_waits_for_what_is_owed(call: Call, judged: Judged) -> None:
    judged.owed = "`answer/reply.md` does not exist yet"
    assert error_of(await call(judged.tool(), verdict="pass")) == "`answer/reply.md` does not exist yet"
    judged.owed = None
    assert (await call(judged.tool(), verdict="pass")).ok
    assert judged.verdicts == [("pass", None)]
