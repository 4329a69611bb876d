"""Small pipelines and their scripts, as a notebook's cells and files hold them."""

from pathlib import Path

HELLO = """\
agents:
- name: writer
  source: { model: scripted/hello.yml }
jobs:
- name: hello
  plan:
  - agent: writer
    messages: ["Write one line about tides."]
"""

HELLO_SCRIPT = """\
version: 1
replies:
- text: Tides rise and fall with the moon.
"""

ASK = """\
agents:
- name: writer
  source: { model: scripted/ask.yml }
  tools:
  - builtin: ask_user
jobs:
- name: port
  plan:
  - agent: writer
    messages: ["Set the port."]
"""

ASK_SCRIPT = """\
version: 1
replies:
- text: I need to know the port.
  calls:
  - { name: ask_user, arguments: { question: "Which port?", options: [A, B] } }
- text: The port is set.
"""

ASK_TWICE_SCRIPT = """\
version: 1
replies:
- calls:
  - { name: ask_user, arguments: { question: "Which port?", options: [A, B] } }
- calls:
  - { name: ask_user, arguments: { question: "Which host?" } }
- text: Both are set.
"""

SLEEP = """\
jobs:
- name: slow
  plan:
  - task: wait
    run: echo started > {marker}; exec sleep 300
"""

AGENT_SLEEPS = """\
agents:
- name: worker
  source: { model: scripted/sleep.yml }
  tools:
  - builtin: run_shell
jobs:
- name: slow
  plan:
  - agent: worker
    messages: ["Wait for five minutes."]
"""

AGENT_SLEEPS_SCRIPT = """\
version: 1
replies:
- text: I will wait.
  calls:
  - { name: run_shell, arguments: { command: "echo $$ > MARKER; exec sleep 300" } }
- text: Done.
"""

RELAY = """\
agents:
- name: reader
  source: { model: scripted/relay.yml }
jobs:
- name: relay
  plan:
  - task: write
    run: echo spring tide > note/tide.txt
    outputs: [note]
  - agent: reader
    messages: ["What does note/tide.txt say?"]
    inputs: [note]
  - task: count
    run: wc -w < note/tide.txt
    inputs: [note]
"""

RELAY_SCRIPT = """\
version: 1
replies:
- calls:
  - { name: read_file, arguments: { path: note/tide.txt } }
- expect: spring tide
  text: It says spring tide.
"""

_FILES = {
    "hello.yml": HELLO_SCRIPT,
    "ask.yml": ASK_SCRIPT,
    "ask_twice.yml": ASK_TWICE_SCRIPT,
    "sleep.yml": AGENT_SLEEPS_SCRIPT,
    "relay.yml": RELAY_SCRIPT,
    "relay_pipeline.yml": RELAY,
}


def write_files(folder: Path) -> None:
    """Put every script, and the relay pipeline, where a notebook in `folder` finds them."""
    for name, text in _FILES.items():
        (folder / name).write_text(text.replace("MARKER", str(folder / "pid")), encoding="utf-8")
