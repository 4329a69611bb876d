"""Files that cannot be read say why and what to do."""

import re

import pytest

from stepsnb.config import load_file
from stepsnb.errors import ConfigError


def test_missing_file_names_the_nearest_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipeline.yml").touch()

    with pytest.raises(ConfigError) as caught:
        load_file("pipelin.yml")

    assert str(caught.value) == (
        f"pipelin.yml: no such file (did you mean `pipeline.yml`?); check the path, it starts at {tmp_path}"
    )


def test_missing_folder_is_named():
    with pytest.raises(ConfigError, match=r"^nowhere/a\.yml: no folder `nowhere`; check the path$"):
        load_file("nowhere/a.yml")


def test_folder_is_no_file(tmp_path):
    with pytest.raises(ConfigError, match=re.escape(f"{tmp_path}: is a folder; name a file in it")):
        load_file(tmp_path)


def test_path_through_a_file_says_why_it_cannot_be_read(tmp_path):
    (tmp_path / "a").touch()

    with pytest.raises(ConfigError, match=r"a/b\.yml: cannot be read: .*Not a directory.*; check the path"):
        load_file(tmp_path / "a" / "b.yml")


def test_path_with_a_nul_cannot_be_read():
    with pytest.raises(ConfigError, match="cannot be read: embedded null byte; check the path"):
        load_file("a\0b")


def test_file_that_is_not_utf8_has_a_place(tmp_path):
    (tmp_path / "a.yml").write_bytes(b"jobs:\n- name: caf\xe9\n")

    with pytest.raises(ConfigError, match=r"a\.yml:2:12: byte 0xe9 is not UTF-8; save the file as UTF-8"):
        load_file(tmp_path / "a.yml")
