import pytest

from stepsnb.workspace import check_glob, match_glob


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "a.md"),
        ("docs/*.md", "docs/a.md"),
        ("**/*.md", "a.md"),
        ("**/*.md", "docs/deep/a.md"),
        ("**/docs/*.md", "x/docs/a.md"),
        ("**/docs/*.md", "docs/a.md"),
        ("d?cs/[ab].md", "docs/b.md"),
    ],
)
def test_glob_matches(pattern: str, path: str) -> None:
    assert match_glob(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "docs/a.md"),
        ("docs/*", "docs/deep/a.md"),
        ("**/*.md", "a.txt"),
        ("**/docs/*.md", "a.md"),
        ("*.MD", "a.md"),
    ],
)
def test_glob_does_not_match(pattern: str, path: str) -> None:
    assert not match_glob(pattern, path)


@pytest.mark.parametrize("pattern", ["src/**/*.py", "**", "**.md", "**/**/*.md", "docs/**"])
def test_double_star_elsewhere_than_in_front_is_told(pattern: str) -> None:
    assert check_glob(pattern) == f"`**` in `{pattern}` works only as the first part of a glob, as in `**/*.md`"


@pytest.mark.parametrize("pattern", ["", "/"])
def test_empty_glob_is_told(pattern: str) -> None:
    assert check_glob(pattern) == "an empty glob matches nothing; leave it out, or write `**/*`"


@pytest.mark.parametrize("pattern", ["*.md", "**/*.md", "docs/*"])
def test_good_glob_has_no_problem(pattern: str) -> None:
    assert check_glob(pattern) is None
