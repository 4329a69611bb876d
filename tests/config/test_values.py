"""Values of variables from a file."""

import pytest

from stepsnb.config import load_mapping
from stepsnb.errors import ConfigError


def test_file_of_values_keeps_source_text(tmp_path):
    path = tmp_path / "vars.yml"
    path.write_text("version: 3.10\nnone: ~\nnested: {a: [yes, '']}\n", "utf-8")

    assert load_mapping(path) == {"version": "3.10", "none": None, "nested": {"a": ["yes", ""]}}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("- a", "v.yml:1:1: must be a mapping of names to values, not a list; write `name: value` lines"),
        ("a: 1\na: 2", "v.yml:2:1: duplicate key `a`, on lines 1 and 2; keep one of them"),
        (
            "a: ((b))",
            "v.yml:1:4: `((b))` has no value; set it with `--var b=…`, `--use b` in a notebook, or `vars=` in Python",
        ),
    ],
)
def test_file_of_values_says_what_is_wrong(tmp_path, monkeypatch, text, error):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.yml").write_text(text, "utf-8")

    with pytest.raises(ConfigError) as caught:
        load_mapping("v.yml")

    assert str(caught.value) == error
