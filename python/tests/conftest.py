"""What the tests share: the command beside which functions are held, and a folder for files."""
import json
import os
import signal
import subprocess
from pathlib import Path

os.environ.pop("OPENBLAS_CORETYPE", None)  # the user's choice of kernels, of which there may be a remark

import pytest

import wattle

signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in a shell's background ignore it

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def quiet():
    """No bars in the tests, wherever they run."""
    wattle.settings.progress = False


@pytest.fixture
def program():
    """The command's file."""
    return os.environ.get("WATTLE_COMMAND") or str(ROOT / "build" / "release" / "wattle")


@pytest.fixture
def command(program):
    """Runs the command with --json: command("fit", "--target", ..) is what it printed."""

    def run(*arguments, exit_code=0):
        done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
        assert done.returncode == exit_code, done.stderr
        return json.loads(done.stdout)

    return run
