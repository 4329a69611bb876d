"""Whether a server is there for a model, asked beside any conversation and trusted for a while."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import failures
from .providers import provider_named
from .target import Target

_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Asking:
    """A request that is under way, and for how many; nobody left ends it."""

    task: "asyncio.Task[str | None]"
    waiting: int = 0


class Probes:
    """What servers said, for as long as that may be trusted; one for the process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._good: dict[_Key, tuple[float, str | None]] = {}
        self._open: dict[tuple[int, _Key], _Asking] = {}

    def trusted(self, target: Target, trust_s: float) -> tuple[bool, str | None]:
        """Whether a target was there not longer than `trust_s` ago, and what was to be said of it."""
        found = self._good.get(_key(target))
        if found is None or self._clock() - found[0] >= trust_s:
            return False, None
        return True, found[1]

    async def ask(self, target: Target) -> str | None:
        """Ask now, however long that takes; who asks the same at the same time gets the same answer.

        Returns what is to be noted of a server that is there: that its list has no such model.
        A server that does not list its models is there as well; so is one that is busy.

        Raises: ProviderError when it cannot be reached, is broken, or refuses the key.
        """
        key = id(asyncio.get_running_loop()), _key(target)
        asking = self._open.get(key)
        if asking is None:
            asking = self._open[key] = _Asking(asyncio.create_task(self._ask(target)))
        asking.waiting += 1
        try:
            return await asyncio.shield(asking.task)
        finally:
            asking.waiting -= 1
            if self._open.get(key) is asking and (asking.task.done() or not asking.waiting):
                del self._open[key]
            if not asking.waiting and not asking.task.done():
                asking.task.cancel()
                await asyncio.wait({asking.task})

    async def _ask(self, target: Target) -> str | None:
        from .probe_request import request_probe

        self._good.pop(_key(target), None)
        note = await request_probe(target)
        self._good[_key(target)] = self._clock(), note
        return note


PROBES = Probes()


def can_be_probed(target: Target) -> bool:
    """Whether there is a server to ask: not for a script, a model that runs here, or a client of the user's."""
    return bool(target.base_url) and target.client is None and not provider_named(target.provider).is_free


def _key(target: Target) -> _Key:
    key = failures.api_key(target) or ""
    return target.base_url, target.model, hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
