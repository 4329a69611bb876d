"""Writes the generated pages of the reference from the code they describe.

python docs/generate.py          # writes them
python docs/generate.py --check  # exits 1 when one is out of date
"""

import ast
import inspect
import sys
from pathlib import Path
from typing import get_args

import msgspec

from stepsnb import errors, events, settings, store
from stepsnb.config import BUILTIN_TOOLS, schema
from stepsnb.effects import DEFAULTS, RetryPolicy, retry_key
from stepsnb.outcome import EXIT_CODES
from stepsnb.store import frames

REFERENCE = Path(__file__).parent / "reference"
TABLES = (
    *("runs", "steps", "turns", "requests", "tool_calls", "cost", "models", "questions", "trajectory", "transcript"),
)

_OF_ALL_EVENTS = ("run_id", "step_id", "seq", "at")

EVENTS_HEAD = """# Events

All that happens in a run is an event: `run.events` has them, `on_event=` hears them as they happen, and the table
`events` of `stepsnb.sql` keeps them, with their fields in `payload`. Each has `.kind` and, of all fields, those of
every event: `run_id`, `step_id` (empty for what is about the run), `seq` (its number in the run) and the time.
"""

ERRORS_HEADS = (
    """# Errors

Every error a person can act on is a `stepsnb.StepsError` with one message: where, what, and what instead. In a cell
it is shown without a traceback. `.code` is stable, and is what `--json` prints beside the message.

| exception | code | when |
|---|---|---|
""",
    """
## Codes of failed calls

A tool call that failed is data for the model, with one of these codes where it is known; `stepsnb.tool_calls()` has
it in `code`.

| code | when |
|---|---|
""",
    """
## Exit codes

A command of the shell ends with the worst outcome of its jobs; what cannot be loaded counts as errored.

| outcome | exit code |
|---|---|
""",
)

CALL_CODES = {
    errors.ErrorCode.PROVIDER_ERROR: "a server or program broke off, could not be reached, or answered with an error",
    errors.ErrorCode.RATE_LIMITED: "a server asked to be asked less often",
    errors.ErrorCode.REFUSED: "the call was not allowed: by a grant, a fence, or the server",
    errors.ErrorCode.BUDGET_EXCEEDED: "no money or tokens were left for it",
    errors.ErrorCode.DEADLINE_EXCEEDED: "a clock ran out; the message says which",
}

TABLES_HEAD = """# Tables

Each is a function of `stepsnb` that returns a DataFrame: `stepsnb.runs()`, `stepsnb.steps(run)`, … with `store=` for
another store than `.steps`. `%steps runs`, `%steps cost`, `%steps models` and `%steps trajectory RUN` show the same in
a cell, `%steps transcript RUN` a text to read. Columns and dtypes are the same for an empty store.

`stepsnb.sql("select …")` reads all of them in DuckDB, the `events` they are made of, and `information_schema`; it
changes nothing. There are views over what happened beside the messages as well: `retries`, `compactions`,
`loop_warnings`, `context_truncations` and `nudges`. Only in SQL are these, too:

| table | a row is | columns |
|---|---|---|
| `approvals` | one approval that was asked for | those of `questions` |
| `versions` | a version of a resource that runs fetched or made | resource, version (JSON), check_order (0: no check \
has listed it), from_check, pipeline, first_at, runs (how many had it) |
| `step_cache` | an artifact of a result that a step may take over | hash (the step's identity), inputs_digest, \
artifact, digest, bytes, run_id (of the run that made it) |

Money is exact there (`DECIMAL`). Times are UTC. An unknown price
is missing, never 0.
"""

NUMBERS_HEAD = """# Numbers

What decides how long, how large and how many, as `stepsnb.settings` has it. Units are in the names.

| name | value | what it is |
|---|---|---|
"""

RETRIES_HEAD = """
## Retries

What each kind of effect may take, in seconds, unless an agent's `retry:` or the call itself says otherwise: first
`default`, then the key of the kind, then the call. Each says only what it changes, and none can remove a timeout.

The queue clock ends the wait for an executor, the run clock the work of one attempt; either may be tried again. The
total clock covers all attempts and waits and is never started again. Attempts count the first one. The wait before
retry n is the base to the power of n, no longer than the longest; a longer `Retry-After` goes before it.

| effect | key | queue | run | total | attempts | base | longest wait |
|---|---|---|---|---|---|---|---|
"""

EFFECTS = {
    "llm": "model request",
    "tool": "tool call",
    "waiting": "call of a tool that waits for a person or another process",
    "connector_call": "call of a connector's tool; 1 attempt unless the server calls it read-only or idempotent",
    "subagent": "start of a sub-agent",
    "connector": "fetch of a connector's list of tools",
}

PIPELINE_HEAD = """# Pipelines

A pipeline is one YAML file or one `%%steps` cell. This one uses most of what there is:

```yaml noexec: reads files that are not here
defaults: { model: scripted/tides.yml }
resources:
- { name: tables, type: path, source: { path: data } }
agents:
- name: writer
  system: You write short reports, in whole sentences.
  tools: [read_file, write_file, { builtin: ask_user, default: sailors }]
jobs:
- name: report
  plan:
  - get: tables
  - task: clean
    inputs: [tables]
    outputs: [clean]
    run: sort tables/tides.csv > clean/tides.csv
  - agent: writer
    inputs: [clean]
    outputs: [report]
    messages: ["Read clean/tides.csv and write report/summary.md."]
    assert: { files: [report/summary.md], nudge: true }
  assert: { execution: [tables, clean, writer], outcome: succeeded }
```

A step works in a directory of its own: its `inputs` are there as folders, its `outputs` as empty ones, and what it
leaves in them goes to later steps when it succeeded. A name in both is changed in place. `((name))` is filled from
`--use` in a notebook, `--var` in a shell, `vars=` in Python. `yes`, `no`, `010` and `12:30` are texts; durations are
`30s`, `5m`, `1h`, and `"0"` for none. A key that is not listed here is an error that says so.

A task's own criteria are its `assert` when it has one, else that it exits with 0. A job's matching `execution` clears a
failure of its plan, unless `outcome: succeeded` stands beside it.
"""

CONCEPTS = {
    "Pipeline": "Top level",
    "Defaults": "`defaults`",
    "PriceEntry": "An entry of `prices`",
    "WorkspaceSpec": "`workspace`",
    "CacheSpec": "`cache` of the workspace",
    "ResourceType": "An entry of `resource_types`",
    "ResourcePrograms": "`config` of a resource type",
    "Resource": "An entry of `resources`",
    "Agent": "An entry of `agents`",
    "Source": "`source` of an agent",
    "BuiltinGrant": "A built-in tool in `tools`",
    "PythonGrant": "A Python tool in `tools`",
    "CustomGrant": "A custom tool in `tools`",
    "AgentGrant": "A sub-agent in `tools`",
    "RetryLayers": "`retry` of an agent",
    "RetryOverride": "An entry of that `retry`, and `retry` of a tool",
    "TaskEntry": "An entry of `tasks`",
    "FixSpec": "`fix` of a task",
    "ContainerLimits": "`container_limits`",
    "Job": "An entry of `jobs`",
    "TaskStep": "A `task` step",
    "AgentStep": "An `agent` step",
    "ArtifactFile": "A file of an artifact in `message_files`",
    "GetStep": "A `get` step",
    "PutStep": "A `put` step",
    "LoadVarStep": "A `load_var` step",
    "DoStep": "A `do` step",
    "InParallelStep": "An `in_parallel` step",
    "ParallelBlock": "Inside `in_parallel`",
    "RaceStep": "A `race` step",
    "RaceBlock": "Inside `race`",
    "EnsembleStep": "An `ensemble` step",
    "EnsembleBlock": "Inside `ensemble`",
    "ApprovalStep": "An `approval` step",
    "ApprovalBlock": "Inside `approval`",
    "TryStep": "A `try` step",
    "Routes": "`to` of a step",
    "Axis": "An entry of `across`",
    "BlockBudget": "`budget` beside `across`",
    "StepContextFrom": "`context` of a step",
    "StepAssert": "`assert` of a step",
    "ToolCallAssert": "An entry of `tool_calls`",
    "JobAssert": "`assert` of a job",
    "PipelineAssert": "`assert` of the pipeline",
}

MEANINGS = {
    "Pipeline.defaults": "What holds where an agent says nothing.",
    "Pipeline.resources": "What `get` steps fetch and `put` steps publish to.",
    "Pipeline.workspace": "Where steps work, and what is kept.",
    "Pipeline.agents": "Models with a persona, dials and tools.",
    "Pipeline.jobs": "What can be run; at least one.",
    "Pipeline.assert": "Checked by `stepsnb test`.",
    "PriceEntry.input": "Uncached input.",
    "PriceEntry.output": "Output, thinking included.",
    "PriceEntry.cache_read": "Input the provider had cached.",
    "PriceEntry.cache_write": "Input written to the cache.",
    "ResourceType.config": "The programs, when they do not stand in the type itself.",
    "WorkspaceSpec.cache": "What is kept for later runs.",
    "Agent.description": "What it is for.",
    "Agent.source": "The model and its server.",
    "Agent.temperature": "0 to 2.",
    "Agent.top_p": "Above 0, at most 1.",
    "Agent.max_tokens": "The longest reply.",
    "Agent.reasoning_effort": "`low`, `medium` or `high`.",
    "Source.tool_mode": "`auto`, `native`, or `json` for a model that cannot call tools.",
    "Source.stream": "`false` asks for whole replies.",
    "BuiltinGrant.builtin": "Its name; the name alone, without a mapping, grants it as it is.",
    "PythonGrant.python": "Its name.",
    "Job.plan": "Steps, one after the other.",
    "TaskStep.env": "Added to the environment; long values are kept out of the record.",
    "AgentStep.agent": "Name of the agent, and of the step.",
    "AgentStep.max_questions": "`ask_user` calls; beats the agent's.",
    "GetStep.get": "Name of the artifact, and of the step.",
    "GetStep.resource": "The resource, when it has another name.",
    "PutStep.put": "Name of the step.",
    "PutStep.resource": "The resource, when it has another name.",
    "DoStep.do": "Steps, one after the other.",
    "InParallelStep.in_parallel": "The branches, and how they run.",
    "RaceStep.race": "The branches.",
    "EnsembleStep.ensemble": "Who votes, and how that decides.",
    "ApprovalStep.approval": "What is asked; a name alone asks for that.",
    "TryStep.try": "A step of any kind.",
    "ArtifactFile.artifact": "An input of the step.",
    "TaskStep.task": "Name of the step; without a program of its own, also of the entry of `tasks`.",
    "StepAssert.nudge": "`true`: the model is told which files and calls it still owes, five times at most.",
    "ToolCallAssert.args": "At least these arguments.",
    "PipelineAssert.execution": "Names of jobs.",
    "*.container_limits": "What the container may use.",
    "*.name": "Its name.",
    "*.inputs": "Artifacts it reads.",
    "*.outputs": "Artifacts it leaves.",
    "*.assert": "What must hold at its end.",
}
"""Of the keys that need no more than this; the others say it in their model."""


def pipeline_page() -> str:
    """Describe each concept of the language by its model's schema, and the built-in tools."""
    pipeline = schema()
    concepts = {**pipeline["$defs"], "Pipeline": pipeline}
    parts = [PIPELINE_HEAD, "## Built-in tools\n", "| tool | does |", "|---|---|"]
    for name in sorted(BUILTIN_TOOLS):
        text = Path(store.__file__).parents[1].joinpath("tools", f"{name}.md").read_text(encoding="utf-8")
        parts.append(f"| `{name}` | {' '.join(text.split())} |")
    for name, title in CONCEPTS.items():
        concept = concepts[name]
        parts += ["", f"## {title}", "", "| key | is | |", "|---|---|---|"]
        for key, value in concept["properties"].items():
            meaning = value.get("description") or MEANINGS.get(f"{name}.{key}") or MEANINGS.get(f"*.{key}")
            if meaning is None:
                raise SystemExit(f"{name}.{key} has no description")
            needed = "required" if key in concept.get("required", ()) else ""
            parts.append(f"| `{key}` | {' '.join(meaning.split())} | {needed} |")
    return "\n".join(parts) + "\n"


def tables_page() -> str:
    """Describe each table by its function's docstring and its columns' dtypes."""
    parts = [TABLES_HEAD]
    for name in TABLES:
        module = getattr(frames, name)
        text = inspect.getdoc(getattr(store, f"{name}_df")) or ""
        summary, _, rest = text.partition("\n\n")
        meaning = " ".join(rest.partition("Raises:")[0].replace("Columns:", "").split())
        dtypes = ", ".join(f"`{column}` {dtype}" for column, dtype in module.COLUMNS.items())
        parts.append(f"## `{name}`\n\n{' '.join(summary.split())}\n\n{meaning}\n\nDtypes: {dtypes}.\n")
    return "\n".join(parts)


def numbers_page() -> str:
    """List the constants, each with the text below it."""
    body = ast.parse(inspect.getsource(settings)).body[1:]
    lines = []
    for node, below in zip(body, [*body[1:], None], strict=True):
        match node, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                lines.append(f"| `{name}` | `{_shown(getattr(settings, name))}` | {' '.join(text.split())} |")
            case ast.AnnAssign(target=ast.Name(id=name)), _:
                raise SystemExit(f"settings.{name} has no text below it that says what it is")
    retries = [_policy_row(EFFECTS[kind], retry_key(kind), policy) for kind, policy in DEFAULTS.items()]
    return "\n".join([NUMBERS_HEAD.rstrip("\n"), *lines, RETRIES_HEAD.rstrip("\n"), *retries]) + "\n"


def _policy_row(effect: str, key: str, policy: RetryPolicy) -> str:
    clocks = (policy.queue_timeout_s, policy.run_timeout_s, policy.total_timeout_s)
    rest = (policy.max_attempts, policy.backoff_base_s, policy.backoff_max_s)
    cells = ["none" if value is None else f"{value:,g}" for value in (*clocks, *rest)]
    return f"| {effect} | `{key}` | {' | '.join(cells)} |"


def _shown(value: object) -> str:
    if isinstance(value, frozenset):
        return " ".join(sorted(map(str, value)))
    return f"{value:,}" if isinstance(value, int) else str(value)


def events_page() -> str:
    """List the kinds of events, each with what it says and its fields."""
    parts = [EVENTS_HEAD.rstrip("\n"), ""]
    for event in get_args(events.AnyEvent):
        own = [field for field in msgspec.structs.fields(event) if field.name not in _OF_ALL_EVENTS]
        fields = ", ".join(f"`{field.name}`" for field in own)
        text = inspect.cleandoc(event.__doc__ or "")
        kind = event.__struct_config__.tag
        parts.append(f"## `{kind}`\n\n{text}\n\nFields: {fields or 'none of its own'}.\n")
    return "\n".join(parts)


def errors_page() -> str:
    """List the exceptions, each with its code, and the codes of failed calls."""
    found = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.StepsError)]
    rows = [f"| `{each.__name__}` | `{each.code}` | {_one_line(each.__doc__)} |" for each in found]
    codes = [f"| `{code.value}` | {CALL_CODES[code]} |" for code in errors.ErrorCode]
    exits = [f"| `{outcome}` | {code} |" for outcome, code in EXIT_CODES.items()]
    head, calls, ends = (text.rstrip("\n") for text in ERRORS_HEADS)
    return "\n".join([head, *rows, calls, *codes, ends, *exits]) + "\n"


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


PAGES = {
    "errors.md": errors_page,
    "events.md": events_page,
    "numbers.md": numbers_page,
    "pipeline.md": pipeline_page,
    "tables.md": tables_page,
}

if __name__ == "__main__":
    stale = []
    for name, page in PAGES.items():
        path = REFERENCE / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text(encoding="utf-8") != page():
                stale.append(name)
        else:
            path.write_text(page(), encoding="utf-8")
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `python docs/generate.py`")
