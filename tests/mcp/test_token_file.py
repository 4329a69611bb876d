"""A login is kept whole, for its user alone, and for one address."""

import asyncio
import time

import pytest

from stepsnb.config import load_text
from stepsnb.errors import InputError
from stepsnb.mcp import TokenFile
from stepsnb.mcp.token_file import Login


@pytest.fixture
def token_file(tmp_path, monkeypatch):
    """Build the file of a server with this `auth:`."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    def build(endpoint="http://127.0.0.1:9/mcp", more=""):
        text = f"""
mcp_servers: [{{name: s, endpoint: '{endpoint}', auth: {{type: oauth{more}}}}}]
jobs: [{{name: j, plan: [{{task: t, run: 'true'}}]}}]
"""
        return TokenFile(load_text(text).mcp_servers[0])

    return build


def login(**fields):
    known = {"endpoint": "http://127.0.0.1:9/mcp", "access_token": "a", "token_endpoint": "t", "client_id": "c"}
    return Login(**{**known, **fields})


def test_what_is_written_is_read(token_file):
    token_file().write(login(refresh_token="r", expires_at=5.0, scope="x y"))
    assert token_file().read() == login(refresh_token="r", expires_at=5.0, scope="x y")
    assert [path.name for path in token_file().path.parent.iterdir()] == [token_file().path.name]


def test_there_is_none_before_a_login_and_after_its_end(token_file):
    assert (token_file().read(), token_file().delete()) == (None, False)
    token_file().write(login())
    assert (token_file().delete(), token_file().read()) == (True, None)


def test_address_client_and_scopes_have_a_file_each(token_file):
    files = [token_file(), token_file("http://127.0.0.1:8/mcp"), token_file(more=", client_id: x")]
    files += [token_file(more=", scopes: [a, b]"), token_file(more=", scopes: [b, a]")]
    assert len({file.path for file in files}) == 4


def test_login_of_another_address_is_none(token_file):
    token_file().write(login(endpoint="http://elsewhere/mcp"))
    assert token_file().read() is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"endpoint": 3}', b"\xff\xfe"])
def test_damage_is_named_with_what_to_do(token_file, content):
    token_file().write(login())
    token_file().path.write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged; delete it and log in again"):
        token_file().read()


def test_folder_that_cannot_be_written_is_named(token_file, tmp_path):
    (tmp_path / "stepsnb").write_text("a file is in the way")
    with pytest.raises(InputError, match="cannot be written"):
        token_file().write(login())


@pytest.mark.parametrize(
    ("expires_at", "has_expired"), [(None, False), (time.time() + 3600, False), (time.time() + 5, True), (0.0, True)]
)
def test_token_that_ends_soon_is_of_no_more_use(expires_at, has_expired):
    assert login(expires_at=expires_at).has_expired is has_expired


async def test_lock_is_had_by_one_at_a_time(token_file):
    token_file().write(login())
    held = []

    async def hold(name):
        async with token_file().locked():
            held.append(f"{name} in")
            await asyncio.sleep(0.05)
            held.append(f"{name} out")

    await asyncio.gather(hold("a"), hold("b"))
    assert held in (["a in", "a out", "b in", "b out"], ["b in", "b out", "a in", "a out"])
