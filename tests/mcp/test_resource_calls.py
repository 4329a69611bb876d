"""What a tool answered, as the content of a resource."""

import pytest
from mcp_types import CallToolResult

from stepsnb.errors import ResourceError
from stepsnb.mcp.resource_calls import file_name, to_answer
from stepsnb.resources import AnswerFile


def answer(*blocks, **more):
    return to_answer(CallToolResult.model_validate({"content": blocks, **more}))


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("file:///home/ada/notes/tide.md", "tide.md"),
        ("board://notes/7", "7"),
        ("board://greeting", "greeting"),
        ("https://harbour.example/a%20b.txt?x=1#y", "a b.txt"),
        ("file:///a/..%2F..%2Fetc%2Fpasswd", "passwd"),
        ("file:///a/..", "resource-1"),
        ("file:///", "resource-1"),
        ("file:///a\\b", "b"),
        ("http://[", "resource-1"),
        ("file:///" + "x" * 300 + ".md", "x" * 97 + ".md"),
    ],
)
def test_file_is_called_by_the_last_part_of_its_address(address, name):
    assert file_name(address, "resource-1") == name


def test_texts_structure_and_links_are_told_apart():
    link = {"type": "resource_link", "uri": "board://notes/1", "name": "one"}
    found = answer({"type": "text", "text": "a"}, link, {"type": "text", "text": "b"}, structuredContent={"n": 1})

    assert (found.texts, found.structured, found.links) == (("a", "b"), {"n": 1}, ("board://notes/1",))


def test_embedded_content_is_files_by_name_and_kind():
    found = answer(
        {"type": "resource", "resource": {"uri": "file:///a/note.md", "text": "høy"}},
        {"type": "resource", "resource": {"uri": "file:///a/raw.bin", "blob": "AAE="}},
        {"type": "image", "data": "AAE=", "mimeType": "image/svg+xml"},
        {"type": "audio", "data": "AAE=", "mimeType": "audio/x-wav"},
    )

    assert found.files == (
        AnswerFile("note.md", "høy".encode()),
        AnswerFile("raw.bin", b"\0\1"),
        AnswerFile("image-3.svg", b"\0\1"),
        AnswerFile("audio-4.wav", b"\0\1"),
    )


def test_content_that_is_no_base64_is_refused():
    with pytest.raises(ResourceError, match="what the tool answered is no base64"):
        answer({"type": "image", "data": "not base64!", "mimeType": "image/png"})
