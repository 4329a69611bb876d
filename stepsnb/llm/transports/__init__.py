"""The transports below a client, and, here alone, the order in which they wrap one another.

There is one layer: a script for `scripted/`, the network for all else. What wraps them is named here, outermost first.
"""

from typing import TYPE_CHECKING

from .script import Script, register_script, script_named, unregister_script

if TYPE_CHECKING:
    import httpx

    from ..target import Target

__all__ = ["Script", "build_transport", "register_script", "script_named", "unregister_script"]


async def build_transport(target: "Target") -> "httpx.AsyncBaseTransport":
    """Build what carries the requests to a target.

    Raises: `InputError` for a script that is not there or not right, `ProviderError` for a proxy of no use.
    """
    if target.provider == "scripted":
        from .scripted import ScriptedTransport

        return ScriptedTransport(script_named(target.model, target.base_dir))
    from .. import failures
    from .network import network

    try:
        return await network(target.base_url)
    except ValueError as exc:
        raise failures.unreachable(target, str(exc)) from exc
