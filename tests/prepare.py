"""Installs what the tests need and pip cannot: a Chromium, and the weights of the local model.

Run it once before the tests; what is there already is left alone.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

from stepsnb.errors import StepsError
from stepsnb.llm.local import LOCAL_MODELS, fetch_weights

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MAC_BROWSERS = ("/Applications/Chromium.app", "/Applications/Google Chrome.app")


def prepare_browser() -> None:
    """Install Debian's Chromium when no browser is there and this process may."""
    if any(map(shutil.which, BROWSERS)) or any(Path(app).exists() for app in MAC_BROWSERS):
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.exit("the browser tests need Chromium; install it (Debian: `apt-get install chromium`) and run this again")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", "chromium"]):
        print("apt-get", *command, flush=True)
        subprocess.run(["apt-get", *command], env=environment, stdout=subprocess.DEVNULL, check=True)


async def prepare_weights() -> None:
    """Fetch the weights of every local model into the user's cache."""
    for model in LOCAL_MODELS.values():
        await fetch_weights(model, print)


if __name__ == "__main__":
    prepare_browser()
    try:
        asyncio.run(prepare_weights())
    except StepsError as exc:
        sys.exit(str(exc))
