"""AttentionRegressor and AttentionClassifier: scikit-learn's own checks, sets of several keys, what is refused."""
import os
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

import wattle as wt

pytest.importorskip("sklearn")
import joblib
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from wattle import _progress
from wattle.sklearn import AttentionClassifier, AttentionRegressor, pack, unpack

LOGISTIC = dict(loss="logistic", heads=20, threads=1)


@parametrize_with_checks([
    AttentionRegressor(), AttentionClassifier(), AttentionClassifier(loss="logistic", threads=1),
    AttentionRegressor(dim=1, heads=20, threads=1), AttentionClassifier(dim=1, heads=20, threads=1),
])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def sets(n=80, keys=3, seed=3):
    """Sets of up to `keys` keys in 4 dimensions, some of them absent, packed."""
    data = wt.draw("mean-power:2", n=n, dim=4, keys=keys, seed=seed)
    mask = np.random.default_rng(seed).random((n, keys)) < 0.7
    mask[:, 0] = True
    return pack(data.query, data.keys, mask), data.y - np.median(data.y)


def small(**more):
    return AttentionRegressor(dim=4, heads=20, threads=1, **more)


def sorter(**more):
    return AttentionClassifier(dim=4, **{"heads": 20, "threads": 1, **more})


# ---- rows ---------------------------------------------------------------------------------------------


def test_rows_go_both_ways():
    X, _ = sets()
    query, keys, mask = unpack(X, 4)
    assert keys.shape == (80, 3, 4) and not mask.all() and not keys[~mask].any()
    assert np.array_equal(pack(query, keys, mask), X, equal_nan=True)
    again, only, live = unpack(query)
    assert np.array_equal(again, query) and np.array_equal(only[:, 0], query) and live.all()


@pytest.mark.parametrize("change,dim,words", [
    (lambda X: X[:, :15], 4, "n_features = 15 is no query and keys of dim=4"),
    (lambda X: X[:, :4], 4, "n_features = 4 is no query"),
    (lambda X: X, 0, "dim"),
    (lambda X: put(X, (7, 1), np.nan), 4, "row 7 contains NaN in its query"),
    (lambda X: put(X, (7, 5), np.nan), 4, "row 7 contains NaN in a part of key 0"),
    (lambda X: put(X, (7, 5), np.inf), 4, "infinity"),
    (lambda X: put(X, (7, 0), -np.inf), 4, "infinity"),
    (lambda X: put(X, (7, slice(4, None)), np.nan), 4, "row 7 has no key"),
    (lambda X: X * 1e200, 4, "coordinate 0 of the tokens is too large"),
    (lambda X: put(X, (7, 4), np.nan), None, "NaN"),
    (lambda X: put(X, (7, 4), np.inf), None, "infinity"),
])
def test_rows_that_are_refused(change, dim, words):
    X, y = sets()
    X = np.nan_to_num(X)
    wrong = change(X.copy())
    with pytest.raises(ValueError, match=words):
        small().set_params(dim=dim).fit(wrong, y)
    with pytest.raises(ValueError, match=words):
        sorter().set_params(dim=dim).fit(wrong, y > 0)
    if dim != 0 and wrong.shape == X.shape and "too large" not in words:
        fitted = small().set_params(dim=dim).fit(X, y)
        with pytest.raises(ValueError, match=words):
            fitted.predict(wrong)


def put(X, place, value):
    X[place] = value
    return X


# ---- sets of several keys -----------------------------------------------------------------------------


def test_it_is_the_fit_of_the_library():
    X, y = sets()
    query, keys, mask = unpack(X, 4)
    plain = wt.fit((query, keys, y, mask), heads=20, seed=5, penalty="loo", standardize=True)
    ours = small(seed=5, scaling="none").fit(X, y)
    assert np.array_equal(ours.predict(X), plain.predict(query, keys, mask))
    assert ours.model_.loo_error == plain.loo_error


def test_keys_have_no_order_and_absent_ones_do_not_count():
    X, y = sets()
    fitted = small().fit(X, y)
    query, keys, mask = unpack(X, 4)
    turned = pack(query, keys[:, ::-1], mask[:, ::-1])
    assert np.allclose(fitted.predict(turned), fitted.predict(X), rtol=0, atol=1e-11)  # sums in another order
    wider = np.hstack([X, np.full((80, 4), np.nan)])
    assert np.allclose(small().fit(wider, y).predict(wider), fitted.predict(X), rtol=0, atol=1e-11)


def test_units_of_the_tokens_do_not_matter():
    X, y = sets()
    query, keys, mask = unpack(X, 4)
    unit, origin = np.array([1e-6, 1, 30, 1e5]), np.array([1, -3, 0, 2e5])
    other = pack(query * unit + origin, keys * unit + origin, mask)
    # 2e5 beside 1e5 takes a digit or two of the sixteen; the fit has a condition below 1e6
    assert np.allclose(small().fit(other, y).predict(other), small().fit(X, y).predict(X), rtol=0, atol=1e-6)
    same = pack(query * 30 - 3, keys * 30 - 3, mask)
    common = small(scaling="common")
    assert np.allclose(clone(common).fit(same, y).predict(same), common.fit(X, y).predict(X), rtol=0, atol=1e-6)
    assert np.unique(common.token_divisor_).size == 1


@pytest.mark.parametrize("scaling", ["coordinate", "common"])
def test_the_length_of_tokens_is_the_scale(scaling):
    X, y = sets()
    X[:, 3::4] = np.where(np.isnan(X[:, 3::4]), np.nan, 7.1)  # a coordinate that does not vary
    fitted = small(scaling=scaling, token_scale=2).fit(X, y)
    query, keys, mask = unpack(X, 4)
    tokens = (np.concatenate([query, keys[mask]]) - fitted.token_mean_) / fitted.token_divisor_
    # of the coordinates that vary, 3 of 4 where each has its own deviation
    assert np.square(tokens).sum(axis=1).mean() == pytest.approx(3 if scaling == "coordinate" else 4, rel=1e-9)


def test_it_learns():
    data = wt.draw("mean-power:2", n=600, dim=4, keys=3, seed=1)
    X, y = pack(data.query, data.keys), data.y
    for model in ("rfa", "rfa-inf"):  # 0.97 and 0.99 were seen
        assert AttentionRegressor(model, dim=4, heads=100).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    above = y > np.median(y)
    for loss in ("square", "logistic"):  # 0.93 and 0.96 were seen
        found = AttentionClassifier(dim=4, loss=loss, heads=50, threads=1).fit(X[:200], above[:200])
        assert found.score(X[200:], above[200:]) > 0.75


def test_float32_lists_and_frames():
    X, y = sets()
    expected = small().fit(X, y).predict(X)
    # float32 has 7 digits, and the smallest lambda of the path lets errors grow a hundredfold or so
    assert np.allclose(small().fit(X.astype(np.float32), y.astype(np.float32)).predict(X.astype(np.float32)), expected,
                       rtol=0, atol=1e-3)
    assert np.array_equal(small().fit(X.tolist(), y.tolist()).predict(X), expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    fitted = small().fit(frame, y)
    assert np.array_equal(fitted.predict(frame), expected) and fitted.feature_names_in_[5] == "x5"


def test_tensors_and_masked_arrays():
    X, y = sets()
    with pytest.raises(TypeError, match="X: .*masked"):  # scikit-learn would take what is under the mask
        small().fit(np.ma.masked_less(np.nan_to_num(X), 0), y)
    torch = pytest.importorskip("torch", reason="python3-torch is not installed")
    tensors = torch.tensor(X, requires_grad=True), torch.tensor(y, requires_grad=True)
    assert np.array_equal(small().fit(*tensors).predict(tensors[0]), small().fit(X, y).predict(X))


def test_labels_of_several_columns_keep_their_shape():
    X, y = sets()
    assert small().fit(X, y[:, None]).predict(X).shape == (80, 1)
    both = small(penalty=0.1).fit(X, np.stack([y, 1 - 3 * y], axis=1)).predict(X)
    single = small(penalty=0.1).fit(X, y).predict(X)
    assert np.allclose(both, np.stack([single, 1 - 3 * single], axis=1), rtol=0, atol=1e-11)  # rounding


def test_labels_that_do_not_vary():
    X, _ = sets()
    assert np.allclose(small().fit(X, np.full(80, 2.5)).predict(X), 2.5, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="1 class"):
        sorter().fit(X, np.ones(80))


# ---- classes ------------------------------------------------------------------------------------------


def test_one_factorisation_gives_every_class_against_the_rest():
    X, y = load_iris(return_X_y=True)
    fit = dict(heads=30, penalty=0.1, threads=1)
    together = AttentionClassifier(**fit).fit(X, y)
    scores = together.decision_function(X)
    for k in range(3):
        alone = AttentionClassifier(**fit).fit(X, y == k)
        assert np.allclose(alone.decision_function(X), scores[:, k], rtol=0, atol=1e-9)  # rounding
    assert np.array_equal(together.predict(X), scores.argmax(axis=1))


def test_probabilities_are_those_of_the_logistic_loss():
    X, y = load_iris(return_X_y=True)
    three = AttentionClassifier(**LOGISTIC).fit(X[::2], y[::2])
    chances = three.predict_proba(X[1::2])
    assert np.allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-12) and (chances > 0).all()
    assert np.array_equal(three.classes_[chances.argmax(axis=1)], three.predict(X[1::2]))
    assert -np.log(chances[np.arange(75), y[1::2]]).mean() < 0.3  # 1.1 knows nothing; 0.1 was seen
    two = AttentionClassifier(**LOGISTIC).fit(X[50:], np.where(y[50:] == 2, "b", "a"))
    scores = two.decision_function(X[50:])
    assert np.allclose(two.predict_proba(X[50:])[:, 1], 1 / (1 + np.exp(-scores)), rtol=1e-12, atol=0)
    assert set(two.predict(X[50:])) == {"a", "b"} and two.model_.relative_gap <= 1e-3


def test_balls_of_ones_own():
    X, y = sets()
    ball = (2.0, 5.0)
    fitted = sorter(loss="logistic", ball=ball).fit(X, y > 0)
    assert (fitted.model_.k1, fitted.model_.k2) == ball and fitted.model_.sum_norms <= 2.0 * (1 + 1e-9)
    ridge = sorter().fit(X, y > 0).model_.m_sum_squares
    assert sorter(loss="logistic", ball=3).fit(X, y > 0).model_.k2 == pytest.approx(9 * ridge, rel=1e-12)
    with pytest.warns(wt.MissedWarning, match="the gap is"):
        sorter(loss="logistic", steps=1, tolerance=1e-9).fit(X, y > 0)


def test_the_square_loss_has_no_probabilities_of_its_own():
    X, y = load_iris(return_X_y=True)
    square = AttentionClassifier(heads=20, threads=1)
    assert not hasattr(square.fit(X, y), "predict_proba") and hasattr(AttentionClassifier(**LOGISTIC), "predict_proba")
    calibrated = CalibratedClassifierCV(square, cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("estimator,words", [
    (sorter(loss="hinge"), "loss: 'hinge' is neither"),
    (sorter(loss="logistic", model="rfa-inf"), "rfa-inf"),
    (sorter(loss="logistic", ball=-1), "ball"),
    (sorter(model="cnn"), "model: .*cnn"),
    (sorter(heads=0), "heads"),
    (sorter(penalty="none"), "penalty: .*none"),
    (sorter(seed=-1), "seed"),
    (sorter(scaling="most"), "scaling: 'most'"),
    *((sorter(token_scale=scale), "token_scale") for scale in (0, -1, np.nan, np.inf)),
])
def test_parameters_that_are_refused(estimator, words):
    X, y = sets()
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, y > 0)


# ---- among scikit-learn's other parts -----------------------------------------------------------------


def test_clones_and_pickles():
    X, y = sets()
    fitted = small(model="brfa", seed=2).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X), fitted.predict(X)) and again.model_.penalty == fitted.model_.penalty
    assert clone(fitted).get_params() == fitted.get_params() and not hasattr(clone(fitted), "model_")


def test_pipelines():
    X, y = sets()
    steps = make_pipeline(FunctionTransformer(lambda rows: rows * 2), StandardScaler(), small())
    assert steps.fit(X, y).predict(X).shape == (80,)  # NaN passes through
    assert np.isfinite(cross_val_score(small(), X, y, cv=3)).all()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_grids_give_the_same_numbers_in_every_backend(backend):
    X, y = sets()
    search = GridSearchCV(AttentionRegressor(dim=4, heads=10), {"model": ["rfa", "brfa"], "token_scale": [0.5, 1]}, cv=2)
    here = search.fit(X, y).cv_results_["mean_test_score"]
    with joblib.parallel_backend(backend, n_jobs=2):
        there = clone(search).fit(X, y).cv_results_["mean_test_score"]
    assert np.array_equal(here, there)


def test_processes_of_joblib_share_the_processors(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert AttentionRegressor()._threads() == 1 and AttentionRegressor(threads=2)._threads() == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "100000")
    assert AttentionRegressor()._threads() == len(os.sched_getaffinity(0))
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert AttentionRegressor()._threads() is None


def test_fits_show_nothing(capfd, monkeypatch):
    monkeypatch.setattr(_progress, "DELAY", 0)
    monkeypatch.setattr(wt.settings, "progress", True)
    X, y = sets()
    small().fit(X, y).predict(X)
    sorter(loss="logistic").fit(X, y > 0)
    assert capfd.readouterr() == ("", "") and not _progress.thread.silent


def test_tags_of_both_kinds():
    assert AttentionRegressor()._get_tags()["allow_nan"] is False and AttentionRegressor()._get_tags()["multioutput"]
    assert AttentionRegressor(dim=2)._get_tags()["allow_nan"] is True

    class Later:  # as scikit-learn from 1.6 on has it
        def __sklearn_tags__(self):
            return types.SimpleNamespace(input_tags=types.SimpleNamespace(allow_nan=False))

    for dim, allowed in ((None, False), (2, True)):
        for kind in (AttentionRegressor, AttentionClassifier):
            later = type("Both", (kind, Later), {})(dim=dim)
            assert later.__sklearn_tags__().input_tags.allow_nan is allowed


def test_the_package_needs_no_scikit_learn():
    program = ("import sys, wattle; assert 'sklearn' not in sys.modules; sys.modules['sklearn'] = None\n"
               "try: wattle.sklearn\nexcept ImportError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "wattle.sklearn needs scikit-learn: install python3-sklearn\n", done.stderr
    assert wt.sklearn.AttentionRegressor is AttentionRegressor
