"""Fixtures that run one agent step, and what it takes to look at it."""

import json

import pytest

import stepsnb
from stepsnb.effects import run_effect

PRINTS = {
    "name": "prints",
    "description": "Prints n letters.",
    "run": "head -c {{ .args.n }} /dev/zero | tr '\\0' x",
}
"""A tool whose result is as long as the model asks for."""


@pytest.fixture
def run(scripted_llm, tmp_path):
    """Run one agent step behind a task that made the files of `data`; keys of agent and step are given as values."""

    def run(*, agent=None, step=None, prepare="true", **options):
        worker = {"name": "worker", "source": {"model": scripted_llm.model}, **(agent or {})}
        make = {"task": "prepare", "outputs": ["data"], "run": prepare}
        work = {"agent": "worker", "inputs": ["data"], **({"prompt": "Go."} if "messages" not in (step or {}) else {})}
        jobs = [{"name": "job", "plan": [make, {**work, **(step or {})}]}]
        pipeline = stepsnb.load(json.dumps({"agents": [worker], "jobs": jobs}))
        return pipeline.run(store=tmp_path / "store", **options)

    return run


@pytest.fixture
def store(tmp_path):
    """Where `run` keeps its records."""
    return tmp_path / "store"


@pytest.fixture
def waits(monkeypatch):
    """Collect the seconds that are waited between attempts, which pass at once."""
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setitem(run_effect.__kwdefaults__, "sleep", sleep)
    return slept


@pytest.fixture
def ends():
    """Return the ends of the tool calls of a run."""
    return lambda run: [event for event in run.events if event.kind == "tool" and event.phase == "end"]
