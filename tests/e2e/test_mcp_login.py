"""A person logs in at a server once; runs after that use the login, refresh it, and say when it has ended."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

import stepsnb
from stepsnb.errors import InputError, McpError
from stepsnb.outcome import Outcome

SERVER = Path(__file__).parents[1] / "support" / "mcp_oauth_server.py"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the server reads how to behave and writes what happened; logins are kept beside it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "server"
    folder.mkdir()
    return folder


@pytest.fixture
def vault(folder):
    """The address of the server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([sys.executable, SERVER, str(port), folder]) as process:
        try:
            for _ in range(600):
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def pipeline(endpoint, auth="type: oauth", model="scripted/none.yml"):
    return f"""
mcp_servers: [{{name: vault, endpoint: '{endpoint}', auth: {{{auth}}}}}]
agents: [{{name: a, source: {{model: {model}}}, tools: [{{mcp: vault}}]}}]
jobs: [{{name: job, plan: [{{agent: a, prompt: Open it.}}]}}]
"""


@pytest.fixture
def load(vault):
    return lambda **options: stepsnb.load(pipeline(vault, **options))


def happened(folder):
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


def follow(address):
    """Do what a browser does: go to the address, and where it leads."""
    return httpx.get(address, follow_redirects=True, trust_env=False)


def log_in(loaded, visit=follow, **options):
    """Log in with a person who says yes."""
    people = ThreadPoolExecutor(1)
    with people:
        return stepsnb.mcp(loaded, "vault", action="login", on_address=lambda a: people.submit(visit, a), **options)


def kept(tmp_path):
    return list((tmp_path / "data").rglob("*.json"))


def test_login_keeps_a_token_that_runs_use(load, folder, tmp_path, scripted_llm):
    assert list(log_in(load())["tool"]) == ["open_vault"]

    scripted_llm.says(calls=[("vault__open_vault", {})]).says("A pearl.")
    result = load(model=scripted_llm.model).run(store=tmp_path / "store")

    assert (result.outcome, result.text) == (Outcome.SUCCEEDED, "A pearl.")
    assert happened(folder) == ["registered", "authorized read write", "issued"]


def test_token_file_is_for_its_user_alone(load, tmp_path):
    log_in(load())
    (file,) = kept(tmp_path)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_scopes_are_those_that_the_pipeline_names(load, folder):
    log_in(load(auth="type: oauth, scopes: [read]"))
    assert "authorized read" in happened(folder)


def test_run_without_a_login_says_how_to_log_in(load, tmp_path, scripted_llm):
    result = load(model=scripted_llm.model).run(store=tmp_path / "store")
    assert result.outcome is Outcome.ERRORED
    assert "nobody has logged in; log in with `stepsnb mcp login FILE vault`" in result.error
    assert scripted_llm.request_count == 0


def test_token_that_has_ended_is_refreshed_before_it_is_sent(load, folder):
    (folder / "lifetime").write_text("5")  # so short that it is refreshed at once
    log_in(load())
    (folder / "lifetime").unlink()
    before = happened(folder).count("refreshed")
    assert list(stepsnb.mcp(load(), "vault")["tool"]) == ["open_vault"]
    assert happened(folder).count("refreshed") == before + 1
    stepsnb.mcp(load(), "vault")
    assert happened(folder).count("refreshed") == before + 1


def test_token_that_is_refused_is_refreshed_once(load, folder):
    log_in(load())
    time.sleep(0.05)
    (folder / "ended").touch()
    assert list(stepsnb.mcp(load(), "vault")["tool"]) == ["open_vault"]
    assert happened(folder).count("refreshed") == 1


def test_login_that_was_withdrawn_says_to_log_in_again_and_shows_no_token(load, folder, tmp_path):
    log_in(load())
    (folder / "revoked").touch()
    with pytest.raises(McpError, match=r"its login has ended or was withdrawn; log in with") as caught:
        stepsnb.mcp(load(), "vault")
    login = json.loads(kept(tmp_path)[0].read_text())
    assert login["access_token"] not in str(caught.value)
    (folder / "revoked").unlink()
    assert len(log_in(load())) == 1


def test_processes_refresh_a_login_one_after_the_other(vault, folder, tmp_path):
    (folder / "lifetime").write_text("5")  # so short that it is refreshed at once
    (tmp_path / "p.yml").write_text(pipeline(vault))
    log_in(stepsnb.load(tmp_path / "p.yml"))
    (folder / "lifetime").unlink()
    before = happened(folder).count("refreshed")
    code = "import stepsnb; print(len(stepsnb.mcp('p.yml', 'vault')))"
    shells = [
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=own())
        for _ in range(3)
    ]
    assert [shell.communicate(timeout=60)[0] for shell in shells] == ["1\n"] * 3
    assert happened(folder).count("refreshed") == before + 1  # a refresh token is good for one use


def own():
    return {**os.environ, "PYTHONPATH": str(Path(stepsnb.__file__).parents[1])}


def test_logout_forgets_the_token(load, tmp_path):
    log_in(load())
    stepsnb.mcp(load(), "vault", action="logout")
    assert kept(tmp_path) == []
    with pytest.raises(McpError, match="nobody has logged in"):
        stepsnb.mcp(load(), "vault")


def test_token_never_goes_to_another_address(load, tmp_path, wire_server):
    log_in(load())
    (file,) = kept(tmp_path)
    for _ in range(6):
        wire_server.says(401, {})
    other = stepsnb.load(pipeline(wire_server.base_url))
    with pytest.raises(McpError):
        stepsnb.mcp(other, "vault")
    from stepsnb.mcp import TokenFile

    stolen = TokenFile(other.pipeline.mcp_servers[0]).path
    stolen.write_bytes(file.read_bytes())  # not even when somebody renames the file
    for _ in range(6):
        wire_server.says(401, {})
    with pytest.raises(McpError, match="nobody has logged in"):
        stepsnb.mcp(other, "vault")
    assert all("authorization" not in received.headers for received in wire_server.requests)


def test_client_that_is_registered_beforehand_logs_in_with_its_secret(load, folder, monkeypatch, tmp_path):
    monkeypatch.setenv("VAULT_SECRET", "its-secret")
    (folder / "lifetime").write_text("5")  # so short that it is refreshed at once
    auth = "type: oauth, client_id: known, client_secret_env: VAULT_SECRET"
    assert len(log_in(load(auth=auth))) == 1
    assert "registered" not in happened(folder)
    assert "refreshed" in happened(folder)
    assert "its-secret" not in kept(tmp_path)[0].read_text()


def test_secret_that_is_not_set_is_named(load):
    with pytest.raises(InputError, match="NO_SECRET_OF_TESTS is not set"):
        log_in(load(auth="type: oauth, client_id: known, client_secret_env: NO_SECRET_OF_TESTS"))


def test_person_who_says_no_ends_the_login(load, folder, tmp_path):
    (folder / "deny").touch()
    with pytest.raises(McpError, match="the login failed: it was refused: Kari said no"):
        log_in(load())
    assert kept(tmp_path) == []


def test_answer_to_another_login_is_turned_away(load):
    pages = []

    def visit(address):
        redirect = parse_qs(urlsplit(address).query)["redirect_uri"][0]
        pages.append(follow(f"{redirect}?code=stolen&state=other"))
        pages.append(follow(redirect.replace("/callback", "/favicon.ico")))
        pages.append(follow(address))

    assert len(log_in(load(), visit)) == 1
    assert [page.status_code for page in pages] == [400, 404, 200]
    assert "You are logged in" in pages[2].text


def test_nobody_who_logs_in_is_waited_on_for_a_while_only(load):
    with pytest.raises(McpError, match=r"nobody logged in within 0\.5 s"):
        log_in(load(), lambda address: None, timeout_s=0.5)


def test_port_that_is_taken_is_named(load):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of this machine is taken"):
            log_in(load(auth=f"type: oauth, callback_port: {port}"))


def test_damaged_login_is_named_with_what_to_do(load, tmp_path):
    log_in(load())
    (file,) = kept(tmp_path)
    file.write_text("{")
    with pytest.raises(InputError, match=f"its login `{file}` is damaged; delete it and log in again"):
        stepsnb.mcp(load(), "vault")
    assert len(log_in(load())) == 1


def test_server_without_a_login_says_so(load):
    with pytest.raises(InputError, match="needs no login"):
        log_in(load(auth="type: none"))


def test_shell_logs_in_and_out(vault, folder, tmp_path):
    (tmp_path / "p.yml").write_text(pipeline(vault))
    command = [sys.executable, "-m", "stepsnb.cli.main", "mcp"]
    shell = subprocess.Popen(
        [*command, "login", "p.yml", "vault"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=own()
    )
    line = shell.stdout.readline()
    assert line.startswith("log in at http://127.0.0.1:")
    threading.Thread(target=follow, args=(line.split()[-1],)).start()
    assert (shell.communicate(timeout=60)[0], shell.returncode) == ("logged in at `vault`, which has 1 tools\n", 0)
    done = subprocess.run(
        [*command, "logout", "p.yml", "vault"], cwd=tmp_path, capture_output=True, text=True, env=own(), check=True
    )
    assert done.stdout == "no login at `vault` is kept any more\n"
