"""A step that a route leads back to is done again."""

import stepsnb


def test_a_step_is_done_again_when_a_route_leads_back_and_reused_by_the_next_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = """
jobs:
- name: j
  plan:
  - {task: draft, run: "echo . >> COUNT; cp COUNT out/a", outputs: [out]}
  - {task: check, run: "test $(wc -l < out/a) -ge 3", inputs: [out], to: {failure: draft}, max_visits: 5}
  - {task: end, run: wc -l < out/a, inputs: [out]}
""".replace("COUNT", str(tmp_path / "count"))
    pipeline = stepsnb.load(text)

    first, second = pipeline.run(), pipeline.run()

    told = [[(step.name, str(step.outcome)) for step in run.steps] for run in (first, second)]
    assert told == [
        [
            *[("draft", "succeeded"), ("check", "failed")] * 2,
            ("draft", "succeeded"),
            ("check", "succeeded"),
            ("end", "succeeded"),
        ],
        [("draft", "reused"), ("check", "succeeded"), ("end", "succeeded")],
    ]
