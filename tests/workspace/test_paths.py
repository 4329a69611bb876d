import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepsnb.errors import WorkspaceError
from stepsnb.workspace import PathEscape, Root


@pytest.fixture(params=["plainly", "through a link"])
def ws(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of H09: `app` with links in it, and a secret beside it."""
    home = tmp_path / "ws"
    (home / "app" / "real-docs").mkdir(parents=True)
    (home / "app-old").mkdir()
    (home / "app-old" / "key.txt").write_text("KEY")
    (home / "app" / "real-docs" / "a.md").write_text("doc a")
    (home / "app" / "up").symlink_to("../app-old")
    (home / "app" / "gone").symlink_to("../app-old/new.txt")
    (home / "app" / "docs").symlink_to("./real-docs")
    if request.param == "plainly":
        return home
    (tmp_path / "link").symlink_to(home)
    return tmp_path / "link"


ESCAPES = ["../app-old/key.txt", "up/key.txt", "up/x.txt", "gone", "up", "..", "docs/../../app-old/key.txt", "~", "~/x"]


@pytest.mark.parametrize("path", ESCAPES)
def test_path_that_leads_out_is_refused(ws: Path, path: str) -> None:
    with pytest.raises(PathEscape, match="is outside the working directory; use a relative path inside it"):
        Root(ws / "app").resolve(path)


def test_absolute_path_outside_is_refused(ws: Path) -> None:
    with pytest.raises(PathEscape, match="outside the working directory"):
        Root(ws / "app").resolve(str(ws / "app-old" / "key.txt"))


def test_absolute_path_inside_is_the_file_it_names(ws: Path) -> None:
    root = Root(ws / "app")
    assert root.resolve(str(ws / "app" / "real-docs" / "a.md")) == root.path / "real-docs" / "a.md"


def test_backslashes_are_refused(ws: Path) -> None:
    with pytest.raises(PathEscape, match="has a backslash; separate folders with `/`"):
        Root(ws / "app").resolve("..\\app-old\\key.txt")


def test_nul_is_refused(ws: Path) -> None:
    with pytest.raises(PathEscape, match=r"`a\?b` holds a NUL character"):
        Root(ws / "app").resolve("a\0b")


def test_lone_surrogate_is_refused(ws: Path) -> None:
    with pytest.raises(PathEscape, match="half of a surrogate pair"):
        Root(ws / "app").resolve("a\ud800b")


@pytest.mark.parametrize("path", ["docs/a.md", "./docs/../docs/a.md", "real-docs//a.md"])
def test_path_that_stays_inside_reads(ws: Path, path: str) -> None:
    with Root(ws / "app").open_read(path) as file:
        assert file.read() == b"doc a"


@pytest.mark.parametrize("path", ["up/x.txt", "gone", "../new.txt"])
def test_refused_write_creates_nothing(ws: Path, path: str) -> None:
    before = sorted(ws.rglob("*"))
    with pytest.raises(PathEscape):
        Root(ws / "app").open_write(path)
    assert sorted(ws.rglob("*")) == before


def test_write_through_an_inner_link_reaches_its_target(ws: Path) -> None:
    with Root(ws / "app").open_write("docs/b.md") as file:
        file.write(b"doc b")
    assert (ws / "app" / "real-docs" / "b.md").read_text() == "doc b"


def test_write_empties_the_file_first(ws: Path) -> None:
    with Root(ws / "app").open_write("docs/a.md") as file:
        file.write(b"x")
    assert (ws / "app" / "docs" / "a.md").read_text() == "x"


def test_append_keeps_what_is_there(ws: Path) -> None:
    with Root(ws / "app").open_write("docs/a.md", append=True) as file:
        file.write(b"!")
    assert (ws / "app" / "docs" / "a.md").read_text() == "doc a!"


class Swapping(Root):
    """A root whose checked path is swapped for a link between the check and the opening."""

    def __init__(self, path: Path, swapped: str, target: Path) -> None:
        super().__init__(path)
        self.swapped, self.target = swapped, target

    def resolve(self, relative: str) -> Path:
        found = super().resolve(relative)
        place = self.path / self.swapped
        if place.is_dir():
            place.rename(self.path / "away")
        place.symlink_to(self.target)
        return found


def test_link_put_in_place_of_a_checked_folder_is_not_followed(ws: Path) -> None:
    (ws / "app" / "notes").mkdir()
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        Swapping(ws / "app", "notes", ws / "app-old").open_write("notes/key.txt")
    assert (ws / "app-old" / "key.txt").read_text() == "KEY"


def test_link_put_in_place_of_a_checked_file_is_not_followed(ws: Path) -> None:
    with pytest.raises((OSError, WorkspaceError)):
        Swapping(ws / "app", "fresh.txt", ws / "app-old" / "key.txt").open_write("fresh.txt")
    assert (ws / "app-old" / "key.txt").read_text() == "KEY"


@pytest.mark.parametrize("mode", ["open_read", "open_write"])
def test_named_pipe_is_refused_without_waiting(ws: Path, mode: str) -> None:
    os.mkfifo(ws / "app" / "pipe")
    with pytest.raises(WorkspaceError, match="`pipe` is a named pipe, not a file"):
        getattr(Root(ws / "app"), mode)("pipe")


@pytest.mark.parametrize("mode", ["open_read", "open_write"])
@pytest.mark.parametrize("path", ["docs", ".", ""])
def test_folder_is_not_opened_as_a_file(ws: Path, mode: str, path: str) -> None:
    with pytest.raises(IsADirectoryError):
        getattr(Root(ws / "app"), mode)(path)


def test_missing_file_is_not_found(ws: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Root(ws / "app").open_read("nope.txt")


def test_relative_names_a_path_from_the_root(ws: Path) -> None:
    root = Root(ws / "app")
    assert root.relative(root.resolve("./docs/a.md")) == "real-docs/a.md"


PARTS = st.sampled_from(["..", ".", "", "up", "gone", "docs", "real-docs", "a.md", "~", "\\", "\0", "app-old", "/"])
PATHS = st.one_of(
    st.text(max_size=40), st.lists(PARTS, max_size=8).map("/".join), st.lists(PARTS, max_size=5).map("".join)
)


@given(path=PATHS)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_ever_leaves_the_root(ws: Path, path: str) -> None:
    root = Root(ws / "app")
    try:
        found = root.resolve(path)
    except PathEscape:
        return
    assert Path(os.path.realpath(found)).is_relative_to(root.path)
