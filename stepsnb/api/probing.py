"""Whether a pipeline's models and MCP servers are there, asked without a run."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..config import Agent, McpGrant, Pipeline, PreflightSpec
from ..engine import engine
from ..errors import StepsError
from ..llm.addresses import show_url
from ..mcp import McpServers
from ..plan import build_plan
from ..run import SourceCheck, agents_in, check_source
from ..visible import visible
from ..workspace import finish

if TYPE_CHECKING:
    import pandas as pd

    from .options import PathLike
    from .pipeline import LoadedPipeline

_COLUMNS = ("kind", "name", "source", "model", "address", "status", "detail")


def preflight(pipeline: "LoadedPipeline | PathLike", job: str | None = None) -> "pd.DataFrame":
    """Ask the models and MCP servers of a pipeline's agents whether they are there; nothing runs.

    `pipeline` is a loaded one, or what `load` takes; with `job` only agents that its steps ask. Nothing that was said
    before is trusted, and what is there now is trusted by the next run (`defaults.preflight.cache`).

    Columns, texts but for source: kind (`model` or `server`), name (of the agent, or of the MCP server), source (Int64:
    0 is the agent's own model, 1 the first of its `fallback:`), model, address; status: `ready`, `unlisted` (there,
    but its list has no such model), `down`, `refused` (the key, or it is not set), `not probed` (nothing to ask: a
    script, a model that runs here, a client of yours); detail, what is wrong in words.

    Raises: what `load` raises; InputError for an unknown job.
    """
    from .pipeline import LoadedPipeline, load

    model = (pipeline if isinstance(pipeline, LoadedPipeline) else load(pipeline)).pipeline
    agents = {agent.name: agent for agent in model.agents if job is None}
    for name in [job] if job is not None else [each.name for each in model.jobs]:
        agents |= agents_in(model, build_plan(model, name).walk())
    return engine().start(_frame(model, list(agents.values()))).result()


async def _frame(pipeline: Pipeline, agents: Sequence[Agent]) -> "pd.DataFrame":
    import pandas as pd

    places = [(agent, index) for agent in agents for index in range(1 + len(agent.fallback))]
    servers = dict.fromkeys(grant.mcp for agent in agents for grant in agent.grants if isinstance(grant, McpGrant))
    found = await asyncio.gather(
        *(_model_row(pipeline, agent, index) for agent, index in places),
        *(_server_row(pipeline, name) for name in servers),
    )
    frame = pd.DataFrame(found, columns=list(_COLUMNS))
    return frame.astype({name: "Int64" if name == "source" else "str" for name in _COLUMNS})


async def _model_row(pipeline: Pipeline, agent: Agent, index: int) -> dict[str, object]:
    spec = (pipeline.defaults.preflight or PreflightSpec()).model_copy(update={"cache_s": 0.0})
    checked = await check_source(pipeline, agent, index, spec, is_patient=False)
    source = (agent.source, *(each.source for each in agent.fallback))[index]
    target = checked.target
    return {
        "kind": "model",
        "name": agent.name,
        "source": index,
        "model": visible(source.model or pipeline.defaults.model or ""),
        "address": "" if target is None or not checked.is_probed else visible(show_url(target.base_url)),
        "status": _status(checked),
        "detail": visible(checked.failure or checked.note or ""),
    }


def _status(checked: SourceCheck) -> str:
    if checked.failure is not None:
        return "down" if checked.is_down else "refused"
    if not checked.is_probed:
        return "not probed"
    return "ready" if checked.note is None else "unlisted"


async def _server_row(pipeline: Pipeline, name: str) -> dict[str, object]:
    servers = McpServers(pipeline.mcp_servers, pipeline.base_dir)
    grants = [g for agent in pipeline.agents for g in agent.grants if isinstance(g, McpGrant) and g.mcp == name]
    failure = ""
    try:
        await servers.tools_of(grants)
    except StepsError as exc:
        failure = str(exc)
    finally:
        await finish(servers.close())
    address = next((each.endpoint or each.command or "" for each in pipeline.mcp_servers if each.name == name), "")
    return {
        "kind": "server",
        "name": name,
        "source": None,
        "model": "",
        "address": visible(address),
        "status": "down" if failure else "ready",
        "detail": visible(failure),
    }
