"""How tests of the loader state a pipeline and what is wrong with it."""

import pytest

from stepsnb.config import load_text
from stepsnb.errors import ConfigError


@pytest.fixture
def problems():
    """Return the lines of the error a text has, without the name of the file."""

    def problems(text, **options):
        with pytest.raises(ConfigError) as caught:
            load_text(text, file="p.yml", **options)
        return [line.removeprefix("p.yml:") for line in str(caught.value).splitlines()]

    return problems


@pytest.fixture
def load_task():
    """Load a pipeline of one task with more keys, given as YAML lines, and return the task."""

    def load_task(keys="", **options):
        text = "jobs:\n- name: build\n  plan:\n  - task: make\n    run: echo hi\n"
        text += "".join(f"    {line}\n" for line in keys.split("\n"))
        return load_text(text, **options).jobs[0].plan[0]

    return load_task


@pytest.fixture
def load_agent():
    """Load a pipeline of one agent step; both take more keys as YAML lines. Return the agent and the step.

    `others` are lines of further agents.
    """

    def load_agent(agent="", step="prompt: Go.", others="", **options):
        text = "agents:\n- name: writer\n  source: {model: local/smollm2}\n"
        text += "".join(f"  {line}\n" for line in agent.split("\n")) + others
        text += "jobs:\n- name: build\n  plan:\n  - agent: writer\n"
        text += "".join(f"    {line}\n" for line in step.split("\n"))
        pipeline = load_text(text, **options)
        return pipeline.agents[0], pipeline.jobs[0].plan[0]

    return load_agent


@pytest.fixture
def load_plan():
    """Load a pipeline of one job, its plan given as YAML; `sections` are the sections before the jobs."""

    def load_plan(plan, sections="", **options):
        lines = "".join(f"  {line}\n" for line in plan.strip("\n").split("\n"))
        return load_text(f"{sections}\njobs:\n- name: build\n  plan:\n{lines}", file="p.yml", **options)

    return load_plan
