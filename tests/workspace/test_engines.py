import os
from pathlib import Path

import pytest

from stepsnb import config
from stepsnb.errors import WorkspaceError
from stepsnb.workspace import check_containers, find_engine
from stepsnb.workspace.engines import images_of
from tests.support.containers import TestEngine, make_stand_in

PIPELINE = """
resource_types:
- name: releases
  config: {check: "echo '[]'", in: 'true'}
  image: curl:8
resources:
- {name: app, type: releases}
agents:
- {name: coder, source: {model: scripted/x}, image: python:3}
jobs:
- name: contained
  plan:
  - get: app
  - agent: coder
    messages: [hi]
  - do:
    - task: build
      run: make
      image: gcc:14
      ensure: {task: tidy, run: 'true', image: busybox}
- name: plain
  plan:
  - task: build
    run: make
"""


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put stand-ins of the named engines on an otherwise empty PATH."""

    def put(*names: str, **env: str) -> TestEngine:
        engine = make_stand_in(tmp_path / "engine", *names)
        for name, value in {**engine.env, **env}.items():
            monkeypatch.setenv(name, value)
        return engine

    return put


async def test_docker_comes_before_podman(on_path) -> None:
    on_path("docker", "podman")
    assert (await find_engine("alpine")).name == "docker"


async def test_podman_alone_is_used(on_path) -> None:
    on_path("podman", STAND_IN_INFO="true")
    engine = await find_engine("alpine")
    assert (engine.name, engine.is_rootless, engine.owner) == ("podman", True, "0:0")


async def test_engine_with_root_makes_files_as_this_user(on_path) -> None:
    on_path("podman", STAND_IN_INFO="false")
    assert (await find_engine("alpine")).owner == f"{os.getuid()}:{os.getgid()}"


async def test_podman_stands_in_for_a_docker_whose_service_is_down(on_path) -> None:
    engine = on_path("podman")
    (engine.bin / "docker").write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2; exit 1\n")
    (engine.bin / "docker").chmod(0o755)
    assert (await find_engine("alpine")).name == "podman"


async def test_machine_without_an_engine_is_told_both(on_path) -> None:
    on_path()
    with pytest.raises(WorkspaceError) as caught:
        await find_engine("alpine")
    assert str(caught.value) == (
        "`image: alpine` needs a container: `docker` is not on PATH, and `podman` is not on PATH; "
        "install one of them, start its service, or remove `image:` to run on this machine"
    )


async def test_engine_that_does_not_answer_is_repeated(on_path) -> None:
    engine = on_path()
    (engine.bin / "docker").write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2; exit 1\n")
    (engine.bin / "docker").chmod(0o755)
    with pytest.raises(WorkspaceError, match="`docker` does not answer: Cannot connect to the Docker daemon, and"):
        await find_engine("alpine")


async def test_engine_that_works_is_asked_once(on_path) -> None:
    engine = on_path("docker")
    await find_engine("alpine")
    await find_engine("alpine")
    assert [call["arguments"][0] for call in engine.calls()].count("info") == 1


@pytest.fixture
def pipeline() -> config.Pipeline:
    return config.load_text(PIPELINE, file="p.yml")


def test_images_are_those_of_steps_hooks_agents_and_resource_types(pipeline: config.Pipeline) -> None:
    wanted = {"curl:8", "python:3", "gcc:14", "busybox"}
    assert set(images_of(pipeline)) == wanted
    assert set(images_of(pipeline, pipeline.job("contained"))) == wanted


def test_job_needs_only_its_own_images(pipeline: config.Pipeline) -> None:
    assert images_of(pipeline, pipeline.job("plain")) == []


async def test_missing_engine_is_said_before_anything_runs(on_path, pipeline: config.Pipeline) -> None:
    on_path()
    with pytest.raises(WorkspaceError) as caught:
        await check_containers(pipeline, pipeline.job("contained"))
    assert str(caught.value).startswith("p.yml: `image: ")
    assert "needs a container: `docker` is not on PATH" in str(caught.value)


async def test_job_without_images_needs_no_engine(on_path, pipeline: config.Pipeline) -> None:
    on_path()
    await check_containers(pipeline, pipeline.job("plain"))


async def test_engine_is_enough_for_any_image(on_path, pipeline: config.Pipeline) -> None:
    on_path("docker")
    await check_containers(pipeline)
