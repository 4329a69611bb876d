import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.errors import ResourceError
from stepsnb.resources import resource_scope, show_version, version_key
from stepsnb.resources.versions import parse_published, parse_versions

_versions = st.dictionaries(st.text(), st.text(), min_size=1)


def test_check_output_is_versions_in_their_order() -> None:
    assert parse_versions(b'[{"ref": "a"}, {"ref": "b"}]\n', "check") == [{"ref": "a"}, {"ref": "b"}]


def test_no_versions_are_versions() -> None:
    assert parse_versions(b"[]", "check") == []


def test_version_printed_twice_counts_where_it_came_first() -> None:
    assert parse_versions(b'[{"ref": "a"}, {"ref": "b"}, {"ref": "a"}]', "check") == [{"ref": "a"}, {"ref": "b"}]


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        (b"", "printed nothing"),
        (b"  \n", "printed nothing"),
        (b"v1.2\n", "printed what is no JSON: `v1.2`"),
        (b'{"ref": "a"}', 'printed a map: `{"ref": "a"}`'),
        (b'"a"', 'printed a text: `"a"`'),
        (b"null", "printed null: `null`"),
        (b'["a"]', 'item 0 of what it printed is a text: `["a"]`'),
        (b'[{"ref": "a"}, {"n": 1}]', "item 1 of what it printed has a number as `n`"),
        (b'[{"ref": {"sha": "a"}}]', "item 0 of what it printed has a map as `ref`"),
        (b'[{"ok": true}]', "item 0 of what it printed has true or false as `ok`"),
        (b"[{}]", "item 0 of what it printed is an empty map"),
        (b"[" * 100_000, "printed what is no JSON"),
    ],
)
def test_anything_but_versions_is_quoted(printed: bytes, problem: str) -> None:
    with pytest.raises(ResourceError) as caught:
        parse_versions(printed, "type `t`, `check:`")
    assert str(caught.value).startswith(f"type `t`, `check:`: {problem}")
    assert str(caught.value).endswith(
        'a check prints a JSON array of flat maps of texts, oldest first, as in `[{"ref": "61cbef"}]`'
    )
    assert len(str(caught.value)) < 700
    assert not caught.value.has_failed


def test_output_that_is_no_text_is_quoted_all_the_same() -> None:
    with pytest.raises(ResourceError, match=r"no JSON"):
        parse_versions(b"\xff\x00\xfe", "check")


def test_put_may_print_nothing() -> None:
    assert parse_published(b" \n", "out") is None


def test_put_prints_one_version() -> None:
    assert parse_published(b'{"ref": "a"}', "out") == {"ref": "a"}


@pytest.mark.parametrize("printed", [b'[{"ref": "a"}]', b"done", b"{}", b'{"n": 1}'])
def test_put_that_prints_something_else_is_refused(printed: bytes) -> None:
    with pytest.raises(ResourceError, match=r"an `out` prints nothing, or one version"):
        parse_published(printed, "out")


@given(_versions, st.randoms())
def test_key_of_a_version_does_not_depend_on_the_order_of_its_entries(version: dict[str, str], random) -> None:
    entries = list(version.items())
    random.shuffle(entries)
    assert version_key(dict(entries)) == version_key(version)


@given(_versions, _versions)
def test_keys_are_equal_only_for_equal_versions(one: dict[str, str], other: dict[str, str]) -> None:
    assert (version_key(one) == version_key(other)) == (one == other)


def test_another_source_has_another_history() -> None:
    assert resource_scope("git", {"uri": "a"}) != resource_scope("git", {"uri": "b"})
    assert resource_scope("git", {"uri": "a", "branch": "b"}) == resource_scope("git", {"branch": "b", "uri": "a"})


def test_version_is_shown_bounded() -> None:
    assert show_version({"ref": "a", "branch": "b"}) == "ref=a, branch=b"
    assert len(show_version({"text": "x" * 1000})) < 130
