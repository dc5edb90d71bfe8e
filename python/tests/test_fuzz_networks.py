"""Arguments that make no sense end with an exception and a sentence, never with a crash."""
import random
import warnings

import numpy as np
import pytest

import wattle as wt

JUNK = [None, -1, 0, 1, 2**31, 2**63, 2**70, -0.5, 0.5, 1e308, float("nan"), float("inf"), "", "x", "\0", "9" * 400, "1:9:0", "and:99",
        "ü", b"and:2", True, object(), [], [[1]], [1, "x"], (), {}, {"n": 1}, np.zeros(3), np.zeros((2, 2)), np.full((9, 6), np.nan),
        np.zeros((0, 6)), np.array("x"), 3 + 4j, lambda: 0]
BITS = np.random.default_rng(0).integers(0, 2, (30, 6))
SMALL = dict(dim=4, heads=1, steps=2, validation_samples=9, restarts=1)
LIMITS = dict(memory="200M", threads=2)
LONG = {"train", "own", "search", "threshold"}  # with numbers that are so large that they would take for ever
CALLS = {
    "train": (wt.train, dict(task="and:2", length=6, samples=20, test_samples=9, **SMALL)),
    "own": (wt.train, dict(task=BITS, y=BITS[:, 0], to_end=True, holdout=0.5, dim=4, heads=1, steps=2)),
    "search": (wt.search, dict(task="and:2", length="9", samples="4:8:4", trials=2, noise=0, rate=0.8, seed=1)),
    "found": (wt.search, dict(task="and:1", bits=BITS, y=BITS[:, 2], fewest=True, most=3)),
    "threshold": (wt.threshold, dict(task="and:1", length=[4], samples="3:6", resolution=3, trials=1, rate=0.5, around=0, **SMALL)),
    "construct": (wt.construct, dict(function="and:2", length=9, relevant=[1, 4], draws=3, positions="basis", heads="auto")),
    "bound": (wt.bound, dict(kind="rfa", target="corr:1", dim=3, keys=2, heads=5, n=9, delta=0.1, measure=9, bias=1, tokens="sphere")),
    "capacity": (wt.bound, dict(kind="head", norms="qk21=4,v21=8,v=4", dim=8, length=9, samples=9, epsilon=0.1, depth=1)),
    "sweep": (wt.sweep, dict(spec=dict(experiment="construct", length=9), dry_run=True, workers=1, shard=(1, 2), seed=1, set={})),
    "reproduce": (wt.reproduce, dict(scale="tiny", only="rfa", dry_run=True, workers=1, seed=2000)),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_junk_is_refused_with_a_sentence(name):
    function, usual = CALLS[name]
    draw = random.Random(name)
    for _ in range(80):
        given = {**usual, **{draw.choice(list(usual)): draw.choice(JUNK) for _ in range(draw.choice((1, 1, 2)))}, **LIMITS}
        given.update({"time": 0.3} if name in LONG else {})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(**given)
        except (wt.Error, TypeError) as error:
            assert len(str(error)) > 8, given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(**usual)
