"""Every pipeline of the corpus loads, or fails with exactly the errors it states on its `# expect:` lines."""

import shlex
from pathlib import Path

import pytest

from stepsnb.config import load_file, load_mapping
from stepsnb.errors import ConfigError

HERE = Path(__file__).parent
VALID = sorted((HERE / "valid").glob("*.yml"))
INVALID = sorted((HERE / "invalid").glob("*.yml"))


def expected_errors(path):
    """The file's `# expect: [line:column:] message` lines as the loader puts them, with the file's name in front.

    A line about an included file names that itself: `# expect: included/FILE:line:column: message`.
    """
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    stated = [line.removeprefix("# expect: ") for line in lines if line.startswith("# expect: ")]
    return [f"{path.parent}/{line}" if line.startswith("included/") else f"{path}:{line}" for line in stated]


def variables_of(path):
    """Return the values that the file's `# with: --var NAME=VALUE --vars-file FILE` lines give."""
    given = {}
    for line in path.read_text("utf-8").splitlines():
        words = iter(shlex.split(line.removeprefix("# with: ")) if line.startswith("# with: ") else ())
        for word in words:
            if word == "--var":
                name, _, value = next(words).partition("=")
                given[name] = value
            elif word == "--vars-file":
                given |= load_mapping(path.parent / next(words))
    return given


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_pipeline_loads(path):
    pipeline = load_file(path, variables=variables_of(path))

    assert pipeline.base_dir == path.parent
    assert pipeline.source_text == path.read_text("utf-8")


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_invalid_pipeline_states_its_errors(path):
    expected = expected_errors(path)
    assert expected

    with pytest.raises(ConfigError) as caught:
        load_file(path)

    assert str(caught.value).splitlines() == expected


def test_every_valid_pipeline_asserts_something_about_each_job():
    unasserted = [
        (path.name, job.name)
        for path in VALID
        for job in load_file(path, variables=variables_of(path)).jobs
        if job.assert_ is None
    ]

    assert unasserted == []
