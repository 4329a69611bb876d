"""What a person reads when a model request fails, and what a retry may rely on."""

import asyncio
import email.utils
import socket
import time

import pytest

from stepsnb.llm import ModelClient, RequestFailed
from stepsnb.llm.failures import plain, read_retry_after
from stepsnb.messages import user

from .conftest import build_target

HI = [user("hi")]


async def fail(chat):
    with pytest.raises(RequestFailed) as caught:
        await chat.complete(HI)
    return caught.value


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


async def test_refused_key_names_its_variable_and_never_the_key(wire_server, open_chat, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-very-secret")
    wire_server.says(401, {"error": {"message": "Incorrect API key sk-or-very-secret provided", "code": 401}})
    chat = open_chat(provider="openrouter", api_key_env="OPENROUTER_API_KEY")
    error = await fail(chat)
    assert str(error) == (
        "provider `openrouter`: key refused (401); check OPENROUTER_API_KEY in the environment this kernel started with"
        ": Incorrect API key [key] provided"
    )
    assert (error.status, error.retryable) == (401, False)
    assert "very-secret" not in repr(error) + repr(chat.__dict__)


async def test_server_that_wants_a_key_says_how_to_give_one(wire_server, open_chat):
    wire_server.says(401, b"")
    assert "a key is wanted (401); name the variable that holds it with `source.api_key_env`" in str(
        await fail(open_chat())
    )


@pytest.mark.parametrize(
    ("status", "retryable", "words"),
    [
        (400, False, "request refused (400)"),
        (402, False, "payment wanted (402); add credit, or use another model"),
        (404, False, "model `m1` or the address"),
        (408, True, "request refused (408)"),
        (409, True, "request refused (409)"),
        (413, False, "the request is too large (413)"),
        (422, False, "request refused (422)"),
        (429, True, "asked to slow down (429)"),
        (500, True, "failed (500)"),
        (503, True, "failed (503)"),
    ],
)
async def test_status_says_what_happened_and_whether_to_try_again(wire_server, open_chat, status, retryable, words):
    wire_server.says(status, {"error": {"message": "because"}})
    error = await fail(open_chat())
    assert words in str(error)
    assert str(error).endswith(": because")
    assert (error.status, error.retryable) == (status, retryable)


async def test_retry_after_in_seconds_is_kept(wire_server, open_chat):
    wire_server.says(429, {}, retry_after="7")
    assert (await fail(open_chat())).retry_after_s == 7.0


def test_retry_after_below_zero_is_no_wait():
    assert read_retry_after({"retry-after": "-5"}) == 0.0


def test_retry_after_as_a_date_is_the_seconds_until_then():
    then = email.utils.formatdate(time.time() + 90, usegmt=True)
    assert 85 < read_retry_after({"retry-after": then}) <= 90
    assert read_retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


@pytest.mark.parametrize(
    "value",
    ["", "soon", "-1 day", "nan", "Wed, 21 Oct 2999999999999 07:28:00 GMT", "Wed, 21 Oct 2015 07:28 +99999999999"],
)
def test_retry_after_that_says_nothing_is_none(value):
    assert read_retry_after({"retry-after": value}) is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "b"}, "b"),
        ({"message": "c"}, "c"),
        ({"detail": "d"}, "d"),
        ({"error": {"message": "failed upstream", "metadata": {"raw": "too long"}}}, "failed upstream: too long"),
        ({"odd": 1}, '{"odd":1}'),
        (b"plain words", "plain words"),
    ],
)
async def test_providers_own_words_are_found_in_any_shape(wire_server, open_chat, body, said):
    wire_server.says(400, body)
    assert str(await fail(open_chat())).endswith(f"request refused (400): {said}")


async def test_web_page_as_an_error_is_not_quoted(wire_server, open_chat):
    wire_server.says(502, b"<html><h1>Bad gateway</h1>")
    assert str(await fail(open_chat())).endswith("failed (502)")


async def test_foreign_words_are_bounded_and_hold_no_control_characters(wire_server, open_chat):
    wire_server.says(400, {"error": {"message": "a\x1b[31m\x07\n\u202eb" + "x" * 5000}})
    message = str(await fail(open_chat()))
    assert "a [31m b" in message
    assert len(message) < 800
    assert message.endswith("…")
    assert not any(ord(character) < 32 for character in message)


async def test_redirect_says_where_to(wire_server, open_chat):
    wire_server.says(301, b"", location="https://elsewhere.example/v1")
    assert "redirected (301) to https://elsewhere.example/v1; set `source.endpoint`" in str(await fail(open_chat()))


async def test_nobody_there_says_how_to_start_it():
    url = f"http://127.0.0.1:{closed_port()}/v1"
    error = await fail(ModelClient(build_target(url, provider="ollama")).open([]))
    assert str(error) == (
        f"provider `ollama`: nothing answers at {url} (connection refused); "
        "start it (`ollama serve`), or set `source.endpoint`"
    )
    assert (error.status, error.retryable) == (None, True)


async def test_unknown_host_is_told_from_a_closed_port(monkeypatch):
    async def no_such_host(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", no_such_host)
    error = await fail(ModelClient(build_target("http://models.invalid/v1")).open([]))
    assert "nothing answers at http://models.invalid/v1 (no such host); check that the server runs" in str(error)


async def test_silent_server_ends_in_time(wire_server, open_chat, monkeypatch):
    timeouts = {"timeout": {"connect": 1.0, "read": 0.05, "write": 1.0, "pool": None}}
    monkeypatch.setattr("stepsnb.llm.connection._TIMEOUTS", timeouts)
    wire_server.answers(30.0)
    error = await fail(open_chat())
    assert "no answer for 540 s" in str(error)
    assert error.retryable


async def test_address_in_a_message_has_no_password(wire_server):
    url = f"http://me:hunter2@127.0.0.1:{closed_port()}/v1"
    assert "hunter2" not in str(await fail(ModelClient(build_target(url)).open([])))


def test_plain_text_is_one_line():
    assert plain(" a\n\n b\t", build_target()) == "a b"


async def test_error_body_nested_beyond_reading_is_told_as_text(wire_server, open_chat):
    wire_server.says(400, b'{"error":' * 100_000)
    error = await fail(open_chat())
    assert "request refused (400)" in str(error)
    assert error.status == 400


async def test_reply_without_an_end_is_broken_off(wire_server, open_chat, monkeypatch):
    monkeypatch.setattr("stepsnb.llm.connection.LLM_REPLY_BYTES", 10_000)
    wire_server.streams(b"data: " + b"x" * 20_000)
    error = await fail(open_chat())
    assert str(error).endswith("the reply is larger than 64 MB; ask for less, or look at the server")
    assert not error.retryable
