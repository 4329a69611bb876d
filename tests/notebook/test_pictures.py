"""What `%%agent --image` takes."""

from pathlib import Path

import pytest

from stepsnb.errors import InputError
from stepsnb.notebook.pictures import picture_files

PNG = b"\x89PNG\r\n\x1a\n"


class HasPng:
    """Shows itself as a picture in Jupyter, as figures of many libraries do."""

    def _repr_png_(self) -> bytes:
        return PNG + b"shown"


def test_a_file_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)

    assert picture_files([str(tmp_path / "a.png")], {}, tmp_path) == [tmp_path / "a.png"]


@pytest.mark.parametrize(("value", "raw"), [(PNG, PNG), (HasPng(), PNG + b"shown")], ids=["bytes", "png"])
def test_a_variable_becomes_a_file_of_its_name(tmp_path: Path, value: object, raw: bytes) -> None:
    [file] = picture_files(["plot"], {"plot": value}, tmp_path)

    assert (file.name, file.read_bytes()) == ("plot.png", raw)


def test_a_figure_and_its_axes_are_drawn(tmp_path: Path) -> None:
    figure_module = pytest.importorskip("matplotlib.figure")
    figure = figure_module.Figure()
    axes = figure.subplots()

    files = picture_files(["figure", "axes"], {"figure": figure, "axes": axes}, tmp_path)

    assert [file.read_bytes()[:8] for file in files] == [PNG, PNG]


def test_what_is_no_picture_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`--image rows`: a list is no picture"):
        picture_files(["rows"], {"rows": [1]}, tmp_path)
    with pytest.raises(InputError, match="no such file or Python variable \\(did you mean `rows`"):
        picture_files(["rosw"], {"rows": [1]}, tmp_path)
