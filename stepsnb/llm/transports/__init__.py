"""The transports below a client, and, here alone, the order in which they wrap one another.

A script for `scripted/`, the network for all else; around it a cassette that records, in its place one that replays.
"""

from typing import TYPE_CHECKING

from .script import Script, register_script, script_named, unregister_script

if TYPE_CHECKING:
    import httpx

    from ..cassette import Cassette
    from ..target import Target

__all__ = ["Script", "build_transport", "register_script", "script_named", "unregister_script"]


async def build_transport(target: "Target", cassette: "Cassette | None" = None) -> "httpx.AsyncBaseTransport":
    """Build what carries the requests to a target.

    Raises: `InputError` for a script that is not there or not right, `ProviderError` for a proxy of no use.
    """
    if cassette is not None:
        from .recorded import RecordingTransport, ReplayingTransport

        if cassette.is_replay:
            return ReplayingTransport(cassette, target.label)
        return RecordingTransport(await build_transport(target), cassette, target.label)
    if target.provider == "scripted":
        from .scripted import ScriptedTransport

        return ScriptedTransport(script_named(target.model, target.base_dir))
    from .. import failures
    from .network import network

    try:
        return await network(target.base_url)
    except ValueError as exc:
        raise failures.unreachable(target, str(exc)) from exc
