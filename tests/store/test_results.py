"""Tables that are read in SQL only."""

import pytest

import stepsnb

PIPELINE = """
resource_types:
- {name: own, check: 'echo ''[{"n":"1"},{"n":"2"}]''', in: "echo {{ .version.n }} > n", out: 'echo ''{"n":"7"}'''}
resources: [{name: code, type: own}]
jobs:
- name: build
  plan:
  - {get: code}
  - {task: make, inputs: [code], outputs: [out], run: cp code/n out/n}
  - {approval: {message: Ship it?}}
  - {put: code, inputs: [out]}
"""


def rows(query):
    return stepsnb.sql(query).to_dict("records")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return stepsnb.load(PIPELINE).run(answers=["approve"])


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (
            "approvals",
            "id run_id step_id agent question options options_required default asked_at expires_at answered_at answer "
            "source answered_by seq",
        ),
        ("versions", "resource version check_order from_check pipeline first_at runs"),
        ("step_cache", "hash inputs_digest artifact digest bytes run_id"),
    ],
)
def test_columns_are_there_in_an_empty_store_and_in_information_schema(tmp_path, monkeypatch, table, columns):
    monkeypatch.chdir(tmp_path)
    named = f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' ORDER BY ordinal_position"

    assert list(stepsnb.sql(f"FROM {table}").columns) == columns.split()
    assert [row["column_name"] for row in rows(named)] == columns.split()


def test_approval_has_its_answer_and_is_no_question_of_an_agent(run):
    (row,) = rows("FROM approvals")

    assert (row["run_id"], row["question"], row["answer"], row["source"]) == (
        run.run_id,
        "Ship it?",
        "approve",
        "given",
    )


def test_versions_are_those_runs_fetched_and_made(run):
    found = rows("SELECT resource, version ->> 'n' AS n, check_order, from_check, runs FROM versions ORDER BY n")

    assert found == [
        {"resource": "code", "n": "2", "check_order": 2, "from_check": True, "runs": 1},
        {"resource": "code", "n": "7", "check_order": 0, "from_check": False, "runs": 1},
    ]


def test_result_is_in_the_step_cache_as_long_as_its_artifact_is_there(run, tmp_path):
    (row,) = rows("FROM Step_Cache")
    assert (row["artifact"], row["bytes"], row["run_id"]) == ("out", 2, run.run_id)

    (tmp_path / ".steps/artifacts" / row["digest"]).rename(tmp_path / "gone")
    assert rows("FROM step_cache") == []


def test_result_that_cannot_be_read_is_left_out(run, tmp_path):
    (file,) = (tmp_path / ".steps/cache/steps").glob("*.json")
    file.write_text("{}")

    assert rows("FROM step_cache") == []
