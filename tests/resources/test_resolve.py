from pathlib import Path

import pytest

from stepsnb.config import Pipeline, load_text
from stepsnb.errors import ResourceError
from stepsnb.mcp import McpServers, ResourceCalls
from stepsnb.resources import GitType, PathType, ProgramType, ServerToolType, resolve_type, source_of

NO_SERVERS = ResourceCalls(McpServers((), Path()))

PIPELINE = """
resource_types:
- name: releases
  config:
    check: "printf '[{\\"who\\": \\"%s\\", \\"mode\\": \\"%s\\"}]' {{ .source.who }} $MODE"
    in: "echo {{ .vars.os }} > os.txt"
  defaults: {who: nobody, where: here}
  env: {MODE: fast}
- {name: notes, mcp: {server: board, check: list_notes}}
mcp_servers: [{name: board, command: board}]
resources:
- {name: post, type: notes}
- {name: app, type: releases, source: {who: ada}}
- {name: code, type: git, source: {uri: ./repo}}
- {name: data, type: path, source: {path: data}}
jobs:
- name: all
  plan:
  - get: app
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return load_text(PIPELINE, file="p.yml", base_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "kind"), [("app", ProgramType), ("post", ServerToolType), ("code", GitType), ("data", PathType)]
)
def test_type_is_the_one_the_resource_names(pipeline: Pipeline, tmp_path: Path, name: str, kind: type) -> None:
    found = resolve_type(pipeline, pipeline.resource(name), store_root=tmp_path, servers=NO_SERVERS)
    assert isinstance(found, kind)
    assert found.name == pipeline.resource(name).type


def test_source_has_the_defaults_of_its_type_where_it_says_nothing(pipeline: Pipeline) -> None:
    assert source_of(pipeline, pipeline.resource("app")) == {"who": "ada", "where": "here"}


async def test_own_type_runs_its_programs_with_its_environment(pipeline: Pipeline, tmp_path: Path) -> None:
    app = pipeline.resource("app")
    found = resolve_type(pipeline, app, store_root=tmp_path, servers=NO_SERVERS, variables={"os": "linux"})
    source = source_of(pipeline, app)
    assert await found.check(source, None) == [{"who": "ada", "mode": "fast"}]
    await found.fetch(source, {"n": "1"}, {}, tmp_path)
    assert (tmp_path / "os.txt").read_text() == "linux\n"


def test_unknown_type_is_named_with_what_there_is(pipeline: Pipeline, tmp_path: Path) -> None:
    broken = pipeline.resource("app").model_copy(update={"type": "relases"})
    with pytest.raises(ResourceError, match=r"resource `app`: .*`relases`.*did you mean `releases`"):
        resolve_type(pipeline, broken, store_root=tmp_path, servers=NO_SERVERS)
