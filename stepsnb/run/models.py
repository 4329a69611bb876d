"""The models one agent step needs: its own, and those of the agents it may call, all ready before the first request."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import WeakValueDictionary

from ..config import Agent, Pipeline, Source
from ..config.delegation import called_by
from ..effects import Slots
from ..llm import Cassette, ModelClient, Target, find_client, resolve_target
from ..settings import SECRET_CHARACTERS


def resolve_agent(
    pipeline: Pipeline, agent: Agent, run_id: str = "", *, source: Source | None = None, is_replay: bool = False
) -> Target:
    """Find where an agent's requests go in a run, or would go with another source; in a replay they go nowhere.

    Raises: InputError when its key or provider is missing.
    """
    return resolve_target(
        source or agent.source,
        agent=agent,
        prices=pipeline.prices,
        default_model=pipeline.defaults.model,
        base_dir=pipeline.base_dir,
        run_id=run_id,
        asks_server=pipeline.preflight(agent) is not None and not is_replay,
        needs_key=not is_replay,
    )


def agents_within(pipeline: Pipeline, agent: Agent) -> Iterator[Agent]:
    """Give an agent and every one it may call, directly or through others, each once."""
    waiting, seen = [agent], set[str]()
    while waiting:
        found = waiting.pop()
        if found.name in seen:
            continue
        seen.add(found.name)
        yield found
        called = (called_by(grant) for grant in found.tools or ())
        waiting += [pipeline.agent(name) for name in called if name is not None]


class Models:
    """One client for each agent of a step; close it with the step."""

    def __init__(
        self,
        pipeline: Pipeline,
        agent: Agent,
        objects: Mapping[str, Any],
        *,
        run_id: str,
        cassette: Cassette | None = None,
    ) -> None:
        """Resolve the agent's model and those of its sub-agents; `objects` are the notebook's by name.

        Raises: InputError for a missing key, an unknown provider, or a `source.client` that is none.
        """
        self._clients: dict[str, ModelClient] = {}
        self._fallback: dict[str, list[ModelClient]] = {}
        self._cassette = cassette
        is_replay = cassette is not None and cassette.is_replay
        self.secrets: list[str] = []
        """Keys of clients that the user brought along, which are in no variable of the environment."""
        for found in agents_within(pipeline, agent):
            sources = (found.source, *(each.source for each in found.fallback))
            targets = [resolve_agent(pipeline, found, run_id, source=each, is_replay=is_replay) for each in sources]
            first, *others = (self._client(target, objects) for target in targets)
            self._clients[found.name], self._fallback[found.name] = first, others
        self._rooms: dict[str, Slots] = {}

    def _client(self, target: Target, objects: Mapping[str, Any]) -> ModelClient:
        client = None if target.client is None else find_client(target.client, objects)
        key = getattr(client, "api_key", None)
        if isinstance(key, str) and len(key) >= SECRET_CHARACTERS:
            self.secrets.append(key)
        return ModelClient(target, client=client, cassette=self._cassette)

    def of(self, agent: Agent) -> ModelClient:
        """The client of an agent."""
        return self._clients[agent.name]

    def fallback_of(self, agent: Agent) -> list[ModelClient]:
        """The clients of the sources an agent goes on with, in order; not prepared."""
        return self._fallback[agent.name]

    async def prepare(self, on_note: Callable[[str], None]) -> None:
        """Get every model ready, so that none fails to start in the middle of a conversation."""
        for name, client in self._clients.items():
            await client.prepare(on_note)
            if client.slots is not None:
                self._rooms[name] = _room_at(client.target.base_url, client.slots)

    def room_of(self, agent: Agent) -> Slots | None:
        """Where the requests of an agent wait for their turn; None where the server takes any number at once."""
        return self._rooms.get(agent.name)

    async def close(self) -> None:
        """Let go of them."""
        for client in (*self._clients.values(), *(each for others in self._fallback.values() for each in others)):
            await client.close()


_rooms: WeakValueDictionary[tuple[int, str, int], Slots] = WeakValueDictionary()
"""One for each server and event loop, for as long as a step needs it: runs side by side share their turn."""


def _room_at(address: str, slots: int) -> Slots:
    key = (id(asyncio.get_running_loop()), address, slots)
    room = _rooms.get(key)
    if room is None:
        room = _rooms[key] = Slots(slots)
    return room
