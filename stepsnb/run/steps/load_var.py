"""A `load_var` step: the text of a file becomes a variable for the steps that follow."""

from ...config import LoadVarStep
from ...errors import InputError, WorkspaceError
from ...outcome import Outcome
from ...settings import LOAD_VAR_BYTES
from ...workspace import Root, decode_text
from ..context import StepContext, StepEnd


async def run_load_var_step(step: LoadVarStep, ctx: StepContext) -> StepEnd:
    """Read the file and set the variable. Raises: InputError as `read_variable` does."""
    value = read_variable(step, ctx.directory.root, step.file)
    ctx.scope.variables[step.load_var] = value
    return StepEnd(Outcome.SUCCEEDED, value)


def read_variable(step: LoadVarStep, root: Root, path: str) -> str:
    """Return what a file below `root` holds, without the blanks around it.

    Raises: InputError for a file that is missing, too long or no text.
    """
    try:
        with root.open_read(path) as file:
            raw = file.read(LOAD_VAR_BYTES + 1)
    except (OSError, WorkspaceError) as exc:
        why = exc.strerror.lower() if isinstance(exc, OSError) and exc.strerror else str(exc)
        raise InputError(f"load_var `{step.load_var}`: cannot read `{step.file}`: {why}") from exc
    if len(raw) > LOAD_VAR_BYTES:
        raise InputError(f"load_var `{step.load_var}`: `{step.file}` is longer than {LOAD_VAR_BYTES:,} bytes")
    decoded = decode_text(raw)
    if decoded is None:
        raise InputError(f"load_var `{step.load_var}`: `{step.file}` is not text")
    return decoded.text.strip()
