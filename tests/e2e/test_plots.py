"""Pictures of what runs did and cost: as numbers, as text, and drawn."""

import matplotlib as mpl
import pytest

import stepsnb
from stepsnb.api import plotting
from stepsnb.cli.main import main
from stepsnb.errors import InputError
from stepsnb.plots import Bars, Lines, Spans, picture_of, picture_text
from stepsnb.store import Store

mpl.use("agg")


@pytest.fixture
def run(scripted_llm, tmp_path):
    """A run of two agents that decide, one with a tool call, with prices."""
    scripted_llm.says(calls=[("list_dir", {})], usage={"input": 1000, "cached_input": 3000, "output": 100})
    scripted_llm.says(calls=[("verdict", {"verdict": "good"})], usage={"input": 500})
    scripted_llm.says("Done.", usage={"input": 600})
    scripted_llm.says(calls=[("verdict", {"verdict": "bad"})], usage={"input": 700})
    scripted_llm.says("Done.", usage={"input": 800})
    text = f"""
prices: {{{scripted_llm.model}: {{input: 10, output: 20, cache_read: 1}}}}
agents: [{{name: judge, source: {{model: {scripted_llm.model}}}, tools: [list_dir], context_window: 9000}}]
jobs:
- name: review
  plan:
  - {{task: make, run: sleep 0.2}}
  - {{agent: judge, prompt: First., verdicts: [good, bad]}}
  - do: [{{agent: judge, prompt: Second., verdicts: [good, bad]}}]
"""
    run = stepsnb.run(text, store=tmp_path / "store")
    assert run.outcome == "succeeded", run.error
    return run


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_tokens_of_a_run_are_stacked_by_class(run, store):
    picture = picture_of(store, "tokens", run.run_id)
    assert isinstance(picture, Bars)
    assert picture.labels == ["judge"]
    assert picture.series == {
        "input": [3600],
        "cached input": [3000],
        "cache writes": [0],
        "output": [100],
    }


def test_cost_is_by_day_and_model(run, store, scripted_llm):
    picture = picture_of(store, "cost", None)
    assert len(picture.labels) == 1
    assert picture.series == {scripted_llm.model: [pytest.approx((3600 * 10 + 3000 + 100 * 20) / 1e6)]}
    assert picture.note == ""


def test_verdicts_are_counted(run, store):
    picture = picture_of(store, "verdicts", None)
    assert (picture.labels, picture.series) == (["judge"], {"good": [1], "bad": [1]})


def test_timeline_has_each_step_with_its_requests_and_calls(run, store):
    picture = picture_of(store, "timeline", run.run_id)
    assert isinstance(picture, Spans)
    assert picture.lanes == ["make", "judge", "do", "judge"]
    kinds = [[kind for kind, _, _ in spans] for spans in picture.spans]
    assert (kinds[0], kinds[1].count("model"), kinds[1].count("tool") >= 1) == (["step"], 3, True)
    assert picture.spans[0][0][2] >= 0.2
    assert picture.spans[1][0][1] >= 0.2


def test_context_grows_to_where_it_would_be_summarised(run, store):
    picture = picture_of(store, "context", run.run_id)
    assert isinstance(picture, Lines)
    (first, second) = picture.lines
    assert (picture.lines[first][0], len(picture.lines[second])) == (4100, 2)
    assert picture.levels[first] == pytest.approx(7200)


@pytest.mark.parametrize("kind", ["cost", "tokens", "timeline", "context", "verdicts"])
def test_every_kind_is_drawn_and_printed(run, tmp_path, kind, capsys):
    axes = stepsnb.plot(kind, run, store=tmp_path / "store")
    axes.figure.canvas.draw()
    assert axes.get_title()
    assert main(["plot", kind, run.run_id, "--store", str(tmp_path / "store")]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 3


@pytest.mark.parametrize("kind", ["cost", "tokens", "verdicts"])
def test_empty_store_is_nothing_to_show_yet(tmp_path, kind):
    assert picture_text(picture_of(Store(tmp_path / "none"), kind, None)).endswith("nothing to show yet")
    stepsnb.plot(kind, store=tmp_path / "none").figure.canvas.draw()


def test_picture_goes_into_given_axes(run, tmp_path):
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    assert stepsnb.plot("cost", store=tmp_path / "store", ax=ax) is ax


def test_without_matplotlib_there_is_text(run, tmp_path, monkeypatch):
    monkeypatch.setattr(plotting, "find_spec", lambda name: None)
    assert "cached input" in repr(stepsnb.plot("tokens", run, store=tmp_path / "store"))


def test_name_with_dollars_is_no_formula(tmp_path):
    text = "jobs: [{name: j, plan: [{task: 'a $\\\\frac{x$ b', run: 'true'}]}]"
    run = stepsnb.run(text, store=tmp_path / "store")
    stepsnb.plot("timeline", run, store=tmp_path / "store").figure.canvas.draw()


def test_unknown_price_is_said(scripted_llm, tmp_path, wire_server):
    from tests.llm.conftest import DONE, delta

    wire_server.streams(delta(content="Hi."), delta("stop"), DONE)
    text = f"""
agents: [{{name: a, source: {{model: m, endpoint: '{wire_server.base_url}'}}, context_window: 9000, tools: []}}]
jobs: [{{name: j, plan: [{{agent: a, prompt: Go.}}]}}]
"""
    assert stepsnb.run(text, store=tmp_path / "store").outcome == "succeeded"
    assert "incomplete" in picture_text(picture_of(Store(tmp_path / "store"), "cost", None))


@pytest.mark.parametrize(
    ("kind", "run_id", "words"),
    [
        ("costs", None, r"plot: unknown kind `costs` \(did you mean `cost`"),
        ("timeline", None, "`timeline` is of one run; name it"),
        ("context", "NOPE", "unknown run `NOPE`"),
    ],
)
def test_what_cannot_be_drawn_is_named(run, tmp_path, kind, run_id, words):
    with pytest.raises(InputError, match=words):
        stepsnb.plot(kind, run_id, store=tmp_path / "store")
