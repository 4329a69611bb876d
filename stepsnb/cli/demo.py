"""`stepsnb demo`: notebook 01 in the current folder, opened in JupyterLab or executed without one."""

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .demo_files import NOTEBOOK, copy_notebooks
from .options import add_json
from .output import print_json, say

if TYPE_CHECKING:
    from .options import Verbs

_FOLDER = "stepsnb-demo"
_DEFAULT_MODEL = "local/smollm2"
_LOCAL = "local/"


def add_verb(verbs: "Verbs") -> None:
    """Offer `demo`."""
    parser = verbs.add_parser(
        "demo",
        help="open the first notebook with a real model on this machine",
        description=f"Copy the notebooks to {_FOLDER}/ and open the first one in JupyterLab.",
    )
    parser.add_argument("--headless", action="store_true", help="execute the notebook here instead of opening it")
    parser.add_argument("--model", default=_DEFAULT_MODEL, metavar="PROVIDER/NAME", help="default: %(default)s")
    parser.add_argument("lab_options", nargs="*", metavar="OPTION", help="after --, options of JupyterLab")
    add_json(parser)
    parser.set_defaults(verb=demo)


def demo(args: argparse.Namespace) -> int:
    """Copy the notebooks, fetch the model's weights, then open or execute notebook 01."""
    out = sys.stderr if args.json else sys.stdout
    _check_installed(["nbclient", "nbformat"] if args.headless else ["jupyterlab"])
    folder = Path(_FOLDER).absolute()
    for line in copy_notebooks(folder):
        say(line, file=out)
    if args.model.startswith(_LOCAL):
        _fetch(args.model.removeprefix(_LOCAL))
    # The kernel inherits this; the environment's own kernel comes before one of the same name in the user's folder.
    os.environ.update({"STEPSNB_MODEL": args.model, "JUPYTER_PREFER_ENV_PATH": "1"})
    if not args.headless:
        return _open_lab(folder, args.lab_options)
    from .demo_headless import execute, read_outputs

    say(f"executing {_FOLDER}/{NOTEBOOK} with {args.model}", file=out)
    executed = execute(folder / NOTEBOOK)
    shown = read_outputs(executed)
    if args.json:
        print_json({"notebook": str(executed), "model": args.model, **shown})
        return 0
    for tag, title in (("report", "The report"), ("cost", "What it cost")):
        say(f"\n{title}\n{shown.get(tag, '')}")
    say(f"\nthe executed notebook is {_FOLDER}/{executed.name}; `stepsnb demo` opens it in JupyterLab")
    return 0


def _check_installed(packages: Sequence[str]) -> None:
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f'demo needs {", ".join(missing)}; run `pip install "stepsnb[lab,local]"`')


def _fetch(name: str) -> None:
    """Fetch the weights here, where progress can be seen, and not inside the first cell."""
    import asyncio

    from ..llm.local import fetch_weights, local_model

    asyncio.run(fetch_weights(local_model(name), lambda line: say(line, file=sys.stderr)))


def _open_lab(folder: Path, options: Sequence[str]) -> int:
    say("starting JupyterLab; Ctrl-C twice ends it")
    # Ctrl-C reaches JupyterLab as well, which asks before it ends; it decides, and we wait for it.
    with subprocess.Popen([sys.executable, "-m", "jupyterlab", str(folder / NOTEBOOK), *options]) as lab:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: lab.send_signal(number))
        while True:
            try:
                return lab.wait()
            except KeyboardInterrupt:
                continue
