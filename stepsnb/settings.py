"""The numbers that decide what a person, a model or a store gets, each with what it means.

Units are in the names. What is a detail of one module's own way of working stands in that module.
"""

from typing import Final

VERSION: Final = "0.1.0"
"""Of the package; the changelog says what it brought."""

MAX_TURNS: Final = 30
"""Turns of a hosted agent when neither step nor agent says; 0 means no cap."""

STEP_TIMEOUT_S: Final = 30 * 60.0
"""Wall-clock time of an agent step when unset; `"0"` means none."""

INLINE_OUTPUT_BYTES: Final = 32_000
"""Tool output over this goes to a file, and a pointer takes its place."""

SPILL_POINTER_BYTES: Final = 4_000
"""The whole pointer message stays under this, so that it survives compaction."""

SPILL_CEILING_BYTES: Final = 10_000_000
"""No more than this of one tool output is kept in a file."""

MCP_MESSAGE_BYTES: Final = 16_000_000
"""A longer message of an MCP server ends the connection to it."""

MCP_STDERR_BYTES: Final = 2_000
"""Of what an MCP server's program wrote to stderr, the last bytes, which an error shows."""

MCP_EXIT_GRACE_S: Final = 1.0
"""How long an MCP server's program may take to end by itself before its group is ended."""

MCP_TOOL_LIST_PAGES: Final = 100
"""Pages of an MCP server's list of tools; one that goes on longer is refused."""

SPILL_DIR: Final = ".steps-output"
"""Where in a step's working directory such files go; never part of an artifact."""

READ_FILE_BYTES: Final = 100_000
"""What `read_file` returns in one call; the rest is paged."""

READ_FILE_MAX_BYTES: Final = 64_000_000
"""A larger file is not read for paging at all: finding its lines and encoding needs the whole of it."""

SEARCH_CONTENT_BYTES: Final = 28 * 1024
"""Budget of `search_files` content matches, so that a result never spills."""

SEARCH_HEAD_LIMIT: Final = 50
"""Results of one `search_files` call when it names no `head_limit`."""

SEARCH_HEAD_LIMIT_MAX: Final = 200
"""The most a `head_limit` may ask for."""

SEARCH_LINE_BYTES: Final = 500
"""Of one matching line; the rest is cut."""

SEARCH_FILE_BYTES: Final = 2_000_000
"""A larger file is not searched."""

SEARCH_S: Final = 20.0
"""After this a search returns what it has found and says that it stopped."""

SEARCH_SKIPPED_DIRS: Final = frozenset({".git", "node_modules", "vendor"})
"""Folders that a search does not enter."""

LIST_DIR_ENTRIES: Final = 1_000
"""Entries of one `list_dir` result; `total` says how many there are."""

WEB_FETCH_BYTES: Final = 100_000
"""Of a fetched page's body; the rest is cut off, as a narrower address has it."""

WEB_FETCH_S: Final = 30.0
"""For a whole fetch, redirects included; a grant's `timeout:` can only be shorter."""

WEB_FETCH_HOPS: Final = 10
"""Redirects that a fetch follows."""

RESOURCE_OUTPUT_BYTES: Final = 4_000_000
"""What is read of the versions a resource program prints."""

RESOURCE_LINKS: Final = 1_000
"""Links that are followed in what a resource's tool answered."""

PARAM_FILE_BYTES: Final = 1_048_576
"""Size of a file whose text is a parameter of a put."""

CHECK_S: Final = 5 * 60.0
"""How long one check of a resource may take."""

WATCH_S: Final = 30.0
"""How long `watch` waits between two checks."""

WATCH_RUNS_SHOWN: Final = 20
"""Of the runs that `%steps watch` started, how many its cell lists; the latest is shown in full."""

TASK_OUTPUT_BYTES: Final = 16 * 1024
"""Of each of a task's output streams in the record; the true size is kept beside it."""

KILL_GRACE_S: Final = 2.0
"""From SIGTERM to SIGKILL, for a whole process group."""

STOP_PROMPT_S: Final = 3.0
"""The prompt is back this soon after Stop."""

INTERRUPT_POLL_S: Final = 0.1
"""An awaited run lets the kernel's interrupt in this often."""

MAX_NUDGES: Final = 5
"""How often unmet obligations are put to the model again."""

MAX_FORCED_CALLS_IGNORED: Final = 5
"""Replies in a row that ignore a forced tool call before the step fails."""

MAX_QUESTIONS: Final = 3
"""`ask_user` calls of one step."""

QUESTION_WAIT_S: Final = 5 * 60.0
"""How long a person is waited on when the grant sets no `timeout`."""

FLUSH_S: Final = 0.08
"""Live view: deltas are sent in batches this far apart."""

TEXT_CHUNK_S: Final = 0.25
"""Streamed text is stored in chunks this far apart while a reply is under way, and once whole at its end."""

TEXT_CHUNK_BYTES: Final = 4 * 1024
"""Or as soon as a chunk is this large."""

HANDSHAKE_PING_S: Final = 0.1
"""The front end is asked this often whether it can talk back while a cell runs."""

HANDSHAKE_MAX_S: Final = 2.0
"""A front end proves within this time that it can talk back while a cell runs."""

TOOL_RESULT_RECORD_BYTES: Final = 32_000
"""`tool_calls.result` keeps what the model saw, at most this much."""

SECRET_CHARACTERS: Final = 8
"""Shorter values are settings such as `fast` or stand-ins for a key; replacing them would garble every text."""

MODEL_NAME_CHARACTERS: Final = 200
"""The longest name of a model."""

TOOL_RUN_S: Final = 120.0
"""Run clock of a tool call in our own executor."""

LLM_RUN_S: Final = 540.0
"""Run clock of one model request."""

LLM_CONNECT_S: Final = 10.0
"""A model server that does not take a connection within this time is not there."""

MCP_LOGIN_S: Final = 5 * 60.0
"""How long a person is waited on who logs in at a server of tools."""

PREFLIGHT_PROBE_S: Final = 30.0
"""How long the probe of a model before a run may take."""

PREFLIGHT_TRUST_S: Final = 5 * 60.0
"""How long a model that was there when it was probed is not probed again."""

PREFLIGHT_TRUST_MAX_S: Final = 15 * 60.0
"""The most a pipeline may set that to."""

LLM_REPLY_BYTES: Final = 64_000_000
"""A reply that goes on beyond this is broken off: a server that never ends a line would fill the memory."""

STATIC_RESULT_BYTES: Final = 200_000
"""A saved cell's static result stays under this."""

LOCAL_READY_S: Final = 120.0
"""How long a local model's server has to load its weights."""

WEIGHTS_NOTE_S: Final = 2.0
"""A line about the progress of a weights download this often."""

VIEW_TEXT_CHARACTERS: Final = 60_000
"""What a view keeps of one text: a reply, its thinking, a message."""

VIEW_RESULT_CHARACTERS: Final = 16_000
"""What a view keeps of one tool result or output stream."""

VIEW_ARGUMENT_CHARACTERS: Final = 4_000
"""What a view keeps of the arguments of one tool call."""

VIEW_CHARACTERS: Final = 4_000_000
"""Once a view holds this much foreign text, it keeps only `VIEW_BRIEF_CHARACTERS` of each that follows."""

VIEW_BRIEF_CHARACTERS: Final = 500
"""What a full view keeps of each further text."""

VIEW_ITEMS: Final = 10_000
"""Entries of all transcripts in a view; what follows is only counted."""

STATIC_TEXT_CHARACTERS: Final = 40_000
"""The plain twin of a saved cell's result stays under this."""

FRAME_ROWS: Final = 50
"""Rows of a DataFrame put into a message; it says how many there are."""

FRAME_COLUMNS: Final = 30
"""Columns of a DataFrame put into a message."""

FRAME_CELL_CHARACTERS: Final = 500
"""Of one value of a DataFrame put into a message."""

SPOOL_SEGMENT_BYTES: Final = 64 * 1024 * 1024
"""A spool goes on in a new file at this size, so that old runs can be removed without rewriting newer ones."""

SPOOL_READ_BYTES: Final = 4 * 1024 * 1024
"""What reading a spool takes from its file at a time."""

INGEST_BATCH_BYTES: Final = 16 * 1024 * 1024
"""What reading spools into the database commits at once, at most this much of it."""

INGEST_BATCH_EVENTS: Final = 50_000
"""And at most this many events of it."""

STORE_WAIT_S: Final = 30.0
"""How long a reader waits for its turn at the database."""

STORE_POLL_S: Final = 0.005
"""A waiting reader looks this often whether it is its turn."""

STORE_THREADS: Final = 4
"""Threads of one database session, at most."""

YAML_DEPTH: Final = 100
"""Levels of nesting in a pipeline or in the value of a variable."""

YAML_ALIASED_VALUES: Final = 10_000
"""Values that aliases may add to a pipeline, so that a few lines cannot grow into gigabytes."""

ATTEMPTS: Final = 3
"""Requests for one reply of an agent step, before any of it has arrived."""

CONTINUATIONS: Final = 10
"""Replies in a row that broke off, or lost a call, and were asked to go on; only a whole reply resets the count."""

LENGTH_CONTINUATIONS: Final = 2
"""The same for replies cut at the output limit, which have a count of their own."""

MAX_EMPTY_REPLIES: Final = 2
"""Replies in a row with neither text nor call that are asked for again."""

MAX_RETRY_WAIT_S: Final = 60.0
"""A provider that asks to wait longer than this is not waited for."""

COMPACT_SHARE: Final = 0.8
"""Of the context window: a larger conversation is summarised."""

COMPACT_KEEP_SHARE: Final = 0.3
"""Of that budget: the most recent part of a conversation, which stays as it is."""

ASSUMED_WINDOW: Final = 128_000
"""Tokens of the context window of a model that nobody knows."""

COMPACTION_RESULT_BYTES: Final = 4_000
"""Of each tool result in the request for a summary."""

LOOP_WINDOW: Final = 10
"""Tool turns in which repetitions are counted."""

LOOP_REPEATS: Final = 5
"""More than this many calls with the same arguments and result in that window are a loop."""

DEADLINE_SHARE: Final = 0.2
"""Once less than this share of a step's time is left, the model is told."""

TRAJECTORY_ARGUMENT_BYTES: Final = 2_048
"""Of each argument in a trajectory."""

TRANSCRIPT_RESULT_BYTES: Final = 4_096
"""Of each tool result in a transcript."""

MAX_CONTEXT_BYTES: Final = 100_000
"""Of each file of `context_paths`; 0 means all of it."""

IMAGE_BYTES: Final = 5_000_000
"""Of each image that goes with a message; the smallest bound of the providers that take images."""

IMAGE_TOKENS: Final = 1_500
"""What an image counts for in an estimate: about what one of a megapixel takes at the large providers."""

DELEGATE_BUDGET_PERCENT: Final = 10
"""Of what an agent has left of its budget, for each call of a sub-agent."""

SUB_AGENT_DEPTH: Final = 8
"""Levels of agents that call agents."""

MATRIX_FILE_ITEMS: Final = 1_000
"""Values that a file may give an axis of a matrix."""

SHOWN_FILE_BYTES: Final = 64 * 1024
"""Of a file of an artifact, where it is looked at without being copied."""

MATRIX_NAME_CHARACTERS: Final = 60
"""Of a value in the name of its cell; the coordinates have it whole."""

MATRIX_FILE_BYTES: Final = 1_048_576
"""Size of such a file."""

MATRIX_CELLS: Final = 10_000
"""Cells of one matrix, so that a few axes cannot grow into millions of steps."""

HOOK_GRACE_S: Final = 60.0
"""What the hooks of a step or job may take after it was stopped."""

LOAD_VAR_BYTES: Final = 100_000
"""The longest file that becomes a variable."""

PLAN_RUNS: Final = 20
"""Runs of a job that a plan looks back at for what its steps did last."""

ARTIFACT_LOCK: Final = "artifacts.lock"
"""Of a store's folder: held for a moment, shared by whoever takes an artifact, alone by whoever deletes one."""

ARTIFACT_REST_S: Final = 600.0
"""An artifact that no run names goes only when nobody took it for so long: its run may be about to begin."""

MAILBOX_POLL_S: Final = 0.2
"""A run that waits for an answer looks this often whether one came from another kernel or shell."""

TURN_POLL_S: Final = 0.1
"""A run that waits for another one of its job looks this often whether it is its turn."""
