"""Images that go with a message: what is sent, what is recorded, and what is refused."""

import base64
from pathlib import Path

import pytest

import stepsnb
from stepsnb.settings import IMAGE_BYTES
from tests.wire.conftest import words

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))
JPEG = b"\xff\xd8\xff\xe0" + bytes(20)
WEBP = b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(10)

_PIPELINE = """
agents:
- {{ name: viewer, source: {{ model: m1, endpoint: "{endpoint}" }}, context_window: 100000 }}
jobs:
- name: look
  plan:
  - agent: viewer
    inputs: [files]
    images: [{images}]
    messages: ["What is this?", "And now?"]
"""


def look(endpoint: str, folder: Path, **files: bytes) -> stepsnb.Run:
    """Run a step that is shown files, each written under its name with a dot for the last underscore."""
    paths = []
    for name, raw in files.items():
        paths.append(folder / name.replace("_", "."))
        paths[-1].write_bytes(raw)
    text = _PIPELINE.format(endpoint=endpoint, images=", ".join(f"files/{path.name}" for path in paths))
    return stepsnb.load(text).run(store=folder / "store", files=paths)


def test_images_go_with_the_first_message_only(wire_server, tmp_path: Path) -> None:
    wire_server.streams(*words("A tide."))
    wire_server.streams(*words("Still."))

    run = look(wire_server.base_url, tmp_path, a_png=PNG, b_jpg=JPEG, c_webp=WEBP)

    assert run.outcome == "succeeded", run.error
    _, first, *rest = wire_server.requests[-1].json()["messages"]
    assert first["content"][0] == {"type": "text", "text": "What is this?"}
    urls = [part["image_url"]["url"] for part in first["content"][1:]]
    assert [url.split(",")[0] for url in urls] == [f"data:image/{kind};base64" for kind in ("png", "jpeg", "webp")]
    assert base64.b64decode(urls[0].split(",")[1]) == PNG
    assert [message["content"] for message in rest] == ["A tide.", "And now?"]


def test_the_record_names_the_images_and_holds_none(wire_server, tmp_path: Path) -> None:
    wire_server.streams(*words("A tide."))
    wire_server.streams(*words("Still."))

    run = look(wire_server.base_url, tmp_path, a_png=PNG)

    [told] = [event for event in run.events if event.kind == "message" and event.images]
    assert told.images == ["a.png (image/png, 48 bytes)"]
    assert "[image a.png (image/png, 48 bytes)]" in run.to_text()
    assert base64.b64encode(PNG) not in b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"<svg></svg>", "images[0]: `files/a.png` is no PNG, JPEG, GIF or WebP image"),
        (b"", "images[0]: `files/a.png` is no PNG, JPEG, GIF or WebP image"),
        (PNG + bytes(IMAGE_BYTES), "images[0]: `files/a.png` has over 5,000,000 bytes; make it smaller"),
    ],
)
def test_what_is_no_image_ends_the_step_before_anything_is_sent(
    wire_server, tmp_path: Path, raw: bytes, says: str
) -> None:
    run = look(wire_server.base_url, tmp_path, a_png=raw)

    assert run.outcome == "errored"
    assert says in (run.error or "")
    assert wire_server.requests == []


def test_another_image_is_other_work(tmp_path: Path, wire_server) -> None:
    text = _PIPELINE.format(endpoint=wire_server.base_url, images="files/a.png")
    (tmp_path / "a.png").write_bytes(PNG)
    pipeline = stepsnb.load(text.replace("inputs: [files]", "inputs: [files]\n    outputs: [o]"))
    for _ in range(2):
        wire_server.streams(*words("A tide."))
    assert pipeline.run(store=tmp_path / "store", files=[tmp_path / "a.png"]).outcome == "succeeded"
    plan = pipeline.plan(store=tmp_path / "store", files=[tmp_path / "a.png"])
    assert list(plan["action"]) == ["reuse"]

    (tmp_path / "a.png").write_bytes(PNG + b"more")

    plan = pipeline.plan(store=tmp_path / "store", files=[tmp_path / "a.png"])
    assert list(plan["action"]) == ["run"]
