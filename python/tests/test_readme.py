"""What README.md and the pages on Python show is what runs, and README's two languages agree to the bit."""
import importlib.util
import re
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import wattle as wt


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


def run(page, count, names):
    """The first blocks of a page, one after the other; with fewer trials and steps of a threshold, which takes minutes."""
    for block in blocks(page, "python")[:count]:
        exec(compile(block.replace("trials=10", "trials=1, steps=20"), page, "exec"), names)
    return names


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("README.md", 1, {})["model"].loo_error < 0.5


def test_all_of_the_page_on_python_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    torch = importlib.util.find_spec("torch")
    names = run("docs/python.md", 3 if torch is None else 5, {})
    assert names["model"].loo_error < 0.5 and names["net"].success and (tmp_path / "report.html").exists()
    assert torch is None or names["layer"].recovered


def test_the_page_on_scikit_learn_runs():
    pytest.importorskip("sklearn", reason="python3-sklearn is not installed")
    data, d = wt.draw("mean-power:2", n=200, dim=4, keys=3, seed=1), 4
    rows, y = wt.sklearn.pack(data.query, data.keys), data.y > np.median(data.y)
    names = run("docs/sklearn.md", 1, dict(query=data.query[:150], keys=data.keys[:150], mask=None, d=d, y=y[:150],
                                           X_test=rows[150:], y_test=y[150:]))
    assert names["search"].score(rows[150:], y[150:]) > 0.75  # 0.9 was seen


def test_the_shell_and_python_agree(tmp_path, monkeypatch, program):
    monkeypatch.chdir(tmp_path)
    for line in blocks("README.md", "sh")[1].splitlines():
        subprocess.run([program, *line.split()[1:]], check=True, capture_output=True)
    names = {}
    exec(blocks("README.md", "python")[0], names)
    assert np.array_equal(np.load("predicted.npy"), names["predicted"])
