import io

from inline_snapshot import snapshot

from stepsnb.cli.live import LiveText
from stepsnb.events import Event
from tests.support.recorded import delegation, stamp


def shown(*events: Event) -> str:
    out = io.StringIO()
    live = LiveText(out)
    for event in stamp("R1", events):
        live(event)
    return out.getvalue()


def test_a_sub_agent_is_indented_and_what_went_wrong_is_said():
    assert shown(*delegation()) == snapshot("""\
job `hello`, run R1
▶ agent `write` (agent writer, m/large)
    > Write about tides.
    read_file {"path": "a.md"}: given
    request failed: too many requests
    ↺ the request is tried again in 2 s (2 of 3)
    ▶ sub_agent `summarizer` (agent summarizer, m/small)
        > sum up
        read_file {}, failed:
        ↺ called `read_file` 6 times with the same result; told so
    read_file {"path": "b.md"}: b
        In short.
        ! the reply was cut off by the model's output limit
    ✓ sub_agent `summarizer` succeeded, 0.0 s  <-- truncated
    summarizer {"request": "sum up"}, 2.0 s: In short.
    summarising 100,000 tokens…
    ↺ summarised the conversation: 100,000 → 9,000 tokens
    ! the server read 4,000 of about 9,000 tokens: it cut the conversation without saying so
    ↺ reminded of what it still owes: the file `a.md`
    High tide.
✓ agent `write` succeeded, 0.0 s
    verdict: done
    output: {"tide": "high"}
""")
