"""draw, fit, predict and score: the bits of the command, borrowed arrays, errors."""
import pickle

import numpy as np
import pytest

import wattle as wt

SMALL = dict(n=60, dim=4, keys=3, seed=5)


def small(**more):
    return wt.draw("corr-power:3", **{**SMALL, **more})


def test_draw_gives_the_bits_of_the_command(command, tmp_path):
    path = tmp_path / "data.npz"
    command("draw", "--target", "corr-power:3", "--n", 60, "--dim", 4, "--keys", 3, "--noise", "0.1", "--tokens",
            "gaussian", "--seed", 5, "-o", path)
    ours, theirs = small(noise=0.1, tokens="gaussian"), np.load(path)
    for name in ("query", "keys", "y", "beta"):
        assert np.array_equal(getattr(ours, name), theirs[name]), name
    read = wt.Sets.load(path)
    assert np.array_equal(read.keys, theirs["keys"])


@pytest.mark.parametrize("model", ["rfa", "brfa", "rfmlp", "brfa-inf"])
def test_fit_gives_the_bits_of_the_command(command, model):
    theirs = command("fit", "--target", "corr-power:3", "--n", 60, "--dim", 4, "--keys", 3, "--seed", 5, "--model", model,
                     "--heads", 40, "--lambda", "loo", "--test-n", 30)
    drawn = wt.fit(target="corr-power:3", model=model, heads=40, penalty="loo", test_n=30, **SMALL)
    given = wt.fit(small(), model=model, heads=40, penalty="loo", seed=5)
    names = {"lambda": "penalty", "lambda_rule": "penalty_rule", "lambda_at_end": "penalty_at_end"}
    left = {"seconds", "bytes", "warnings", "rank", "setting"}
    compared = 0
    for key, value in theirs.items():
        if key in left:
            continue
        ours = drawn.to_dict()[names.get(key, key)]
        assert ours == value, key
        compared += 1
        if key != "test_error":
            assert given.to_dict()[names.get(key, key)] == value, key
    assert compared >= 12


def test_ball_gives_the_bits_of_the_command(command):
    theirs = command("fit", "--target", "corr-power:3", "--n", 60, "--dim", 4, "--keys", 3, "--seed", 5, "--heads", 20,
                     "--ball", "2,5", "--loss", "huber", "--huber", "0.5")
    ours = wt.fit(small(), heads=20, seed=5, ball=(2, 5), loss="huber", huber=0.5)
    for key in ("reached", "objective", "lower_bound", "gap", "steps", "sum_norms", "m_sum_squares"):
        assert getattr(ours, key) == theirs[key], key


def test_a_ball_that_is_not_reached_warns():
    with pytest.warns(wt.MissedWarning, match="the gap is"):
        model = wt.fit(small(), heads=20, ball=(2, 5), loss="absolute", steps=1)
    assert not model.reached


def test_files_go_both_ways(command, tmp_path):
    data = small()
    data.save(tmp_path / "data.npz")
    model = wt.fit(data, heads=20)
    model.save(tmp_path / "m.safetensors")
    theirs = command("predict", tmp_path / "m.safetensors", tmp_path / "data.npz")
    assert np.array_equal(np.ravel(theirs["predictions"]), model.predict(data))
    again = wt.load(tmp_path / "m.safetensors")
    assert again.model == "rfa" and again.heads == 20
    assert np.array_equal(again.predict(data.query, data.keys), model.predict(data))
    score = command("score", tmp_path / "m.safetensors", tmp_path / "data.npz")
    assert wt.score(tmp_path / "m.safetensors", data).relative_error == score["relative_error"]
    with pytest.raises(AttributeError, match="loo_error"):
        again.loo_error


def test_a_model_is_pickled_with_its_report():
    data = small()
    model = wt.fit(data, heads=20, penalty="loo")
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(data), model.predict(data))
    assert again.to_dict() == model.to_dict()
    assert np.array_equal(pickle.loads(pickle.dumps(data)).y, data.y)


def test_masked_keys_do_not_count():
    data = small()
    keys = np.concatenate([data.keys, np.ones((60, 2, 4))], axis=1)
    mask = np.array([[True] * 3 + [False] * 2] * 60)
    plain, masked = wt.fit(data, heads=20), wt.fit((data.query, keys, data.y, mask), heads=20)
    assert np.allclose(plain.predict(data), masked.predict(data.query, keys, mask), rtol=0, atol=1e-12)  # rounding


def test_several_outputs():
    data = small()
    y = np.stack([data.y, -2 * data.y], axis=1)
    model = wt.fit((data.query, data.keys, y), heads=20)
    both = model.predict(data)
    assert model.outputs == 2 and both.shape == (60, 2)
    assert np.allclose(both[:, 0], wt.fit(data, heads=20).predict(data), rtol=0, atol=1e-12)  # rounding


def test_arrays_are_borrowed_where_they_can_be():
    query, keys, y = np.ones((5, 2)), np.ones((5, 3, 2)), np.arange(5.0)
    sets = wt.Sets(query, keys, y)
    assert sets.query is query and sets.keys is keys and sets.y is y
    floats = wt.Sets(query.astype(np.float32), keys[:, ::-1], y.astype(int))
    assert floats.query.dtype == np.float64 and floats.keys.flags.c_contiguous


def test_drawn_arrays_outlive_their_sets():
    y = small().y
    assert np.array_equal(y, small().y)


def test_results_show_themselves():
    model = wt.fit(small(), heads=20)
    assert "train error " in repr(model) and "<table>" in model._repr_html_()
    assert model.to_dict()["test_error"] is None


@pytest.mark.parametrize("call,kind,words", [
    (lambda: wt.Sets(np.ones((2, 3)), np.ones((2, 4, 5))), wt.UsageError, r"query: the shape \(2, 3\) is not \(2, 5\)"),
    (lambda: wt.Sets(np.ones((2, 3)), np.ones((2, 3))), wt.UsageError, r"keys: the shape \(2, 3\) is not \(n, N, d\)"),
    (lambda: wt.Sets(["a"], np.ones((1, 1, 1))), TypeError, "query: real numbers"),
    (lambda: wt.Sets(np.ones((1, 1)), np.ones((1, 1, 1)) * 1j), TypeError, "keys: real numbers"),
    (lambda: wt.fit((np.ones((3, 2)), np.full((3, 2, 2), np.nan), np.ones(3))), wt.DataError, "keys of sample 0"),
    (lambda: wt.fit((np.ones((3, 2)), np.ones((3, 2, 2)))), wt.DataError, "labels"),
    (lambda: wt.fit(), wt.UsageError, "neither"),
    (lambda: wt.fit("nowhere.npz"), FileNotFoundError, "nowhere.npz"),
    (lambda: wt.load("nowhere.safetensors"), wt.NoInput, "nowhere.safetensors"),
    (lambda: wt.draw("mean-power:2", n=10**15), MemoryError, "memory"),
    (lambda: wt.draw("mean-power:2", n=1000, memory="1K"), wt.OutOfMemory, "budget"),
    (lambda: wt.draw("mean-power:2", seed=-1), wt.UsageError, "seed"),
    (lambda: wt.draw("mean-power:2", threads=0), wt.UsageError, "threads"),
    (lambda: wt.draw("nonsense"), wt.UsageError, "nonsense"),
    (lambda: wt.fit(small(), time="soon"), wt.UsageError, "time"),
    (lambda: wt.fit(small(), loss="absolute"), wt.UsageError, "ball"),
    (lambda: wt.fit(small(), heads=10).predict(np.ones((2, 9)), np.ones((2, 3, 9))), wt.Error, "9"),
])
def test_what_is_wrong_is_told(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
