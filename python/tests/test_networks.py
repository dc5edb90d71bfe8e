"""Networks: train, search, threshold: the bits of the command, samples of one's own, files, pictures."""
import csv
import os
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import wattle as wt
from test_calls import in_child, when_busy

SMALL = dict(length=8, samples=60, dim=8, heads=2, lr=0.01, validation_samples=500, test_samples=500, seed=1)
FLAGS = ["--length", 8, "--samples", 60, "--dim", 8, "--heads", 2, "--lr", 0.01, "--validation-samples", 500,
         "--test-samples", 500, "--seed", 1]
ENDLESS = dict(length=20, samples=20, noise=0.3, dim=8, heads=2, steps=10**9, success=1, validation_samples=100, test_samples=50)


@pytest.fixture(scope="module")
def net():
    return wt.train("and:2", **SMALL)


@pytest.fixture(scope="module")
def samples():
    bits = np.random.default_rng(3).integers(0, 2, (80, 6))
    return bits, bits[:, 1] & bits[:, 4]


def agree(ours, theirs, left=()):
    """Every key of the command's object is an attribute with the same bits."""
    mine = ours.to_dict()
    compared = [key for key in theirs if key != "setting" and key not in left]
    for key in compared:
        assert mine[key] == theirs[key], key
    assert len(compared) > 4


def rows(table):
    return table.records()


def test_train_gives_the_bits_of_the_command(command, net):
    theirs = command("train", "--task", "and:2", *FLAGS)
    agree(net, theirs, {"seconds", "output", "attention", "norms", "history"})
    agree(net.attention, theirs["attention"])
    assert rows(net.norms) == theirs["norms"] and rows(net.history) == theirs["history"]


@pytest.mark.parametrize("model", ["head", "mlp"])
def test_other_models(command, model):
    flags = ["--model", model, "--length", 6, "--samples", 40, "--dim", 4, "--steps", 20, "--to-end", "--relevant", "1,3",
             "--validation-samples", 100, "--test-samples", 100]
    theirs = command("train", "--task", "parity:2", *flags)
    ours = wt.train("parity:2", model=model, length=6, samples=40, dim=4, steps=20, to_end=True, relevant=[1, 3],
                    validation_samples=100, test_samples=100)
    agree(ours, theirs, {"seconds", "output", "attention", "norms", "history"})
    assert ours.relevant.tolist() == [1, 3] and (ours.attention is None) == (model == "mlp")
    if model == "mlp":
        with pytest.raises(wt.UsageError, match="'mlp' does not attend"):
            ours.attention_weights(np.zeros((1, 6)))


def test_own_samples(command, samples, tmp_path):
    bits, y = samples
    np.savez(tmp_path / "data.npz", bits=bits, y=y)
    flags = ["--dim", 8, "--heads", 2, "--steps", 20, "--to-end", "--holdout", 0.25]
    theirs = command("train", tmp_path / "data.npz", *flags)
    options = dict(dim=8, heads=2, steps=20, to_end=True, holdout=0.25)
    for data in ((bits, y), (2 * bits - 1, 2 * y - 1), (tmp_path / "data.npz",), (bits.astype(bool), y.astype(np.float32))):
        with pytest.warns(wt.Remark, match="samples that judge have y = 0"):
            ours = wt.train(*data, **options)
        agree(ours, theirs, {"seconds", "output", "attention", "norms", "history"})
        assert rows(ours.history) == theirs["history"] and ours.relevant is None
        assert ours.attention.best_positions.tolist() == theirs["attention"]["best_positions"]


def test_validation_samples_of_ones_own(samples):
    bits, y = samples
    with pytest.warns(wt.Remark):
        ours = wt.train(bits[:60], y[:60], validation=(bits[60:], y[60:]), dim=8, heads=2, steps=10, to_end=True)
    assert ours.samples == 60
    assert ours.test_accuracy == ours.apply(bits[60:], y[60:]).accuracy


def test_files_go_both_ways(command, net, samples, tmp_path):
    path, data = tmp_path / "net.safetensors", tmp_path / "data.npz"
    bits = np.random.default_rng(1).integers(0, 2, (50, 8))
    y = bits[:, net.relevant].all(axis=1)
    np.savez(data, bits=bits, y=y)
    net.save(path)
    theirs = command("apply", path, data)
    again = wt.Network.load(path)
    for one in (net, again, pickle.loads(pickle.dumps(net))):
        ours = one.apply(bits, y)
        agree(ours, theirs, {"output"})
        assert np.array_equal(one.apply(data).probability, ours.probability)
        assert wt.apply(one, data).to_dict() == wt.apply(path, bits, y).to_dict() == ours.to_dict()
        assert np.array_equal(one.predict(bits), ours.probability > 0.5)
    command("train", "--task", "and:2", *FLAGS, "-o", tmp_path / "theirs.safetensors")
    assert path.read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    assert again.kind == "transformer" and again.length == 8
    with pytest.raises(AttributeError, match="history"):
        again.history
    assert np.isnan(again.apply(bits).accuracy)


def test_attention_weights(net):
    weights = net.attention_weights(np.eye(8))
    assert weights.shape == (8, 2, 9)
    assert np.allclose(weights.sum(axis=2), 1, rtol=0, atol=1e-5)  # floats


def test_a_training_that_misses_warns():
    with pytest.warns(wt.MissedWarning, match="no validation passed 0.99: the best accuracy of 1 run was"):
        net = wt.train("parity:3", length=20, samples=30, dim=8, heads=2, steps=5, validation_samples=100, test_samples=100)
    assert not net.success


def test_a_limit_of_time_keeps_what_there_is():
    with pytest.warns(wt.MissedWarning, match="the time is over"):
        net = wt.train(**ENDLESS, time=0.2)
    assert len(net.predict(np.zeros((3, 20)))) == 3


def test_unbalanced_labels_are_remarked():
    with pytest.warns(wt.Remark, match="to say 0 always has accuracy"):
        wt.train("and:2", probability=0.2, length=6, samples=60, dim=4, heads=1, steps=5, to_end=True, validation_samples=50,
                 test_samples=50)


def test_ctrl_c_keeps_the_state_and_resume_goes_on(tmp_path):
    path = tmp_path / "state.safetensors"
    options = dict(length=8, samples=40, dim=8, heads=2, steps=300, to_end=True, validate=50, validation_samples=20,
                   test_samples=50, seed=2)
    whole = wt.train("and:2", **options)
    limit = whole.seconds / 4
    while True:  # until it is stopped in the midst
        try:
            wt.train("and:2", **options, checkpoint=path, checkpoint_every=20, time=limit)
        except wt.Interrupted as error:
            assert "it can be resumed from" in str(error)
            break
        path.unlink()
        limit /= 2
    with pytest.raises(wt.UsageError, match="exists: resume to go on from it"):
        wt.train("and:2", **options, checkpoint=path)
    after = wt.train("and:2", **options, checkpoint=path, resume=True)
    assert rows(after.history) == rows(whole.history) and after.test_loss == whole.test_loss
    thread = when_busy(lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        wt.train("and:2", **{**options, "steps": 10**9}, checkpoint=tmp_path / "long.safetensors")
    thread.join()
    assert (tmp_path / "long.safetensors").exists()


@pytest.mark.parametrize("given,words", [
    (dict(task="xor:3"), "xor:3"),
    (dict(length=0), "length: must be a whole number of 1 or more, not 0"),
    (dict(model="cnn"), "model: 'cnn' is none of transformer"),
    (dict(model="mlp", heads=4), "heads means nothing to model='mlp'"),
    (dict(resume=True), "resume needs checkpoint"),
    (dict(online=8, samples=7), "samples and online exclude each other"),
    (dict(holdout=0.5), "holdout and validation go with samples of one's own"),
    (dict(relevant=[1, 1, 2], length=5), "1"),
    (dict(task=np.zeros((3, 2))), "samples need their labels"),
    (dict(task=np.full((9, 2), 2.0), y=np.zeros(9)), "value 0 of 'bits' is 2"),
    (dict(task=np.zeros((9, 2)), y=np.zeros(8)), "y: the shape (8,) is not (9,)"),
    (dict(task=np.zeros((9, 2)), y=np.zeros(9), length=4), "samples of one's own and length exclude"),
    (dict(task=np.full((9, 2), np.nan), y=np.zeros(9)), "'bits' is nan"),
    (dict(test_samples=1), "test_samples: must be a whole number of 2 or more"),
    (dict(task="none.npz"), "none.npz"),
])
def test_bad_arguments_of_train(given, words):
    with pytest.raises((wt.Error, TypeError)) as caught:
        wt.train(**given)
    assert words in str(caught.value)


def test_bits_that_do_not_fit(net):
    with pytest.raises(wt.DataError, match="samples of 3 bits do not fit a network of 8"):
        net.predict(np.zeros((2, 3)))
    with pytest.raises(wt.UsageError, match=r"bits: the shape \(8,\) is not \(n, T\)"):
        net.predict(np.zeros(8))


def test_one_network_in_several_threads(net):
    bits = np.random.default_rng(0).integers(0, 2, (300, 8))
    expected = net.probabilities(bits)
    with ThreadPoolExecutor(4) as pool:
        for answers in pool.map(lambda _: net.probabilities(bits, threads=1), range(40)):
            assert np.array_equal(answers, expected)
    name, answers = in_child(lambda: net.probabilities(bits).tolist())
    assert name == "fine" and answers == expected.tolist()


def test_pictures(net):
    assert len(net.plot()) == 3
    from matplotlib import pyplot

    ax = pyplot.figure().add_subplot()
    assert net.plot(ax) is ax
    pyplot.close("all")


# ---- search ---------------------------------------------------------------------------------------


def test_search_gives_the_bits_of_the_command(command, tmp_path):
    theirs = command("search", "--task", "and:2", "--length", "20,40", "--samples", "5:20:5", "--trials", 8, "--noise", 0.05,
                     "--seed", 3, "-o", tmp_path / "theirs.csv")
    ours = wt.search("and:2", length=[20, 40], samples="5:20:5", trials=8, noise=0.05, seed=3, output=tmp_path / "ours.csv")
    agree(ours, theirs, {"rows", "least"})
    assert rows(ours.rows) == theirs["rows"] and rows(ours.least) == theirs["least"]
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    assert len(ours.frame()["rate"]) == 8 and ours.plot().get_title() == "and:2 by search"


def test_search_on_samples(command, samples, tmp_path):
    bits, y = samples
    np.savez(tmp_path / "data.npz", bits=bits, y=y)
    theirs = command("search", tmp_path / "data.npz", "--task", "and:2")
    for data in ((bits, y), (tmp_path / "data.npz",)):
        ours = wt.search("and:2", *data)
        agree(ours, theirs, {"input"})
    assert ours.answers.tolist() == [[1, 4]] and ours.complete
    wrong = 1 - y
    with pytest.warns(wt.MissedWarning, match="no 2 positions explain all 80 labels as and:2"):
        assert wt.search("and:2", bits, wrong).answers.shape == (0, 2)
    assert wt.search("and:2", bits, wrong, fewest=True).errors > 0


def test_elimination_on_samples(command, samples, tmp_path):
    bits, _ = samples
    y = bits[:, [0, 2, 5]].sum(axis=1) % 2
    np.savez(tmp_path / "data.npz", bits=bits, y=y)
    ours = wt.search(bits=bits, y=y, method="elimination")
    agree(ours, command("search", tmp_path / "data.npz", "--method", "elimination"), {"input"})
    assert ours.positions.tolist() == [0, 2, 5]
    with pytest.warns(wt.MissedWarning, match="no parity explains all"):
        assert wt.search(bits=np.concatenate([bits, bits]), y=np.concatenate([y, 1 - y]),
                         method="elimination").positions is None


@pytest.mark.parametrize("given,words", [
    (dict(), "search needs a task"), (dict(task="and:2", most=3), "go with samples of one's own"),
    (dict(task="and:2", method="guess"), "method"), (dict(task="and:2", samples="20:10"), "samples"),
    (dict(bits=np.zeros((4, 3)), y=np.zeros(4)), "search needs a task"),
    (dict(task="and:2", bits=np.zeros((4, 3))), "need their labels"),
])
def test_bad_arguments_of_search(given, words):
    with pytest.raises(wt.UsageError) as caught:
        wt.search(**given)
    assert words in str(caught.value)


# ---- threshold ------------------------------------------------------------------------------------

TRIALS = dict(samples="2:20", resolution=3, trials=3, around=1, model="head", dim=8, lr=0.1, steps=150,
              validation_samples=200, seed=4)
TRIAL_FLAGS = ["--samples", "2:20", "--resolution", 3, "--trials", 3, "--around", 1, "--model", "head", "--dim", 8, "--lr", 0.1,
               "--steps", 150, "--validation-samples", 200, "--seed", 4]


def trials_of(path):
    """Rows of a file of trials, without the time they took."""
    with open(path) as text:
        return [{**row, "seconds": ""} for row in csv.DictReader(text)]


def test_threshold_gives_the_bits_of_the_command(command, tmp_path):
    theirs = command("threshold", "--task", "and:1", "--length", "4,6,9", *TRIAL_FLAGS, "-o", tmp_path / "theirs.csv")
    ours = wt.threshold("and:1", length=[4, 6, 9], **TRIALS, output=tmp_path / "ours.csv")
    agree(ours, theirs, {"lengths", "fits"})
    mine = ours.to_dict()
    assert mine["fits"] == theirs["fits"]
    for one, at, other in zip(mine["lengths"], ours.lengths, theirs["lengths"]):
        cells = [{**cell, **{"rate": cell["rate"]["value"], "low": cell["rate"]["low"], "high": cell["rate"]["high"]}}
                 for cell in other.pop("cells")]
        assert {key: one[key] for key in other} == other
        assert rows(at.cells) == cells
    assert trials_of(tmp_path / "ours.csv") == trials_of(tmp_path / "theirs.csv")
    again = wt.threshold("and:1", length=[4, 6, 9], **TRIALS, output=tmp_path / "ours.csv")  # nothing is run again
    read = wt.threshold("and:1", length=[4, 6, 9], **TRIALS, output=tmp_path / "ours.csv", dry_run=True)
    assert read.to_dict() == mine
    with pytest.raises(wt.Error, match="none is given"):
        wt.threshold("and:1", length=[4, 6, 9], **TRIALS, dry_run=True)
    assert again.to_dict() == mine and len(ours.frame()["samples"]) == sum(len(at.cells) for at in ours.lengths)
    assert len(ours.plot()) == 2 and "critical m" in repr(ours)


def test_ctrl_c_keeps_the_trials(tmp_path):
    path = tmp_path / "trials.csv"
    thread = when_busy(lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        wt.threshold("and:1", length=[30], **{**TRIALS, "trials": 10000, "all_trials": True}, output=path)
    thread.join()
    assert path.read_text().count("\n") > 1


@pytest.mark.parametrize("given,words", [
    (dict(length="9:4"), "length: "), (dict(samples="0:5"), "samples: '0:5' is no range"),
    (dict(samples="9:5"), "samples: "), (dict(rate=2), "rate"), (dict(trials=0), "trials: must be a whole number"),
    (dict(model="head", heads=4), "heads means nothing"), (dict(around=-1), "around"),
])
def test_bad_arguments_of_threshold(given, words):
    with pytest.raises((wt.Error, TypeError)) as caught:
        wt.threshold(**given)
    assert words in str(caught.value)
