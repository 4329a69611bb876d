"""Script files: what they hold, and every mistake at its place."""

import pytest

from stepsnb.errors import ConfigError, InputError
from stepsnb.llm.transports import script_named
from stepsnb.llm.transports.script import Expectation
from stepsnb.llm.transports.script_file import load_script


def problems(text):
    with pytest.raises(ConfigError) as caught:
        load_script(text, "demo.yml")
    return str(caught.value).splitlines()


def test_every_key_is_read():
    script = load_script(
        """
version: 1
conversations:
- name: first
  when: tides
  replies:
  - text: Hi.
    thinking: hm
    calls:
    - {name: t, arguments: {n: 010, ok: true, word: yes, quoted: "5", none: null, f: 1.5, list: [a, {b: c}]}}
    usage: {input: 1}
    finish_reason: length
    delay_s: 0.5
    expect: {message: [a, b], tools: t}
    check: false
  - error: {status: 429, message: slow, retry_after_s: 3, times: 2}
""",
        "demo.yml",
    )
    (conversation,) = script.conversations
    reply, error = conversation.replies
    assert (conversation.name, conversation.when, reply.text, reply.thinking) == ("first", "tides", "Hi.", "hm")
    assert reply.calls[0].arguments == (
        '{"n":10,"ok":true,"word":"yes","quoted":"5","none":null,"f":1.5,"list":["a",{"b":"c"}]}'
    )
    assert (reply.usage.input_tokens, reply.finish_reason, reply.delay_s, reply.check) == (1, "length", 0.5, False)
    assert reply.expect == Expectation(message=("a", "b"), tools=("t",))
    assert (error.error.status, error.error.message, error.error.retry_after_s, error.error.times) == (
        429,
        "slow",
        3,
        2,
    )


def test_text_that_looks_like_something_else_stays_text():
    (conversation,) = load_script("version: 1\nreplies: [{text: 3.10}, {text: yes}, {text: null}]\n", "s").conversations
    assert [reply.text for reply in conversation.replies] == ["3.10", "yes", "null"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "demo.yml:1:1: is empty; a script has `version: 1` and `replies:`"),
        ("- a\n", "demo.yml:1:1: a script is not a mapping; it has the keys conversations, replies, version"),
        ("replies: [{text: a}]\n", "demo.yml:1:1: has no `version:`; this stepsnb reads `version: 1`"),
        (
            "version: 2\nreplies: [{text: a}]\n",
            "demo.yml:1:10: `version: 2` is not known; this stepsnb reads `version: 1`",
        ),
        (
            "version: 1\n",
            "demo.yml:1:1: has no `replies:` and no `conversations:`; a script needs at least one reply",
        ),
        ("version: 1\nreplies: {text: a}\n", "demo.yml:2:10: `replies` is not a list; begin each entry with `- `"),
        (
            "version: 1\nreplys: []\nreplies: [{text: a}]\n",
            "demo.yml:2:1: a script: unknown key `replys` (did you mean `replies`?); "
            "available: conversations, replies, version",
        ),
        ("version: 1\nreplies: [{}]\n", "demo.yml:2:11: a reply says nothing; give it `text:`, `calls:` or `error:`"),
        ("version: 1\nreplies: [{text: [a]}]\n", "demo.yml:2:18: `text` is not a text"),
        ("version: 1\nreplies: [{text: a, text: b}]\n", "demo.yml:2:21: a reply: `text` is given twice; keep one"),
        (
            "version: 1\nreplies: [{text: a, error: {status: 500}}]\n",
            "demo.yml:2:11: a reply has `error:` beside `text:`; an error comes in place of a reply, so split it",
        ),
        (
            "version: 1\nreplies: [{error: {message: a}}]\n",
            "demo.yml:2:19: an error has no `status:`; give the HTTP status, such as 429",
        ),
        (
            "version: 1\nreplies: [{error: {status: 200}}]\n",
            "demo.yml:2:28: `status` is not a whole number from 400 to 599",
        ),
        (
            "version: 1\nreplies: [{calls: [{arguments: {}}]}]\n",
            "demo.yml:2:20: a call has no `name:`; it is `{name: TOOL, arguments: {…}}`",
        ),
        (
            "version: 1\nreplies: [{text: a, delay_s: soon}]\n",
            "demo.yml:2:30: `delay_s` is not a number from 0 to 3600",
        ),
        ("version: 1\nreplies: [{text: a, check: maybe}]\n", "demo.yml:2:28: `check` is neither true nor false"),
        ("version: 1\nconversations: [{when: a}]\n", "demo.yml:2:17: a conversation has no `replies:`"),
        (
            "version: 1\nreplies: [{text: a, usage: {inputs: 3}}]\n",
            "demo.yml:2:29: `usage`: unknown key `inputs` (did you mean `input`?); "
            "available: cache_write, cached_input, input, output, reasoning",
        ),
    ],
)
def test_mistake_is_told_at_its_place(text, problem):
    assert problems(text) == [problem]


def test_all_mistakes_come_together():
    assert len(problems("version: 3\nreplies: [{txt: a}, {}, {delay_s: -1, text: a}]\n")) == 5


def test_broken_yaml_is_told_at_its_place():
    (problem,) = problems("version: 1\nreplies: [}\n")
    assert problem.startswith("demo.yml:2:11: no YAML: ")


def test_file_is_looked_up_from_the_pipelines_folder(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "a.yml").write_bytes(b"\xef\xbb\xbfversion: 1\nreplies: [{text: a}]\n")
    assert script_named("scripts/a.yml", tmp_path).name == "scripts/a.yml"


def test_file_that_is_not_utf8_is_told(tmp_path):
    (tmp_path / "a.yml").write_bytes(b"version: 1\nreplies: [{text: caf\xe9}]\n")
    with pytest.raises(InputError, match=r"script `a.yml`: is not UTF-8 \(byte 31\); save it as UTF-8"):
        script_named("a.yml", tmp_path)
