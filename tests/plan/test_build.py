"""Planning is a function of the pipeline."""

import pytest

from stepsnb.config import load_text
from stepsnb.errors import InputError
from stepsnb.plan import build_plan

TEXT = """
jobs:
- name: build
  plan:
  - {task: tick, run: echo}
  - {task: tick, run: echo again}
- {name: test, plan: [{task: check, run: echo}]}
"""


def test_steps_are_numbered_in_order():
    pipeline = load_text(TEXT)

    plan = build_plan(pipeline, "build")

    assert plan.job is pipeline.jobs[0]
    assert [(node.index, node.path, node.name, node.kind, node.step) for node in plan.steps] == [
        (i, str(i), "tick", "task", step) for i, step in enumerate(pipeline.jobs[0].plan)
    ]


def test_job_must_be_told_when_there_are_several():
    with pytest.raises(InputError, match="has 2 jobs, so name one: build, test"):
        build_plan(load_text(TEXT))
