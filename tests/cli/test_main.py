"""The command as a whole."""

import re

import stepsnb as package


def test_version_is_the_packages(stepsnb):
    assert stepsnb("--version").stdout == f"stepsnb {package.__version__}\n"


def test_help_names_every_verb(stepsnb):
    result = stepsnb("--help")

    assert result.returncode == 0
    for verb in ("run", "validate", "test", "runs", "cost", "transcript", "copy", "demo"):
        assert re.search(rf"^    {verb}\s", result.stdout, re.M)


def test_unknown_verb_ends_with_two(stepsnb):
    result = stepsnb("rum")

    assert result.returncode == 2
    assert "rum" in result.stderr


def test_help_is_quick_because_nothing_heavy_is_imported(stepsnb):
    result = stepsnb("--help", env={"PYTHONPROFILEIMPORTTIME": "1"})

    imported = {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}
    assert imported.isdisjoint({"pandas", "duckdb", "openai", "httpx", "pydantic", "IPython"})
