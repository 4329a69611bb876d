import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stepsnb.config import ContainerLimits, ImageSpec
from stepsnb.errors import WorkspaceError
from stepsnb.workspace import HostShell, open_shell
from tests.support.containers import TestEngine, make_stand_in, real_engines

_BYTES = 100_000


@pytest.fixture(params=["stand-in", *real_engines()])
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestEngine:
    """Every engine there is here, and the stand-in, on PATH."""
    own = make_stand_in(tmp_path / "engine", "docker") if request.param == "stand-in" else None
    return _on_path(own or real_engines()[request.param], monkeypatch)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestEngine:
    return _on_path(make_stand_in(tmp_path / "engine", "docker"), monkeypatch)


def _on_path(engine: TestEngine, monkeypatch: pytest.MonkeyPatch) -> TestEngine:
    for name, value in engine.env.items():
        monkeypatch.setenv(name, value)
    return engine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / 'step, "one"'
    folder.mkdir()
    return folder


def image_of(engine: TestEngine, **settings) -> ImageSpec:
    return ImageSpec(engine.image, **{"network": "none", **settings})


async def test_step_without_an_image_runs_on_this_machine(folder: Path) -> None:
    async with open_shell(folder) as shell:
        assert isinstance(shell, HostShell)
        done = await shell.run("pwd", max_output_bytes=_BYTES)
    assert done.stdout.decode().strip() == str(folder)


async def test_command_runs_in_the_steps_directory(engine: TestEngine, folder: Path) -> None:
    (folder / "in.txt").write_text("in")
    async with open_shell(folder, image_of(engine), run_id="r1") as shell:
        done = await shell.run("cat in.txt; echo out > out.txt; echo bad >&2; exit 3", max_output_bytes=_BYTES)
    assert (done.exit_code, done.stdout, done.stderr) == (3, b"in", b"bad\n")
    assert (folder / "out.txt").read_text() == "out\n"


async def test_command_may_run_in_a_folder_of_it(engine: TestEngine, folder: Path) -> None:
    (folder / "repo").mkdir()
    async with open_shell(folder, image_of(engine)) as shell:
        await shell.run("touch here", cwd=folder / "repo", max_output_bytes=_BYTES)
    assert (folder / "repo" / "here").exists()


async def test_files_belong_to_the_user_outside(engine: TestEngine, folder: Path) -> None:
    async with open_shell(folder, image_of(engine)) as shell:
        await shell.run("mkdir -p d && touch d/f", max_output_bytes=_BYTES)
    assert (folder / "d" / "f").stat().st_uid == os.getuid()


async def test_container_has_only_the_environment_it_is_given(
    engine: TestEngine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_OUTER", "leaked")
    async with open_shell(folder, image_of(engine)) as shell:
        env = {"TEST_WORDS": "two words\nand 'quotes'", "HOME": "/tmp"}
        done = await shell.run(
            'printf "%s|%s|%s" "$TEST_WORDS" "$HOME" "$TEST_OUTER"', env=env, max_output_bytes=_BYTES
        )
    assert done.stdout.decode() == "two words\nand 'quotes'|/tmp|"


async def test_every_command_has_the_environment_the_shell_was_opened_with(engine: TestEngine, folder: Path) -> None:
    for image in (None, image_of(engine)):
        async with open_shell(folder, image, env={"TEST_A": "1", "TEST_B": "2"}) as shell:
            done = await shell.run('echo "$TEST_A $TEST_B"', env={"TEST_B": "3"}, max_output_bytes=_BYTES)
        assert done.stdout == b"1 3\n"


async def test_all_commands_of_a_step_share_one_container(engine: TestEngine, folder: Path) -> None:
    async with open_shell(folder, image_of(engine), run_id="r-share") as shell:
        await asyncio.gather(*(shell.run(f"touch f{n}", max_output_bytes=_BYTES) for n in range(3)))
        assert len(engine.containers("r-share")) == 1
    assert sorted(each.name for each in folder.iterdir()) == ["f0", "f1", "f2"]


async def test_nothing_is_started_before_the_first_command(engine: TestEngine, folder: Path) -> None:
    async with open_shell(folder, image_of(engine), run_id="r-lazy"):
        assert engine.containers("r-lazy") == []


async def test_container_is_gone_with_the_step(engine: TestEngine, folder: Path) -> None:
    async def step() -> None:
        async with open_shell(folder, image_of(engine), run_id="r-gone") as shell:
            await shell.run("true", max_output_bytes=_BYTES)
            assert len(engine.containers("r-gone")) == 1
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await step()
    assert engine.containers("r-gone") == []


async def test_stopped_step_leaves_no_container(engine: TestEngine, folder: Path) -> None:
    async def step() -> None:
        async with open_shell(folder, image_of(engine), run_id="r-stop") as shell:
            await shell.run("while :; do echo x >> late; sleep 0.05; done", max_output_bytes=_BYTES)

    task = asyncio.create_task(step())
    while not (folder / "late").exists():
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.containers("r-stop") == []
    size = (folder / "late").stat().st_size
    await asyncio.sleep(0.3)
    assert (folder / "late").stat().st_size == size


async def test_killed_process_leaves_no_container(engine: TestEngine, folder: Path) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from stepsnb.config import ImageSpec
from stepsnb.workspace import open_shell
async def main():
    async with open_shell(Path(sys.argv[1]), ImageSpec({engine.image!r}, network="none"), run_id="r-kill") as shell:
        await shell.run("touch began; sleep 60", max_output_bytes=10)
asyncio.run(main())
"""
    env = {**engine.environment(), "PYTHONPATH": str(Path(__file__).parents[2])}
    owner = subprocess.Popen([sys.executable, "-c", program, str(folder)], env=env)
    while not (folder / "began").exists():
        assert owner.poll() is None
        await asyncio.sleep(0.05)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    for _ in range(200):
        if not engine.containers("r-kill"):
            break
        await asyncio.sleep(0.05)
    assert engine.containers("r-kill") == []


async def test_command_that_takes_too_long_is_ended_and_the_container_goes_on(engine: TestEngine, folder: Path) -> None:
    async with open_shell(folder, image_of(engine), run_id="r-time") as shell:
        await shell.run("true", max_output_bytes=_BYTES)
        done = await shell.run("while :; do echo x >> late; sleep 0.05; done", timeout_s=0.5, max_output_bytes=_BYTES)
        assert done.timed_out
        size = (folder / "late").stat().st_size
        await asyncio.sleep(0.3)
        assert (folder / "late").stat().st_size == size
        assert (await shell.run("echo on", max_output_bytes=_BYTES)).stdout == b"on\n"


async def test_what_a_command_leaves_running_ends_with_it(engine: TestEngine, folder: Path) -> None:
    async with open_shell(folder, image_of(engine)) as shell:
        writer = "touch began; while :; do echo x >> late; sleep 0.05; done"
        script = f"setsid sh -c '{writer}' >/dev/null 2>&1 & while [ ! -e began ]; do sleep 0.05; done; exit 4"
        done = await shell.run(script, max_output_bytes=_BYTES)
        assert done.exit_code == 4
        size = (folder / "late").stat().st_size if (folder / "late").exists() else 0
        await asyncio.sleep(0.3)
        assert ((folder / "late").stat().st_size if (folder / "late").exists() else 0) == size


async def test_output_is_bounded_with_its_true_size(engine: TestEngine, folder: Path) -> None:
    async with open_shell(folder, image_of(engine)) as shell:
        done = await shell.run("i=0; while [ $i -lt 100 ]; do echo 123456789; i=$((i+1)); done", max_output_bytes=25)
    assert (done.stdout, done.stdout_bytes) == (b"123456789\n123456789\n12345", 1000)


async def test_image_that_cannot_be_had_is_named(engine: TestEngine, folder: Path) -> None:
    async with open_shell(folder, ImageSpec("missing.invalid/none:1", network="none"), run_id="r-none") as shell:
        with pytest.raises(WorkspaceError, match=r"cannot start a container of `missing\.invalid/none:1`: .+"):
            await shell.run("true", max_output_bytes=_BYTES)
    assert engine.containers("r-none") == []


async def test_container_that_ends_under_a_command_is_an_error_not_an_exit_code(
    engine: TestEngine, folder: Path
) -> None:
    async with open_shell(folder, image_of(engine), run_id="r-ends") as shell:
        await shell.run("true", max_output_bytes=_BYTES)
        removing = asyncio.create_task(asyncio.to_thread(_remove_soon, engine, folder))
        with pytest.raises(WorkspaceError, match="ended by itself"):
            await shell.run("touch began; sleep 30", max_output_bytes=_BYTES)
        await removing


def _remove_soon(engine: TestEngine, folder: Path) -> None:
    while not (folder / "began").exists():
        time.sleep(0.02)
    for name in engine.containers("r-ends"):
        engine.remove(name)


async def test_named_user_may_write_and_the_files_come_back(engine: TestEngine, folder: Path) -> None:
    (folder / "before").write_text("x")
    user = "tester" if engine.is_real else str(os.getuid())
    async with open_shell(folder, image_of(engine, user=user)) as shell:
        done = await shell.run("touch mine && echo y >> before && id -u", max_output_bytes=_BYTES)
    assert done.exit_code == 0
    assert done.stdout.strip() == (b"1234" if engine.is_real else str(os.getuid()).encode())
    assert {each.stat().st_uid for each in folder.iterdir()} == {os.getuid()}


async def test_settings_of_the_image_reach_the_engine(stand_in: TestEngine, folder: Path) -> None:
    limits = ContainerLimits(cpu=512, memory=256_000_000)
    image = ImageSpec("tools:1", network="none", is_privileged=True, limits=limits, user="1000:1000")
    async with open_shell(folder, image, run_id="r7") as shell:
        await shell.run("true", max_output_bytes=_BYTES)
    (run,) = [call["arguments"] for call in stand_in.calls() if call["arguments"][0] == "run"]
    assert run[: run.index("--name")] == ["run", "--rm", "--interactive"]
    settings = run[run.index("--user") : run.index("--")]
    assert settings == (
        ["--user", "1000:1000", "--network", "none", "--privileged", "--cpu-shares", "512", "--memory", "256000000"]
    )
    assert run[run.index("--label") :][:2] == ["--label", "stepsnb.run=r7"]


async def test_setting_that_is_not_made_is_left_to_the_engine(stand_in: TestEngine, folder: Path) -> None:
    async with open_shell(folder, ImageSpec("tools:1")) as shell:
        await shell.run("true", max_output_bytes=_BYTES)
    (run,) = [call["arguments"] for call in stand_in.calls() if call["arguments"][0] == "run"]
    for flag in ("--network", "--privileged", "--cpu-shares", "--memory"):
        assert flag not in run
    assert run[run.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}"


async def test_root_of_a_rootless_engine_is_the_user(
    stand_in: TestEngine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_INFO", '["name=seccomp,profile=default","name=rootless"]')
    async with open_shell(folder, ImageSpec("tools:1")) as shell:
        await shell.run("true", max_output_bytes=_BYTES)
    (run,) = [call["arguments"] for call in stand_in.calls() if call["arguments"][0] == "run"]
    assert run[run.index("--user") + 1] == "0:0"


async def test_values_of_the_environment_are_on_no_command_line(stand_in: TestEngine, folder: Path) -> None:
    async with open_shell(folder, ImageSpec("tools:1")) as shell:
        await shell.run("true", env={"TEST_TOKEN": "s3cret-value"}, max_output_bytes=_BYTES)
    (call,) = [call for call in stand_in.calls() if "TEST_TOKEN" in call["arguments"]]
    assert "s3cret-value" not in str(call["arguments"])
    assert call["env"]["TEST_TOKEN"] == "s3cret-value"


async def test_option_cannot_be_smuggled_in_as_an_image(stand_in: TestEngine, folder: Path) -> None:
    async with open_shell(folder, ImageSpec("--privileged")) as shell:
        await shell.run("true", max_output_bytes=_BYTES)
    (run,) = [call["arguments"] for call in stand_in.calls() if call["arguments"][0] == "run"]
    assert run[run.index("--") + 1] == "--privileged"
    assert "--privileged" not in run[: run.index("--")]
