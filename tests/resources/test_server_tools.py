"""Resource types made of a server's tools, with a real server."""

import json
import sys
from pathlib import Path

import pytest

from stepsnb.config import McpServer, ResourceTools
from stepsnb.errors import ResourceError
from stepsnb.mcp import McpServers, ResourceCalls
from stepsnb.resources import ServerToolType

BOARD = Path(__file__).parents[1] / "support" / "mcp_board.py"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate(("Ferry at nine", "Pool closed"), 1):
        (folder / str(number)).write_text(text)
    return folder


@pytest.fixture
async def make_type(tmp_path, notes):
    server = McpServer(name="board", command=sys.executable, args=(str(BOARD), str(notes)))
    servers = McpServers([server], tmp_path)
    calls = ResourceCalls(servers)
    yield lambda **tools: ServerToolType("notice", ResourceTools.model_validate({"server": "board", **tools}), calls)
    await servers.close()


@pytest.fixture
def says(make_type):
    """A type whose tools answer `answer`."""

    def says(*content, **more):
        call = {"tool": "say", "args": {"answer": json.dumps({"content": content, **more})}}
        return make_type(check=call, **{"in": call}, out=call)

    return says


def text(value):
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}


def held(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder


async def test_check_goes_on_from_the_version_it_is_told(make_type):
    args = {"after": '{{ index .version "n" | default "" }}'}
    checked = make_type(check={"tool": "list_notes", "args": args})

    assert await checked.check({}, None) == [{"n": "1"}, {"n": "2"}]
    assert await checked.check({}, {"n": "2"}) == [{"n": "2"}]


async def test_list_in_parts_is_a_list(make_type, notes):
    checked = make_type(check={"tool": "list_in_parts"})

    assert await checked.check({}, None) == [{"n": "1"}, {"n": "2"}]
    (notes / "1").unlink()
    assert await checked.check({}, None) == [{"n": "2"}]
    (notes / "2").unlink()
    assert await checked.check({}, None) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"content": [text([{"n": "1"}])]},
        {"content": [], "structuredContent": {"result": [{"n": "1"}]}},
        {"content": [text("see the list")], "structuredContent": {"result": [{"n": "1"}]}},
        {"content": [text('[{"n": "1"}]')], "structuredContent": {"result": '[{"n": "1"}]'}},
    ],
)
async def test_versions_are_read_from_text_or_structure(says, answer):
    content, more = answer["content"], {name: value for name, value in answer.items() if name != "content"}

    assert await says(*content, **more).check({}, None) == [{"n": "1"}]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([text("none yet")], "answered what is no JSON: `none yet`; a check answers with a JSON array"),
        ([text([{"n": 1}])], "item 0 of what it answered has a number as `n`"),
        ([text({"notes": []})], "item 0 of what it answered has an array as `notes`"),
        ([text("7")], "answered a number: `7`"),
        ([text([{"n": "1"}]), text("and more")], "answered what is no JSON"),
    ],
)
async def test_anything_but_versions_is_quoted(says, content, problem):
    with pytest.raises(ResourceError) as caught:
        await says(*content).check({}, None)

    assert f"resource type `notice`, `check:`: {problem}" in str(caught.value)
    assert not caught.value.has_failed


async def test_what_in_answers_becomes_files(says, folder):
    fetched = says(
        text("one"),
        text("two"),
        {"type": "resource", "resource": {"uri": "file:///a/note.md", "text": "three"}},
        {"type": "resource", "resource": {"uri": "file:///b/Note.md", "text": "four"}},
        {"type": "image", "data": "AAE=", "mimeType": "image/png"},
        structuredContent={"n": 1},
    )
    await fetched.fetch({}, {"n": "1"}, {}, folder)

    assert held(folder) == {
        "content.txt": b"one\ntwo",
        "content.json": b'{\n  "n": 1\n}\n',
        "note.md": b"three",
        "Note-2.md": b"four",
        "image-5.png": b"\0\1",
    }


async def test_links_are_followed(says, folder):
    links = [{"type": "resource_link", "uri": f"board://notes/{number}/text.txt", "name": "x"} for number in (2, 1)]
    await says(*links).fetch({}, {"n": "2"}, {}, folder)

    assert held(folder) == {"text.txt": b"Pool closed", "text-2.txt": b"Ferry at nine"}


async def test_link_that_leads_nowhere_is_named(says, folder):
    link = {"type": "resource_link", "uri": "board://nothing", "name": "two"}
    with pytest.raises(ResourceError, match=r"`in:`: MCP server `board`: `board://nothing` cannot be read"):
        await says(link).fetch({}, {"n": "2"}, {}, folder)


async def test_too_many_links_are_refused(says, folder):
    link = {"type": "resource_link", "uri": "board://notes/2/text.txt", "name": "two"}
    with pytest.raises(ResourceError, match=r"answered 1,001 links, of which at most 1,000 are followed"):
        await says(*[link] * 1001).fetch({}, {"n": "2"}, {}, folder)


async def test_out_is_given_its_parameters_and_answers_with_a_version(make_type, notes):
    args = {"text": "{{ .params.text }} {{ .source.sign }}", "labels": "{{ .params.labels | toJson }}"}
    put = make_type(out={"tool": "post_note", "args": args})

    made = await put.publish({"sign": "Kari"}, {"text": "Lost glove", "labels": ["red", "left"]}, notes)

    assert made == {"n": "3"}
    assert (notes / "3").read_text() == "Lost glove Kari red left"


@pytest.mark.parametrize("content", [[text("Posted as 3")], [], [text("7")]])
async def test_out_that_answers_with_words_makes_no_version(says, folder, content):
    assert await says(*content).publish({}, {}, folder) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([text({"n": 3})], "what it answered has a number as `n`"),
        ([text("{torn")], "answered what is no JSON: `{torn`"),
        ([text([{"n": "3"}])], "what it answered is an array"),
    ],
)
async def test_out_that_answers_with_no_version_is_quoted(says, folder, content, problem):
    with pytest.raises(ResourceError) as caught:
        await says(*content).publish({}, {}, folder)

    assert problem in str(caught.value)
    assert "an `out` answers with words, or one version" in str(caught.value)


@pytest.mark.parametrize("verb", ["check", "fetch", "publish"])
async def test_tool_that_says_no_has_failed(says, folder, verb):
    refusing = says(text("the board is locked"), isError=True)
    arguments = {"check": ({}, None), "fetch": ({}, {"n": "1"}, {}, folder), "publish": ({}, {}, folder)}
    with pytest.raises(ResourceError, match="tool `say` of MCP server `board` failed: the board is locked") as caught:
        await getattr(refusing, verb)(*arguments[verb])

    assert caught.value.has_failed


async def test_unknown_tool_is_named_with_those_there_are(make_type):
    with pytest.raises(ResourceError, match=r"unknown tool `list_note` .did you mean `list_notes`"):
        await make_type(check={"tool": "list_note"}).check({}, None)


async def test_unknown_argument_is_named_with_those_there_are(make_type):
    call = {"tool": "list_notes", "args": {"aftr": "1"}}
    with pytest.raises(ResourceError, match=r"tool `list_notes` of MCP server `board`: unknown argument `aftr`"):
        await make_type(check=call).check({}, None)


async def test_more_versions_than_are_read_are_refused(make_type):
    with pytest.raises(ResourceError, match=r"answered 5,\d+,\d+ bytes; at most 4,000,000 are read"):
        await make_type(check={"tool": "flood", "args": {"count": "46000"}}).check({}, None)


async def test_call_that_takes_too_long_has_failed(make_type):
    call = {"tool": "hang", "timeout": 0.5}
    with pytest.raises(ResourceError, match=r"tool `hang` of MCP server `board`: .*0\.5 s") as caught:
        await make_type(check=call).check({}, None)

    assert caught.value.has_failed


async def test_verb_without_a_tool_is_named(make_type, folder):
    with pytest.raises(ResourceError, match=r"resource type `notice` has no `out:`"):
        await make_type(check={"tool": "list_notes"}).publish({}, {}, folder)


async def test_identity_of_content_is_the_tool_its_arguments_and_its_server(make_type):
    def identity(**call):
        return make_type(**{"in": {"tool": "read_note", "args": {"number": "1"}, **call}}).fetch_identity()

    assert identity() == identity(timeout=5.0)
    assert identity() != identity(args={"number": "2"})
    assert identity() != identity(tool="list_notes")
