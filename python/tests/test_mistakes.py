"""Likely mistakes: each is told in one sentence that says what to do."""
import numpy as np
import pytest

import wattle as wt

DATA = wt.draw("mean-power:2", n=8, dim=3, keys=2)
MODEL = wt.fit(DATA, heads=2)
LAYER = wt.teacher(heads=1, dim=3)


def assign(name, value):
    setattr(wt.settings, name, value)


@pytest.mark.parametrize("mistake,kind,sentence", [
    (lambda: wt.draw("mean-power:2", n=0), wt.UsageError, "n: must be a whole number of 1 or more, not 0"),
    (lambda: wt.draw("mean-power:2", seed=-1), wt.UsageError, "seed: must be a whole number of 0 or more, not -1"),
    (lambda: wt.draw("mean-power:2", seed=2**64), wt.UsageError,
     f"seed: must be a whole number from 0 to {2**64 - 1}, not {2**64}"),
    (lambda: wt.draw("mean-power:2", n=DATA), TypeError, "n: a whole number is expected, not Sets"),
    (lambda: wt.draw("mean-pwer:2"), wt.UsageError, "there is no target 'mean-pwer'; did you mean mean-power:p?"),
    (lambda: wt.fit(("a", "b", "c")), TypeError, "keys: real numbers are expected, not text"),
    (lambda: wt.fit((np.empty((0, 3)), np.empty((0, 2, 3)), np.empty(0))), wt.DataError,
     "keys: the shape (0, 2, 3) has no numbers"),
    (lambda: wt.fit(DATA, head=5), TypeError, "fit() has no option head: is it heads?"),
    (lambda: wt.fit(DATA, alpha=0.1), TypeError, "fit() has no option alpha: is it penalty?"),
    (lambda: wt.train("and:3", learning_rate=0.1), TypeError, "train() has no option learning_rate: is it lr?"),
    (lambda: wt.fit(DATA, heads=2, time=[3]), TypeError, "time: a number is expected, not [3]"),
    (lambda: MODEL.predict(DATA.query), TypeError,
     "query without keys: sets, a file of them or (query, keys, y, mask) are expected, not ndarray"),
    (lambda: MODEL.test_err, AttributeError, "this model has no 'test_err': is it test_error?"),
    (lambda: LAYER.verdict, AttributeError,
     "this layer has no 'verdict': a report belongs to the call that made the layer"),
    (lambda: wt.recovr, AttributeError, "module 'wattle' has no attribute 'recovr': is it recover?"),
    (lambda: assign("thread", 3), AttributeError, "there is no setting 'thread': is it threads?"),
    (lambda: LAYER(np.ma.array(np.ones((2, 3)), mask=np.eye(2, 3))), TypeError,
     "x: no array of numbers (some of its numbers are masked: fill them first)"),
    (lambda: LAYER(np.ones((2, 3), dtype=object)), TypeError,
     "x: real numbers are expected, not objects (astype(float) makes numbers of those that are)"),
    (lambda: LAYER(None), TypeError, "x: real numbers are expected, not None"),
    (lambda: wt.fit((np.ones((2, 3)), np.ones((2, 1, 3)), np.ones((2, 0)))), wt.DataError, "y: the shape (2, 0) has no numbers"),
    (lambda: wt.Layer.load("x", map="\udcff"), wt.UsageError, "map: '\\udcff' is not text"),
    (lambda: wt.Layer.load("x", fold="no"), TypeError, "fold: True or False is expected, not 'no'"),
    (lambda: wt.fit(DATA, ball=(1, 2), huber="x"), TypeError, "huber: a number is expected, not 'x'"),
    (lambda: wt.query("cat\0", dim=2), wt.UsageError, "oracle: 'cat\\x00' is not text"),
    (lambda: wt.query("cat", dim=2, timeout="long"), TypeError, "timeout: a number is expected, not 'long'"),
    (lambda: wt.reproduce("out", scale="tiny\0"), wt.UsageError, "scale: 'tiny\\x00' is not text"),
    (lambda: wt.sweep(dict(experiment="curve", modle="rfa"), dry_run=True), wt.UsageError,
     "modle: 'curve' has no such parameter; did you mean 'model'?"),
    (lambda: wt.teacher(parity=[1, 2]), wt.UsageError, "parity: '1,2' is not a whole number of 0 or more"),
    (lambda: wt.inspect("x", only=[[1], [2, 3]]), TypeError, "only: a whole number is expected, not [1]"),
    (lambda: wt.verdicts("a\0b"), wt.UsageError, "store: 'a\\x00b' is no path"),
    (lambda: wt.inspect(MODEL), TypeError, "layer: a path is expected, not Model"),
    (lambda: wt.recover_module(lambda x: x), wt.UsageError,
     "dim: this module does not tell the dimension of its tokens; give dim="),
])
def test_a_mistake_is_told_in_a_sentence(mistake, kind, sentence):
    with pytest.raises(kind) as told:
        mistake()
    assert str(told.value) == sentence
