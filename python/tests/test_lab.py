"""Sweeps, stores, reports, claims: the cells of the command, resuming, Ctrl-C, what is wrong."""
import csv
import json
import os
import shutil
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import wattle as wt
from test_calls import in_child
from wattle import lab

GRIDS = dict(experiment="curve", model=["rfa", "brfa"], target="mean-power:2", dim=4, keys=3, heads=20, n="16:64:x2", reps=2,
             test_n=50, seed=9)
#: One cell fails: random positions of so few dimensions overlap too much.
BAD = dict(experiment="construct", function="and:2", length=64, positions="basis,random", position_dim=6, reps=1)


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "curve.ini"
    lines = [f"{key.replace('_', '-')} = {','.join(value) if isinstance(value, list) else value}" for key, value in GRIDS.items()]
    path.write_text("\n".join(["[sweep]", *lines, ""]))
    return path


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "ours.db"
    assert wt.sweep(GRIDS, store=path, workers=2).done == 12
    return wt.Store(path)


def same(ours, theirs, left=()):
    mine = ours.to_dict()
    compared = [key for key in theirs if key not in {"setting", *left}]
    assert {key: mine[key] for key in compared} == {key: theirs[key] for key in compared}
    assert len(compared) > 3


def test_cells_are_those_of_the_command(command, spec, store, tmp_path):
    path = tmp_path / "theirs.db"
    theirs = command("sweep", "run", spec, "--store", path)
    same(wt.sweep(spec, store=tmp_path / "again.db"), theirs, {"store", "seconds"})
    cells = command("sweep", "export", path)["cells"]
    for file in (store, wt.Store(tmp_path / "again.db")):
        ours = file.cells()
        assert ours["hash"].tolist() == [cell["hash"] for cell in cells]
        for cell, row in zip(cells, ours.records()):
            for name, value in {**cell["parameters"], **cell["metrics"]}.items():
                assert row[name] == value, name
    file.export(tmp_path / "ours.csv")
    with open(tmp_path / "ours.csv") as text:
        rows = list(csv.DictReader(text))
    assert list(rows[0]) == list(ours.frame()) and len(rows) == 12
    store.export(tmp_path / "ours.json", "curve")
    assert len(json.loads((tmp_path / "ours.json").read_text())["cells"]) == 12


def test_running_again_does_what_is_missing(command, store):
    again = wt.sweep(GRIDS, store=store.path)
    assert (again.cells, again.done_before, again.done, again.failed) == (12, 12, 0, 0)
    wider = wt.sweep({**GRIDS, "n": [16, 32, 64, 128]}, store=store)
    assert (wider.cells, wider.done) == (16, 4)
    same(store.status(), command("sweep", "status", store.path))
    assert store.status().commands[0].startswith("wattle.sweep({'experiment': 'curve'")
    assert "16 done, 0 failed" in repr(store.status())


def test_a_dry_run(command, spec, store):
    theirs = command("sweep", "run", spec, "--dry-run", "--set", "reps=3", "--store", store.path, "--workers", 2)
    same(wt.sweep(spec, set=dict(reps=3), dry_run=True, store=store.path, workers=2), theirs, {"seconds"})


def test_shards_and_merging(command, store, tmp_path):
    parts = [tmp_path / "one.db", tmp_path / "two.db"]
    done = [wt.sweep(GRIDS, store=path, shard=(i + 1, 2)).done for i, path in enumerate(parts)]
    assert sum(done) == 12 and wt.sweep(GRIDS, store=parts[1], shard="2/2").done == 0
    whole = wt.Store(tmp_path / "whole.db")
    merged = whole.merge(*parts)
    assert (merged.added, merged.done, merged.failed) == (12, 12, 0)
    same(whole.merge(store), command("sweep", "merge", store.path, "--store", whole.path))
    assert whole.cells()["test_error"].tolist() == store.cells()["test_error"].tolist()
    with pytest.raises(wt.UsageError, match="cannot be merged into itself"):
        whole.merge(whole)
    with pytest.raises(wt.NoInput):
        wt.Store(tmp_path / "new.db").merge(tmp_path / "none.db")
    assert not (tmp_path / "new.db").exists()


def test_a_merge_keeps_both_sides(store, tmp_path):
    elsewhere = tmp_path / "elsewhere.db"
    shutil.copy(store.path, elsewhere)
    with sqlite3.connect(elsewhere) as base:
        base.execute("UPDATE cell SET machine = 'another', metrics = json_set(metrics, '$.test_error', 0.75)")
    base.close()
    with pytest.warns(wt.Remark, match="12 cells differ .* by more than rounding"):
        merged = store.merge(elsewhere)
    assert (merged.known, merged.differing, merged.disputed) == (12, 12, 12)
    disputes = store.disputes()
    assert set(disputes["metric"]) == {"test_error"} and set(disputes["other"]) == {0.75}
    assert sorted(disputes["kept"]) == sorted(store.cells()["test_error"])
    assert set(disputes["other_machine"]) == {"another"} and store.status().disputed == 12


def test_failed_cells_are_kept_and_retried(tmp_path):
    path = tmp_path / "results.db"
    with pytest.warns(wt.MissedWarning, match=r"1 cells failed; Store\(.*\)\.failures\(\) says why"):
        found = wt.sweep(BAD, store=path)
    assert (found.done, found.failed) == (1, 1)
    failures = found.failures()
    assert failures["positions"].tolist() == ["random"] and "overlap" in failures["message"][0]
    assert len(wt.Store(path).cells(failed=False)) == 1
    with pytest.warns(wt.MissedWarning):
        again = wt.Store(path).retry()
    assert (again.cells, again.done, again.failed) == (2, 0, 1)


def test_ctrl_c_keeps_cells_and_the_same_call_goes_on(command, tmp_path):
    path = tmp_path / "results.db"
    long = {**GRIDS, "n": "64:512:x2", "heads": 300, "reps": 2000}

    def has_cells():
        try:
            return command("sweep", "status", path)["experiments"]
        except AssertionError:  # not there yet, or not yet a store
            return False

    def stop():
        while not has_cells():
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        wt.sweep(long, store=path, workers=2)
    thread.join()
    kept = len(wt.Store(path).cells())
    assert 0 < kept < 16000
    assert wt.sweep({**long, "reps": 1}, store=path).cells == 8  # the store is closed, and can be written


def test_one_thread_at_a_time_has_a_store(store):
    long = {**GRIDS, "n": "64:512:x2", "heads": 300, "reps": 2000}
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(wt.sweep, long, store=store.path)
        while not lab._open_stores:
            threading.Event().wait(0.001)
        with pytest.raises(wt.UsageError, match="in use by another thread"):
            store.status()
        wt.cancel()
        with pytest.raises(wt.Interrupted):
            future.result()
    assert len(store.cells()) >= 12


def test_sweeps_in_a_forked_child(store, tmp_path):
    assert in_child(lambda: wt.sweep(GRIDS, store=tmp_path / "child.db").done) == ("fine", 12)
    assert in_child(lambda: wt.sweep(GRIDS, store=tmp_path / "two.db", workers=2).done) == ("fine", 12)


@pytest.mark.parametrize("given,words", [
    (dict(spec=GRIDS), "sweep needs store=FILE"),
    (dict(spec={**GRIDS, "heats": 3}, dry_run=True), "heats"),
    (dict(spec={**GRIDS, "heads": "few"}, dry_run=True), "few"),
    (dict(spec=dict(experiment="courve"), dry_run=True), "courve"),
    (dict(spec={}, dry_run=True), "experiment"),
    (dict(spec="none.ini", dry_run=True), "none.ini"),
    (dict(spec=GRIDS, dry_run=True, shard=(3, 2)), "shard: (3, 2) is not (i, n)"),
    (dict(spec=GRIDS, dry_run=True, workers=0), "workers: must be a whole number"),
    (dict(spec={**GRIDS, "n": ""}, dry_run=True), "'n=' is not of the form key=grid"),
    (dict(spec={**GRIDS, "n": object()}, dry_run=True), "n: a number, a word or a list"),
])
def test_bad_arguments_of_sweep(given, words):
    with pytest.raises((wt.Error, TypeError)) as caught:
        wt.sweep(**given)
    assert words in str(caught.value)


def test_bad_stores(tmp_path):
    with pytest.raises(wt.NoInput, match="none.db"):
        wt.Store(tmp_path / "none.db").status()
    (tmp_path / "text.db").write_text("no store at all")
    with pytest.raises(wt.DataError, match="text.db"):
        wt.Store(tmp_path / "text.db").cells()
    with pytest.raises(TypeError, match="store: a path is expected, not 3"):
        wt.Store(3)
    with pytest.raises(wt.UsageError, match="experiment: 'curves' is none of curve, recover"):
        wt.Store(tmp_path / "none.db").cells("curves")


def test_experiments_are_those_of_the_command(command):
    theirs = command("sweep", "experiments")["experiments"]
    ours = wt.experiments()
    assert list(ours) == [one["name"] for one in theirs]
    for one in theirs:
        mine = ours[one["name"]]
        assert mine.parameters.records() == one["parameters"]
        assert {key: getattr(mine, key) for key in one if key != "parameters"} == {
            key: value for key, value in one.items() if key != "parameters"}
    assert "test_error" in repr(ours["curve"])


def test_a_table_has_the_intervals_of_repetitions(store):
    found = store.table("curve", "n", "test_error", where="model=brfa")
    cells = store.frame()
    for row in found.records():
        of = cells[(cells["model"] == "brfa") & (cells["n"] == row["n"])]["test_error"]
        assert row["test_error"] == pytest.approx(of.mean(), rel=1e-14)  # the order of a sum of two
        assert row["low"] < row["test_error"] < row["high"] and row["repetitions"] == 2
    both = store.table("curve", "n", "test_error", rule="geometric")
    assert len(found) == 3 and len(both) == 6 and set(both.model) == {"rfa", "brfa"}
    ax = both.plot()
    assert [line.get_text() for line in ax.get_legend().get_texts()] == ["rfa", "brfa"]
    for given, words in ((dict(rule="median"), "rule: 'median'"), (dict(x="m"), "x: 'm' is no"), (dict(y="error"), "y: 'error' is no")):
        with pytest.raises(wt.Error, match=words):
            store.table("curve", **{"x": "n", "y": "test_error", **given})


# ---- pages and claims -----------------------------------------------------------------------------


def test_report_is_that_of_the_command(command, store, tmp_path):
    model = Path(__file__).parents[2] / "tests/fixtures/minilm.safetensors"
    theirs = command("report", store.path, "-o", tmp_path / "theirs.html", "--checkpoint", model)
    ours = wt.report(store, tmp_path / "ours.html", checkpoint=model)
    same(ours, theirs, {"output"})
    page = (tmp_path / "ours.html").read_text().replace("/ours.html", "/theirs.html").replace("ours-", "theirs-")
    assert page == (tmp_path / "theirs.html").read_text() and "Above 0 in 1 of 3 heads" in page
    assert ours.figures > 0 and repr(ours).startswith(f"{tmp_path}/ours.html: 12 cells")
    with pytest.raises(wt.UsageError, match="nothing to plot"):  # seeds for exploring measure no claim
        ours.plot()


def test_reproduce_is_that_of_the_command(command, tmp_path):
    theirs = command("reproduce", "--scale", "tiny", "--only", "rfa", "-o", tmp_path / "theirs")
    ours = wt.reproduce(tmp_path / "ours", scale="tiny", only=["rfa"], workers=2)
    same(ours, theirs, {"output", "store", "seconds"})
    again = wt.reproduce(tmp_path / "ours", scale="tiny", only="rfa")
    assert again.done == 0 and again.done_before == ours.done
    told = wt.verdicts(ours.store)
    assert [one.to_dict() for one in told] == [one.to_dict() for one in ours.claims] == theirs["claims"]
    assert len(told.plot().get_yticks()) == sum(not np.isnan(part.value) for claim in told for part in claim.parts)
    assert told["1.1"].verdict in repr(told) and len(told.frame()["claim"]) == len(told.table())
    with pytest.raises(wt.UsageError, match="tiny"):
        wt.reproduce(tmp_path / "ours", scale="quick", only="rfa")


def test_what_reproduce_would_run(command):
    theirs = command("reproduce", "--dry-run")
    ours = wt.reproduce(dry_run=True)
    assert [{**row, "seconds": 0} for row in ours.sweeps.records()] == [{**row, "seconds": 0} for row in theirs["sweeps"]]


@pytest.mark.parametrize("given,words", [
    (dict(), "reproduce needs a folder"), (dict(scale="huge", dry_run=True), "huge"), (dict(only="rfb", dry_run=True), "rfb"),
    (dict(output="/nowhere/out"), "cannot make the folder /nowhere/out"),
])
def test_bad_arguments_of_reproduce(given, words):
    with pytest.raises(wt.Error) as caught:
        wt.reproduce(**given)
    assert words in str(caught.value)


def test_a_seed_for_exploring_is_remarked():
    with pytest.warns(wt.Remark, match="seed 5 is for exploring"):
        wt.reproduce(dry_run=True, seed=5, scale="tiny")
