"""Generated pages of the reference are what the code says now."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]


def test_generated_pages_are_current():
    command = [sys.executable, str(TOP / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.returncode == 0
