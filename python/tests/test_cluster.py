"""Sweeps that are submitted: processes of this machine find what one process does."""
import numpy as np
import pytest

import wattle as wt

GRIDS = dict(experiment="curve", target="mean-power:2", dim=4, keys=3, heads=20, n=[16, 32], reps=4)


def test_tasks_of_this_machine_find_what_one_process_does(tmp_path):
    wt.sweep(GRIDS, store=tmp_path / "one.db")
    made = wt.submit(GRIDS, tmp_path / "runs", 2, launcher="local")
    assert (made.cells, made.to_do, made.tasks, made.script) == (8, 8, 2, None)
    one, other = (wt.Store(path).cells() for path in (tmp_path / "one.db", tmp_path / "runs" / "results.db"))
    assert np.array_equal(np.sort(one.test_error), np.sort(other.test_error)) and set(one.hash) == set(other.hash)
    again = wt.submit(GRIDS, tmp_path / "runs", 2, launcher="local", set={"reps": 5})
    assert (again.done_before, again.to_do) == (8, 2)


def test_a_dry_run_shows_the_scripts_and_writes_nothing(command, tmp_path):
    spec, folder = tmp_path / "sweep.ini", tmp_path / "runs"
    spec.write_text("[sweep]\nexperiment = curve\ntarget = mean-power:2\ndim = 4\nkeys = 3\nheads = 20\nn = 16,32\nreps = 4\n")
    how = dict(tasks=3, throttle=2, cpus=2, partition="long", time="2:00:00", memory="1G")
    words = [word for name, value in how.items() for word in (f"--{'mem' if name == 'memory' else name}", value)]
    theirs = command("sweep", "submit", spec, "--into", folder, *words, "--dry-run")
    ours = wt.submit(spec, folder, dry_run=True, **how)
    assert "sbatch" in ours.script and "long" in ours.script and "2:00:00" in ours.script and not folder.exists()
    told = {name: value for name, value in ours.to_dict().items() if name not in ("script", "seconds", "work_seconds")}
    assert told == {name: theirs[name] for name in told}  # about how long depends on how busy the machine is


@pytest.mark.parametrize("wrong,kind,words", [
    (dict(tasks=0), wt.UsageError, "tasks: must be a whole number of 1 or more, not 0"),
    (dict(launcher="cloud"), wt.UsageError, "launcher: 'cloud' is neither 'slurm' nor 'local'"),
    (dict(set=3), TypeError, "set: a dictionary is expected, not 3"),
    (dict(partition="a\0b"), wt.UsageError, "partition: 'a\\x00b' is not text"),
])
def test_what_is_wrong_is_told(wrong, kind, words, tmp_path):
    with pytest.raises(kind) as told:
        wt.submit(**{**dict(spec=GRIDS, into=tmp_path / "runs", tasks=2, dry_run=True), **wrong})
    assert str(told.value) == words
