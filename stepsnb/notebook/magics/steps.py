"""`%%steps`: a whole pipeline, or a list of steps for the loaded one."""

import argparse

from ...errors import InputError
from ..arguments import Arguments
from ..loaded import Loaded
from .verb import Verb, add_background_option, add_run_options, finish_call, run_options

EXAMPLE = """\
%%steps
agents:
- name: writer
  source: { model: local/smollm2 }
jobs:
- name: hello
  plan:
  - agent: writer
    messages: ["Write one line about tides."]"""


def _arguments() -> Arguments:
    arguments = Arguments(
        "%%steps",
        "Run the pipeline in this cell; or, when the cell is a list of steps, run them with the loaded pipeline's "
        "agents and the artifacts of its open run.",
        example=EXAMPLE,
    )
    arguments.add_argument("--job", completes="job", help="job to run; the only one needs no name")
    add_run_options(arguments)
    add_background_option(arguments)
    return arguments


def is_step_list(body: str) -> bool:
    """Whether the YAML text is a list at its top, going by its first line that says anything."""
    for line in body.splitlines():
        text = line.strip()
        if text and not text.startswith(("#", "---", "%")):
            return text.startswith(("- ", "[")) or text == "-"
    return False


def _call(loaded: Loaded, args: argparse.Namespace, body: str | None) -> object:
    text = "\n" + (body or "")  # the magic's own line counts, so that problems name the lines of the cell
    if is_step_list(text):
        _check_fits_open_run(loaded, args)
        return loaded.run_steps(text, args.job, run_options(loaded, args, base=loaded.options), keep_as=args.keep_as)
    options = run_options(loaded, args)
    loaded.load(text, options, job=args.job)
    return finish_call(loaded, args, lambda keep_as: loaded.run_job(args.job, options, keep_as=keep_as))


def _check_fits_open_run(loaded: Loaded, args: argparse.Namespace) -> None:
    """Refuse what would have no effect on a run that has begun."""
    if args.background:
        raise InputError(
            "`--background`: a list of steps goes on in the open run, which waits for them; "
            "leave it out, or run a whole job with `%steps run --background`"
        )
    given = [name for name in ("job", "answer", "files", "store", "memory") if getattr(args, name)]
    if given and loaded.has_open_run:
        raise InputError(
            f"`--{given[0]}` comes too late: these steps go on in the open run; give it to `%steps load`, "
            "or end the run first with `%steps finish`"
        )


STEPS = Verb("steps", _arguments(), _call)
