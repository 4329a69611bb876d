"""JupyterLab and Notebook 7 as a person meets them: one server, and a notebook page driven in Chromium."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

_CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

_LAB_FLAGS = [
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
    "--ServerApp.disable_check_xsrf=True",
    "--LabApp.news_url=",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
]


FRONT_ENDS = {"lab": "lab/tree", "notebook": "notebooks"}

KERNEL_IS_READY = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""


def wait_for(what: str, is_so: Callable[[], bool], timeout_s: float = 20.0) -> float:
    """Poll until `is_so`, and return how long that took in seconds."""
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > timeout_s:
            raise TimeoutError(f"{what}: not within {timeout_s:g} s")
        time.sleep(0.05)
    return time.monotonic() - began


def isolated_environment(home: Path) -> dict[str, str]:
    """An environment in which Jupyter finds nothing of the user's."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "lab-settings",
        "JUPYTERLAB_WORKSPACES_DIR": "lab-workspaces",
        "IPYTHONDIR": "ipython",
    }
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER") and k != "IPYTHONDIR"}
    return {**kept, **{name: str(home / folder) for name, folder in folders.items()}, "JUPYTER_PLATFORM_DIRS": "1"}


class Lab:
    """A running JupyterLab server whose root folder is `root`."""

    def __init__(self, url: str, root: Path) -> None:
        self.url = url
        self.root = root

    def write(self, name: str, *cells: str, kernel_name: str = "python3") -> str:
        """Put a notebook into the root folder."""
        kernel = {"name": kernel_name, "display_name": kernel_name, "language": "python"}
        notebook = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": kernel},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"cell-{i}",
                    "source": source,
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                }
                for i, source in enumerate(cells)
            ],
        }
        (self.root / name).write_text(json.dumps(notebook), encoding="utf-8")
        return name


def _write_kernels(folder: Path, kernels: Mapping[str, Mapping[str, str]]) -> None:
    for name, environment in kernels.items():
        where = folder / "home" / "data" / "kernels" / name
        where.mkdir(parents=True)
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": name, "language": "python", "env": dict(environment)}
        (where / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


@contextmanager
def running_lab(folder: Path, kernels: Mapping[str, Mapping[str, str]] | None = None) -> Iterator[Lab]:
    """Start JupyterLab on a free port, and end it with all its kernels.

    `kernels` are more kinds of kernels by their names, each with what it adds to the environment.
    """
    root = folder / "work"
    root.mkdir()
    _write_kernels(folder, kernels or {})
    settings = folder / "home" / "lab-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')  # it would ask on the page
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (folder / "lab.log").open("wb")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *_LAB_FLAGS, f"--port={port}", f"--ServerApp.root_dir={root}"],
        cwd=root,
        env=isolated_environment(folder / "home"),
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        if server.poll() is not None:
            raise RuntimeError((folder / "lab.log").read_text(errors="replace"))
        try:
            with urllib.request.urlopen(f"{url}/api/status", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            return False

    try:
        wait_for("JupyterLab", answers, 60)
        yield Lab(url, root)
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(5)
        log.close()


@contextmanager
def chromium() -> Iterator[Callable[[], Page]]:
    """Start Chromium (the system's when there is one) and hand out a function that opens pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_CHROMIUM_FLAGS)
        try:
            yield lambda: browser.new_page(viewport={"width": 1200, "height": 900})
        finally:
            browser.close()


class NotebookPage:
    """One open notebook."""

    def __init__(self, page: Page, lab: Lab, name: str, shots: Path, front_end: str = "lab") -> None:
        self.page = page
        self._lab = lab
        self._name = name
        self._shots = shots
        self._url = f"{lab.url}/{FRONT_ENDS[front_end]}/{name}"
        page.goto(f"{self._url}?reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        page.wait_for_function(KERNEL_IS_READY, timeout=60_000)

    def visit(self, page: Page | None = None) -> None:
        """Load the notebook again, here or in another tab, whatever its kernel is doing."""
        self.page = page or self.page
        self.page.goto(f"{self._url}?reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)

    def cell(self, index: int) -> Locator:
        """A code cell."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def start(self, index: int) -> Locator:
        """Run a cell without waiting for its end."""
        cell = self.cell(index)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return cell

    def run(self, index: int, timeout_s: float = 30.0) -> str:
        """Run a cell to its end and return the text it shows."""
        before = self._prompt(index)
        self.start(index)
        wait_for(f"cell {index}", lambda: self._prompt(index) != before, 5)
        self.wait_done(index, timeout_s)
        return self.text(index)

    def wait_done(self, index: int, timeout_s: float = 30.0) -> float:
        """Wait until a cell has its number again; returns how long that took."""
        return wait_for(f"cell {index} to end", lambda: self._prompt(index).strip("[]: ").isdigit(), timeout_s)

    def is_running(self, index: int) -> bool:
        """Whether the cell's prompt shows the star."""
        return "*" in self._prompt(index)

    def text(self, index: int) -> str:
        """All the text below a cell, folded parts included."""
        return "\n".join(self.cell(index).locator(".jp-OutputArea-output").all_text_contents()).strip()

    def interrupt(self) -> None:
        """Press the toolbar's interrupt button."""
        self.page.click("[data-command='notebook:interrupt-kernel']")

    def change_theme(self, theme: str) -> None:
        """Have JupyterLab in another theme, and wait until the picture that it shows meanwhile has gone."""
        self.page.evaluate("(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def save(self) -> list[dict]:
        """Save the notebook and return its cells as the file holds them."""
        file = self._lab.root / self._name
        before = file.stat().st_mtime_ns
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Control+s")
        wait_for("the notebook to be saved", lambda: file.stat().st_mtime_ns != before, 10)
        time.sleep(0.2)
        return json.loads(file.read_text(encoding="utf-8"))["cells"]

    def shot(self, name: str) -> None:
        """Keep a picture for a person to look at."""
        self._shots.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(self._shots / f"{name}.png"))

    def _prompt(self, index: int) -> str:
        return self.cell(index).locator(".jp-InputArea-prompt").inner_text()
