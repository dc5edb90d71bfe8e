"""What README.md and docs/python.md show first is what runs, and README's two languages agree to the bit."""
import re
import subprocess

import numpy as np
import pytest
from conftest import ROOT

PAGES = ["README.md", "docs/python.md"]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_the_first_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(blocks(page, "python")[0], page, "exec"), names)
    assert names["model"].loo_error < 0.5


def test_the_shell_and_python_agree(tmp_path, monkeypatch, program):
    monkeypatch.chdir(tmp_path)
    for line in blocks("README.md", "sh")[1].splitlines():
        subprocess.run([program, *line.split()[1:]], check=True, capture_output=True)
    names = {}
    exec(blocks("README.md", "python")[0], names)
    assert np.array_equal(np.load("predicted.npy"), names["predicted"])
