"""When a running conversation is summarised, and what is made of a summary that is of no use."""

import asyncio

import pytest

from stepsnb.agent.compaction import Budget, SizeMeter
from stepsnb.agent.compactor import Compactor
from stepsnb.agent.summary import summary_of
from stepsnb.agent.turn import Requester
from stepsnb.effects import RetryPolicy
from stepsnb.llm import Reply
from stepsnb.messages import tool_result, user

from .histories import SYSTEM, call, says

BUDGET = Budget(compact_at=400, keep_tokens=100, window=500, window_source="agent")


class Summarizer:
    """A model that gives the same summary each time; `count` says how often it was asked."""

    def __init__(self, summary):
        self.summary, self.count = summary, 0

    async def complete(self, history, choice=None, listener=None):
        self.count += 1
        return Reply(text=self.summary)

    def drop_cache(self):
        """Keep nothing."""


class Conversation:
    """A conversation that is kept within `BUDGET`."""

    def __init__(self, summary):
        self.events, self.model = [], Summarizer(summary)
        requester = Requester(self.model, "m", self.events.append, RetryPolicy())
        self.compactor = Compactor(requester, BUDGET, self.model, SizeMeter(), on_rewritten=lambda: None)
        self.history = [SYSTEM, user("sort the logs")]
        self.turn = 0

    async def grow(self, tokens):
        self.turn += 1
        made = call(f"c{self.turn}")
        self.history += [says(None, made), tool_result(made, "word" * tokens)]
        await self.compactor.fit(self.history, self.turn)

    @property
    def ends(self):
        return [event for event in self.events if event.kind == "compaction" and event.phase == "end"]


async def test_conversation_over_its_budget_is_summarised():
    conversation = Conversation("two logs are sorted")
    for _ in range(3):
        await conversation.grow(200)
    assert summary_of(conversation.history) == "two logs are sorted"
    assert conversation.ends[0].after < BUDGET.compact_at < conversation.ends[0].before


async def test_summary_longer_than_what_it_stands_for_is_not_taken():
    conversation = Conversation("word" * 3_000)
    for _ in range(3):
        await conversation.grow(200)
    assert summary_of(conversation.history) is None
    assert len(conversation.history) == 8
    assert conversation.ends[0].error == "the summary is no shorter than what it would stand for"


async def test_summary_of_no_use_is_not_asked_for_again_each_turn():
    conversation = Conversation("word" * 3_000)
    for tokens in (350, 200, 5, 5, 5, 5):
        await conversation.grow(tokens)
    assert conversation.model.count == 1


async def test_summary_that_leaves_a_conversation_too_long_is_not_asked_for_again_each_turn():
    conversation = Conversation("word" * 250)
    for tokens in (350, 200, 5, 5, 5, 5):
        await conversation.grow(tokens)
    assert conversation.ends[0].before > conversation.ends[0].after > BUDGET.compact_at
    assert conversation.model.count == 1
    await conversation.grow(100)
    assert conversation.model.count == 2


async def test_summary_that_is_stopped_has_an_end_in_the_record():
    conversation = Conversation("never said")

    async def hang(history, choice=None, listener=None):
        await asyncio.sleep(60)

    conversation.model.complete = hang
    await conversation.grow(350)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await conversation.grow(200)
    assert [end.error for end in conversation.ends] == ["cut off before there was a summary"]
    assert len(conversation.history) == 6
