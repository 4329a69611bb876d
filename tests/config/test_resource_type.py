"""Resource types, and the resources of one."""

from stepsnb.config import load_text

JOBS = "jobs: [{name: j, plan: [{task: t, run: echo}]}]\n"


def test_programs_stand_in_the_type_or_under_config():
    text = """
resource_types:
- {name: here, check: echo, in: "echo {{ .source.uri }}", out: "echo {{ .params.x | default \\"y\\" }}"}
- name: there
  image: alpine
  env: {A: b}
  defaults: {depth: 3.10, deep: {list: [1, true, ~]}}
  config: {check: "echo {{ index .version \\"ref\\" }}", in: "{{ range .source.items }}{{ .name }}{{ end }}", out: "x"}
- {name: mixed, check: a, config: {in: b}}
"""
    pipeline = load_text(text + JOBS)
    here, there, mixed = pipeline.resource_types

    assert (here.check, here.in_) == ("echo", "echo {{ .source.uri }}")
    assert (there.out, there.image.name, there.env) == ("x", "alpine", {"A": "b"})
    assert there.defaults == {"depth": "3.10", "deep": {"list": ["1", True, None]}}
    assert (mixed.check, mixed.in_, mixed.out) == ("a", "b", None)
    assert pipeline.resource_type("mixed") is mixed
    assert pipeline.resource_type("git") is None


def test_source_keeps_the_text_of_its_values():
    text = (
        "resource_types: [{name: x, check: echo}]\n"
        "resources: [{name: r, type: x, source: {v: 010, f: 'true', n: true}}]\n"
        ""
    )

    assert load_text(text + JOBS).resources[0].source == {"v": "010", "f": "true", "n": True}


def test_built_in_types_have_a_source_of_their_own():
    text = (
        "resources:\n"
        "- {name: g, type: git, source: {uri: u, branch: main}}\n"
        "- {name: p, type: path, source: {path: p}}\n"
        ""
    )
    git, path = load_text(text + JOBS).resources

    assert git.source == {"uri": "u", "branch": "main"}
    assert path.source == {"path": "p", "ignore": ()}


def test_broken_type_is_no_second_problem_of_its_resources(problems):
    text = """resource_types: [{name: x, check: [a], in: b}, {nme: y}]
resources: [{name: r, type: x}, {name: s, type: [x], source: {a: b}}, {name: t}]
jobs: [{name: j, plan: [{get: r}, {get: s}, {put: t}]}]
"""
    assert [line.partition(": ")[0] for line in problems(text)] == ["1:35", "1:49", "2:49", "2:71"]


def test_workspace_is_read():
    pipeline = load_text("workspace: {root: ../w, cache: {max_entries: 9}}\n" + JOBS)
    assert (pipeline.workspace.root, pipeline.workspace.cache.max_entries) == ("../w", 9)


def test_job_says_how_it_runs():
    text = """jobs:
- name: j
  serial: true
  serial_groups: [db]
  max_in_flight: 1
  interruptible: true
  on_error: {task: tell, run: echo}
  plan: [{task: t, run: echo}]
"""
    job = load_text(text).jobs[0]

    assert (job.serial, job.serial_groups, job.max_in_flight, job.interruptible) == (True, ("db",), 1, True)
    assert [hook.name for hook in job.hooks.values()] == ["tell"]
