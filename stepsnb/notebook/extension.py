"""What `%load_ext stepsnb` registers: the magics, the input transformers, completion, and how a run is displayed."""

from typing import Any, cast

from IPython.core.getipython import get_ipython
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from ..errors import InputError
from ..suggest import unknown_name
from .arguments import HelpShown
from .cell import CellRun, stop_running
from .completer import build_matcher
from .errors import plain_errors
from .loaded import Loaded
from .magics import CELL_MAGICS, VERBS, Verb
from .rewrite import AwaitMagics, keep_result
from .watch import CellWatch


@magics_class
class StepsMagics(Magics):
    """`%%steps`, `%%agent` and `%steps VERB`, called or awaited."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.loaded = Loaded(shell)
        self.awaits = AwaitMagics(shell)
        self.matcher = build_matcher(self.loaded)

    @no_var_expand
    @line_cell_magic
    def steps(self, line: str, cell: str | None = None) -> object:
        """Run LLM agents from this notebook; `%steps help` shows every magic with an example."""
        return self._run("steps", line, cell)

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> object:
        """Send this cell to an agent of the loaded pipeline; see `%%agent --help`."""
        return self._run("agent", line, cell)

    def _run(self, name: str, line: str, cell: str | None) -> object:
        with plain_errors():
            value = self._call(name, line, cell)
            return value.wait() if isinstance(value, CellRun | CellWatch) else value

    async def run_awaited(self, name: str, line: str, cell: str | None = None) -> object:
        """Do what the magic does, leaving the kernel's loop free while it runs."""
        with plain_errors():
            value = self._call(name, line, cell)
            return await value.wait_awaited() if isinstance(value, CellRun | CellWatch) else value

    def _call(self, name: str, line: str, cell: str | None) -> object:
        verb, rest = (CELL_MAGICS[name], line) if cell is not None else self._verb(name, line)
        try:
            args = verb.arguments.parse_line(rest)
        except HelpShown as shown:
            print(shown)
            return None
        return verb.call(self.loaded, args, cell)

    def _verb(self, name: str, line: str) -> tuple[Verb, str]:
        word, *rest = line.strip().removesuffix(";").split(maxsplit=1) or ["help"]
        if word in ("-h", "--help"):
            word = "help"
        if name == "agent":
            if word == "help":
                return CELL_MAGICS["agent"], "--help"
            raise InputError("`%agent` needs a message: write `%%agent NAME` and the message below it")
        if word not in VERBS:
            raise InputError(f"%steps: {unknown_name('verb', word, VERBS)}")
        return VERBS[word], "".join(rest)


def loaded_magics() -> StepsMagics:
    """The magics of the running shell."""
    shell: Any = get_ipython()
    return cast(StepsMagics, shell.magics_manager.registry["StepsMagics"])


def load_ipython_extension(shell: Any) -> None:
    """Register everything; loading twice changes nothing."""
    if "StepsMagics" in shell.magics_manager.registry:
        return
    magics = StepsMagics(shell)
    shell.register_magics(magics)
    shell.input_transformers_cleanup.append(keep_result)
    if getattr(shell, "kernel", None) is not None:  # a terminal has no clicks to serve, and Ctrl-C leaves its loop
        shell.input_transformers_post.append(magics.awaits)
        shell.events.register("pre_run_cell", magics.awaits.cell_started)
        shell.events.register("post_run_cell", magics.awaits.cell_ended)
        _stop_runs_at_shutdown(shell.kernel)
    shell.Completer.custom_matchers.append(magics.matcher)
    magics.loaded.echo.register()


def unload_ipython_extension(shell: Any) -> None:
    """Take everything out again."""
    magics = shell.magics_manager.registry.pop("StepsMagics", None)
    if magics is None:
        return
    for kind in ("line", "cell"):
        for name in CELL_MAGICS:
            shell.magics_manager.magics[kind].pop(name, None)
    shell.input_transformers_cleanup.remove(keep_result)
    if magics.awaits in shell.input_transformers_post:
        shell.input_transformers_post.remove(magics.awaits)
        shell.events.unregister("pre_run_cell", magics.awaits.cell_started)
        shell.events.unregister("post_run_cell", magics.awaits.cell_ended)
        del shell.kernel.do_shutdown
    shell.Completer.custom_matchers.remove(magics.matcher)
    magics.loaded.echo.unregister()


def _stop_runs_at_shutdown(kernel: Any) -> None:
    """Let the kernel stop what runs before it shuts down; at exit it is too late, no worker thread starts then."""
    shut_down = kernel.do_shutdown

    def stop_and_shut_down(restart: bool) -> object:
        stop_running()
        return shut_down(restart)

    kernel.do_shutdown = stop_and_shut_down
