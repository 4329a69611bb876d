"""The package as a whole: its layout, what it depends on, what it offers, how light it is to import."""

import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import stepsnb

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LAYOUT = [".ci/run", "CHANGELOG.md", "LICENSE", "README.md", "binder", "docs", "notebooks", "pyproject.toml", "tests"]
HEAVY = ["IPython", "duckdb", "httpx", "openai", "pandas", "pydantic", "yaml"]


def requirement_names(requirements):
    return {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}


@pytest.mark.parametrize("name", LAYOUT)
def test_layout_has(name):
    assert (TOP / name).exists()


def test_ten_named_packages_are_required():
    core = {"ipykernel", "ipywidgets", "nest-asyncio", "pydantic", "httpx", "openai", "duckdb", "pandas", "pyyaml"}
    assert core <= requirement_names(PROJECT["dependencies"])
    assert "nbval" in requirement_names(PROJECT["optional-dependencies"]["test"])


def test_version_is_the_projects():
    assert stepsnb.__version__ == PROJECT["version"]


def test_import_is_light():
    code = f"import sys, stepsnb; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_everything_offered_is_there_and_sorted():
    assert stepsnb.__all__ == sorted(stepsnb.__all__)
    for name in stepsnb.__all__:
        assert getattr(stepsnb, name) is not None
    assert set(stepsnb.__all__) <= set(dir(stepsnb))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module `stepsnb` has no attribute `nonsense`"):
        stepsnb.nonsense  # noqa: B018 - looking it up is the test


@pytest.mark.parametrize(
    "name", [m.name for m in pkgutil.iter_modules(stepsnb.__path__, "stepsnb.") if m.ispkg and m.name != "stepsnb.cli"]
)
def test_what_a_package_names_as_its_offer_is_there(name):
    package = importlib.import_module(name)
    assert len(set(package.__all__)) == len(package.__all__) > 0
    assert [offered for offered in package.__all__ if not hasattr(package, offered)] == []
