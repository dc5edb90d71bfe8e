"""Notebooks: the tour runs from its first cell to its last, and the kernel's interrupt stops a call."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import jupyter_client
from conftest import ROOT

import wattle

LIMIT = 600  # seconds: for what hangs, not for machines that are slow


def test_the_tour_runs(tmp_path):
    environ = environment(tmp_path)
    # a fresh home has no cache of fonts, and Matplotlib warns where it makes one slowly
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, env=environ)
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                           f"--ExecutePreprocessor.startup_timeout={LIMIT}", "--output-dir", str(tmp_path),
                           str(ROOT / "examples" / "tour.ipynb")], capture_output=True, text=True, env=environ)
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads((tmp_path / "tour.ipynb").read_text())["cells"]
    shown = [kind for cell in cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert shown.count("image/png") >= 2 and "text/html" in shown
    words = ["".join(output["text"]) for cell in cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    assert not "".join(words).strip()  # no warnings; a bar is wiped


def test_the_tour_is_kept_without_outputs():
    cells = json.loads((ROOT / "examples" / "tour.ipynb").read_text())["cells"]
    assert all(cell.get("outputs", []) == [] and cell.get("execution_count") is None for cell in cells)


def environment(folder):
    """Nothing of the user's notebooks, pictures inside the page, and this package."""
    own = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    package = str(Path(wattle.__file__).parent.parent)
    return {**own, "PYTHONPATH": package, "IPYTHONDIR": str(folder), "JUPYTER_RUNTIME_DIR": str(folder), "HOME": str(folder)}


def run(client, code):
    """What a cell says: the names of errors, and text."""
    client.execute(code)
    said = []
    while True:
        message = client.get_iopub_msg(timeout=LIMIT)
        content = message["content"]
        if message["msg_type"] == "error":
            said.append(content["ename"])
        elif message["msg_type"] == "stream":
            said.append(content["text"])
        elif message["msg_type"] == "status" and content["execution_state"] == "idle":
            return said


def test_the_kernel_can_interrupt_a_call(tmp_path):
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.start_kernel(env=environment(tmp_path))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LIMIT)
        assert run(client, "import wattle as wt; print('ready')") == ["ready\n"]
        code = "print('begun', flush=True); wt.train('and:3', length=20, samples=200, steps=10**9, to_end=True)"
        client.execute(code, stop_on_error=False)  # else the kernel drops a cell that comes soon after the error
        while client.get_iopub_msg(timeout=LIMIT)["msg_type"] != "stream":
            pass
        time.sleep(0.3)  # the call follows the word at once; earlier or later, the cell is interrupted
        manager.interrupt_kernel()
        errors = []
        while not errors:
            message = client.get_iopub_msg(timeout=LIMIT)
            if message["msg_type"] == "error":
                errors.append(message["content"]["ename"])
        assert errors == ["KeyboardInterrupt"]
        while client.get_iopub_msg(timeout=LIMIT)["content"].get("execution_state") != "idle":
            pass
        assert run(client, "print(wt.fit(target='mean-power:2', n=50, heads=5).samples)") == ["50\n"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
