"""`stepsnb validate`."""

from .conftest import HELLO, value_of


def test_valid_pipelines_are_named_with_their_jobs(stepsnb, write):
    result = stepsnb("validate", write("hello.yml", HELLO).name)

    assert (result.returncode, result.stdout) == (0, "hello.yml: valid; jobs: hello\n")


def test_problems_of_every_file_are_reported_together(stepsnb, write):
    write("one.yml", HELLO + "extra: 1\n")
    write("two.yml", HELLO + "other: 1\n")

    result = stepsnb("validate", "one.yml", "two.yml")

    assert result.returncode == 2
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["one.yml", "two.yml"]


def test_json_tells_the_problems_of_each_file(stepsnb, write):
    write("good.yml", HELLO)
    write("bad.yml", HELLO + "extra: 1\n")

    result = stepsnb("validate", "good.yml", "bad.yml", "--json")

    good, bad = value_of(result)["files"]
    assert value_of(result)["valid"] is False
    assert good == {"file": "good.yml", "valid": True, "jobs": ["hello"], "problems": []}
    assert bad["problems"] == result.stderr.splitlines()


def test_nothing_is_run(stepsnb, write, folder):
    stepsnb("validate", write("hello.yml", HELLO).name)

    assert not (folder / ".steps").exists()
