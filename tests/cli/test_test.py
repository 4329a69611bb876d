"""`stepsnb test`."""

from .conftest import FAILING, HELLO, value_of

TWO = """\
jobs:
- name: first
  plan:
  - task: greet
    run: echo one
    assert: { stdout: one }
- name: second
  plan:
  - task: greet
    run: echo two
    assert: { stdout: one }
"""


def test_every_job_runs_in_order_and_is_judged(stepsnb, write):
    result = stepsnb("test", write("two.yml", TWO).name)

    assert result.returncode == 1
    assert result.stdout.splitlines()[-2:] == ["pass  two.yml  first", "FAIL  two.yml  second"]
    assert "assert.stdout" in result.stderr


def test_all_asserts_hold_ends_with_zero(stepsnb, write):
    result = stepsnb("test", write("hello.yml", HELLO).name)

    assert result.returncode == 0


def test_job_that_is_meant_to_fail_passes(stepsnb, write):
    text = FAILING + "  assert: { outcome: failed }\n"

    result = stepsnb("test", write("broken.yml", text).name)

    assert result.returncode == 0


def test_nothing_is_left_in_the_folder(stepsnb, write, folder):
    stepsnb("test", write("hello.yml", HELLO).name)

    assert [path.name for path in folder.iterdir()] == ["hello.yml"]


def test_pipeline_says_which_jobs_run(stepsnb, write):
    wrong = write("wrong.yml", TWO.replace("echo two", "echo one") + "assert: { execution: [second, first] }\n")

    result = stepsnb("test", wrong.name)

    assert result.returncode == 1
    assert "wrong.yml: assert.execution: expected second, first; ran first, second" in result.stderr


def test_pipeline_whose_jobs_run_as_it_says_passes(stepsnb, write):
    right = write("right.yml", TWO.replace("echo two", "echo one") + "assert: { execution: [first, second] }\n")

    assert stepsnb("test", right.name).returncode == 0


def test_json_has_one_row_a_job(stepsnb, write):
    result = stepsnb("test", write("two.yml", TWO).name, "--json")

    value = value_of(result)
    assert value["passed"] is False
    assert [(row["job"], row["outcome"]) for row in value["jobs"]] == [("first", "succeeded"), ("second", "failed")]


def test_nobody_is_asked(stepsnb, asking):
    assert stepsnb("test", asking().name).returncode == 130
    assert stepsnb("test", asking().name, "--answer", "port=Bergen").returncode == 0


COUNTS = """\
resource_types:
- { name: counter, check: 'printf "[{\\"n\\": \\"1\\"}, {\\"n\\": \\"2\\"}]"', in: "echo {{ .version.n }} > n" }
resources:
- { name: ticks, type: counter }
jobs:
- name: first
  plan:
  - { get: ticks, version: every }
- name: second
  plan:
  - { get: ticks, passed: [first], version: every }
  - { task: read, inputs: [ticks], run: cat ticks/n, assert: { stdout: "2" } }
"""


def test_versions_pass_from_job_to_job(stepsnb, write):
    result = stepsnb("test", write("counts.yml", COUNTS).name)

    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-2:] == ["pass  counts.yml  first", "pass  counts.yml  second"]
