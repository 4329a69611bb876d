"""Installs what the tests need and pip cannot: a Chromium, axe-core, MCP servers, and the weights of the local model.

Run it once before the tests; what is there already is left alone.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.axe import AXE, AXE_FOLDER
from support.binder import BINDER, BINDER_ENVIRONMENT, ROOT, binder_program
from support.mcp_servers import (
    MCP_FOLDER,
    MCP_SERVERS,
    PYTHON_MCP_SERVERS,
    npm_server,
    python_environment,
    python_server,
)
from support.older_kernels import OLDER_KERNELS, packages_of

from stepsnb.errors import StepsError
from stepsnb.llm.local import LOCAL_MODELS, fetch_weights

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MAC_BROWSERS = ("/Applications/Chromium.app", "/Applications/Google Chrome.app")


def install(*packages: str, why: str) -> None:
    """Install packages of Debian where this process may; else say what to install."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.exit(f"{why}; install it (Debian: `apt-get install {' '.join(packages)}`) and run this again")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *packages]):
        print("apt-get", *command, flush=True)
        subprocess.run(["apt-get", *command], env=environment, stdout=subprocess.DEVNULL, check=True)


def prepare_browser() -> None:
    """Install Debian's Chromium when no browser is there."""
    if not any(map(shutil.which, BROWSERS)) and not any(Path(app).exists() for app in MAC_BROWSERS):
        install("chromium", why="the browser tests need Chromium")


def npm_install(folder: Path, *packages: str) -> None:
    """Install packages of npm into a folder."""
    if shutil.which("npm") is None:
        install("nodejs", "npm", why="the tests need npm")
    print("npm install", *packages, flush=True)
    where = ["--prefix", str(folder), "--no-audit", "--no-fund"]
    subprocess.run(["npm", "install", *where, *packages], stdout=subprocess.DEVNULL, check=True)


def prepare_axe() -> None:
    """Install axe-core, which checks pages for accessibility, into the user's cache."""
    if not AXE.exists():
        npm_install(AXE_FOLDER, "axe-core")


def prepare_mcp_servers() -> None:
    """Install the servers that other people wrote, by npm, into the user's cache."""
    if all(server.exists() for server in map(npm_server, MCP_SERVERS)):
        return
    npm_install(MCP_FOLDER, *(f"@modelcontextprotocol/{name}" for name in MCP_SERVERS))


def prepare_python_mcp_servers() -> None:
    """Install the servers that are Python packages, each into a virtual environment of its own."""
    for name in PYTHON_MCP_SERVERS:
        if python_server(name).exists():
            continue
        where = python_environment(name)
        print("pip install", name, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(where)], check=True)
        subprocess.run([str(where / "bin" / "pip"), "install", "-q", name], check=True)


def prepare_older_kernels() -> None:
    """Install other versions of ipykernel, each into a folder that holds nothing else: the rest is the tests' own."""
    for version in OLDER_KERNELS:
        where = packages_of(version)
        if (where / "ipykernel").exists():
            continue
        print("pip install", f"ipykernel=={version}", flush=True)
        target = ["--no-deps", "--target", str(where), f"ipykernel=={version}"]
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *target], check=True)


def prepare_binder() -> None:
    """Build the environment of Binder as it does: nothing but what its requirements name, this checkout among it."""
    if not binder_program("pip").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(BINDER_ENVIRONMENT)], check=True)
    pip = [str(binder_program("pip")), "install", "-q"]
    print("pip install -r binder/requirements.txt", flush=True)
    subprocess.run([*pip, "-r", str(BINDER / "requirements.txt")], cwd=ROOT, check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", "."], cwd=ROOT, check=True)  # of the same version, but new


async def prepare_weights() -> None:
    """Fetch the weights of every local model into the user's cache."""
    for model in LOCAL_MODELS.values():
        await fetch_weights(model, print)


if __name__ == "__main__":
    prepare_browser()
    prepare_axe()
    prepare_mcp_servers()
    prepare_python_mcp_servers()
    prepare_older_kernels()
    prepare_binder()
    try:
        asyncio.run(prepare_weights())
    except StepsError as exc:
        sys.exit(str(exc))
