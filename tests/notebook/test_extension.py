"""What `%load_ext stepsnb` does to a shell and to a kernel."""

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from .kernel import running_kernel


def test_loading_prints_nothing_and_imports_nothing_heavy(tmp_path: Path) -> None:
    with running_kernel(tmp_path) as kernel:
        loaded = kernel.run("%load_ext stepsnb")
        heavy = kernel.value(
            "sorted({'pandas', 'duckdb', 'openai', 'httpx', 'anywidget'} & {*__import__('sys').modules})"
        )

    assert loaded.reply["status"] == "ok"
    assert loaded.outputs == []
    assert heavy == "[]"


def test_loading_twice_registers_once(shell: InteractiveShell) -> None:
    before = (len(shell.input_transformers_cleanup), len(shell.Completer.custom_matchers))

    shell.run_line_magic("reload_ext", "stepsnb")

    assert (len(shell.input_transformers_cleanup), len(shell.Completer.custom_matchers)) == before


def test_unloading_gives_back_how_a_run_is_displayed(shell: InteractiveShell) -> None:
    from stepsnb import Run

    formatter = shell.display_formatter.ipython_display_formatter
    assert formatter.lookup_by_type(Run)

    shell.run_line_magic("unload_ext", "stepsnb")

    with pytest.raises(KeyError):
        formatter.lookup_by_type(Run)


def test_unloading_takes_everything_out(shell: InteractiveShell) -> None:
    shell.run_line_magic("unload_ext", "stepsnb")

    assert shell.find_line_magic("steps") is None
    assert shell.find_cell_magic("agent") is None
    assert not any(
        f.__module__.startswith("stepsnb") for f in shell.input_transformers_cleanup if hasattr(f, "__module__")
    )
