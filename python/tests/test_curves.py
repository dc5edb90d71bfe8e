"""curve and grid: the numbers of the command, its table, its file."""
import csv

import numpy as np
import pytest

import wattle as wt

SETTING = dict(models=["rfa", "brfa"], targets=["mean-power:2", "corr-power:3"], n=wt.grid("16:64:x2"), reps=3,
               heads=[10, 20], dim=4, keys=3, penalty="loo", test_n=50, seed=7)
WORDS = ("curve", "--model", "rfa,brfa", "--target", "mean-power:2,corr-power:3", "--n", "16:64:x2", "--reps", 3,
         "--heads", "10,20", "--dim", 4, "--keys", 3, "--lambda", "loo", "--test-n", 50, "--seed", 7)


@pytest.mark.filterwarnings("ignore::wattle.Remark")
def test_a_curve_has_the_numbers_of_the_command(command, tmp_path):
    ours = wt.curve(**SETTING, output=tmp_path / "ours.csv")
    theirs = command(*WORDS, "-o", tmp_path / "theirs.csv")
    assert len(ours) == len(theirs["curves"]) == 8
    for line, other in zip(ours, theirs["curves"]):
        for key in ("model", "target", "activation", "dim", "keys", "heads"):
            assert getattr(line, key) == other[key]
        assert line.rate.value == other["rate"]["mean"]
        assert line.error.tolist() == [at["mean"] for at in other["summary"]]
        assert line.points["test_error"].ravel().tolist() == [point["test_error"] for point in other["points"]]
    assert (tmp_path / "ours.csv").read_text() == (tmp_path / "theirs.csv").read_text()
    frame = ours.frame()
    rows = list(csv.DictReader(open(tmp_path / "ours.csv")))
    assert list(frame) == list(rows[0])
    assert np.array_equal(np.asarray(frame["test_error"]), [float(row["test_error"]) for row in rows])


@pytest.mark.filterwarnings("ignore::wattle.Remark")
def test_a_curve_shows_itself():
    curve = wt.curve(**SETTING)
    assert repr(curve).startswith("model") and "brfa M=20" in repr(curve)
    assert curve._repr_html_().count("<tr>") == 25
    panels = curve.plot()
    assert [panel.get_title() for panel in panels] == ["mean-power:2", "corr-power:3"]
    assert len(panels[0].get_legend().get_texts()) == 4
    single = wt.curve(models="rfa", targets="mean-power:2", n=32, heads=[5, 10, 20], reps=2, dim=4, keys=3)
    assert single.plot().get_xlabel() == "heads"


def test_a_curve_of_own_data():
    data = wt.draw("mean-power:2", n=100, dim=4, keys=3)
    curve = wt.curve(data, models="rfa", n=[16, 32], reps=2, heads=10)
    assert curve[0].target == "data" and curve.tokens == ""
    with pytest.raises(wt.UsageError, match="hold-out"):
        wt.curve(data, n=[16, 90])
    with pytest.raises(wt.UsageError, match="exclude"):
        wt.curve(data, targets="mean-power:2")


@pytest.mark.parametrize("text,numbers", [("16:128:x2", [16, 32, 64, 128]), ("1,2,4", [1, 2, 4]), ("0.5:1:0.25", [0.5, 0.75, 1])])
def test_grid(text, numbers):
    assert wt.grid(text).tolist() == numbers


def test_no_grid():
    with pytest.raises(wt.UsageError, match="1:2:x"):
        wt.grid("1:2:x")
