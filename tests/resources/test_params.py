from pathlib import Path

import pytest

from stepsnb.errors import ResourceError
from stepsnb.resources import read_params
from stepsnb.workspace import Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "title.txt").write_text("It's done\n")
    return Root(tmp_path)


def test_file_becomes_its_text(root: Root) -> None:
    params = {"title": {"file": "notes/title.txt"}, "draft": False}
    assert read_params(params, root, where="put `pr`") == {"title": "It's done\n", "draft": False}


def test_file_is_read_however_deep_it_stands(root: Root) -> None:
    params = {"body": {"parts": ["a", {"file": "notes/title.txt"}]}}
    assert read_params(params, root, where="put `pr`") == {"body": {"parts": ["a", "It's done\n"]}}


@pytest.mark.parametrize("value", [{"file": "notes/title.txt", "mode": "raw"}, {"file": 1}, {"files": "notes"}, "file"])
def test_value_that_is_no_one_key_file_stays_as_it_is(root: Root, value: object) -> None:
    assert read_params({"x": value}, root, where="put `pr`") == {"x": value}


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("notes/nope.txt", "there is no file `notes/nope.txt` in the step's inputs"),
        ("../secret", "is outside the working directory"),
        ("notes", "cannot read `notes`: is a directory"),
        ("notes/link", "is outside the working directory"),
    ],
)
def test_file_that_cannot_be_read_is_named_with_its_place(root: Root, path: str, problem: str) -> None:
    (root.path / "notes" / "link").symlink_to("/etc/passwd")
    with pytest.raises(ResourceError) as caught:
        read_params({"title": {"file": path}}, root, where="put `pr`")
    assert str(caught.value).startswith("put `pr`: `params.title`: ")
    assert problem in str(caught.value)


def test_place_of_a_nested_file_is_named(root: Root) -> None:
    with pytest.raises(ResourceError, match=r"put `pr`: `params\.body\.parts\[1\]`: there is no file"):
        read_params({"body": {"parts": ["a", {"file": "nope"}]}}, root, where="put `pr`")


def test_file_that_is_too_large_or_no_text_is_refused(root: Root) -> None:
    (root.path / "notes" / "large").write_bytes(b"x" * 1_048_577)
    (root.path / "notes" / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ResourceError, match="over 1,048,576 bytes"):
        read_params({"x": {"file": "notes/large"}}, root, where="put `pr`")
    with pytest.raises(ResourceError, match="no UTF-8 text"):
        read_params({"x": {"file": "notes/binary"}}, root, where="put `pr`")
