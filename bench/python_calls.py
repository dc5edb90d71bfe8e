#!/usr/bin/python3
"""What a call costs in Python: its time less that of the same call in C, and whole fits over theirs.

PYTHONPATH=python bench/python_calls.py    (after building release; processor time)

Short calls are repeated in a row, so that all they touch stays in the processor's caches, and the least counts. Fits are
paired, one in Python and one in C right after each other, in both orders: what Python touches has left the caches
during the fit before, as in any program that computes. The control is a second fit in C in place of the one in Python.
"""
import time
from ctypes import byref, c_void_p

import numpy as np

import wattle as wt
from wattle import _fields
from wattle._context import Context
from wattle._library import lib
from wattle._native import wt_fit_report, wt_grid, wt_model_spec, wt_problem_spec, wt_ridge_options, wt_ridge_spec

context = Context()


def least(functions, calls, rounds):
    """Seconds a call of each: the least mean of a round, in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            began = time.thread_time()
            for _ in range(calls):
                function()
            best[i] = min(best[i], (time.thread_time() - began) / calls)
    return best


def pairs(ours, theirs, rounds):
    """Seconds (rounds, 2) of calls one after the other, in both orders."""
    took = np.empty((rounds, 2))
    for turn in range(rounds):
        for i in (0, 1) if turn % 2 else (1, 0):
            began = time.thread_time()
            (ours, theirs)[i]()
            took[turn, i] = time.thread_time() - began
    return took


def middle(values):
    """The median and its 95% interval, by ranks."""
    ranked, n = np.sort(values), len(values)
    reach = 0.98 * n**0.5  # 1.96 standard deviations of the number below the median
    return np.median(ranked), ranked[max(int(n / 2 - reach) - 1, 0)], ranked[min(int(n / 2 + reach) + 1, n - 1)]


def fit_in_c(sets, heads, threads):
    """What a C program calls: the setting is read, the model fitted."""
    lib.wt_context_set_threads(context.handle, threads)
    spec = _fields.start(wt_model_spec, lib.wt_model_spec_init)
    spec.heads, spec.dim, spec.keys = heads, sets.keys.shape[2], sets.keys.shape[1]
    written = _fields.start(wt_ridge_spec, lib.wt_ridge_spec_init)
    ridge, path = _fields.start(wt_ridge_options, lib.wt_ridge_options_init), wt_grid()
    report = _fields.sized(wt_fit_report)

    def call():
        out = c_void_p()
        lib.wt_ridge_spec_read(context.handle, byref(written), byref(ridge), byref(path))
        assert lib.wt_ridge_fit(context.handle, byref(ridge), byref(spec), sets._sets.handle, None, byref(out),
                                byref(report)) == 0
        lib.wt_fitted_free(out)
        lib.wt_grid_free(byref(path))

    return call


def draw_in_c(n):
    spec = _fields.start(wt_problem_spec, lib.wt_problem_spec_init)
    spec.target, spec.dim, spec.keys = b"mean-power:2", 2, 2

    def call():
        problem, sets = c_void_p(), c_void_p()
        lib.wt_problem_new(context.handle, byref(spec), byref(problem))
        lib.wt_sets_new(context.handle, n, 2, 2, 1, False, byref(sets))
        lib.wt_problem_draw(context.handle, problem, 0, sets)
        lib.wt_sets_free(sets)
        lib.wt_problem_free(problem)

    return call


def main():
    tiny = wt.draw("mean-power:2", n=4, dim=2, keys=2)
    model = wt.fit(tiny, heads=1)
    layer = wt.teacher(heads=1, dim=2)
    x, out = np.ones((3, 2)), np.empty(6)
    place, tokens = out.ctypes.data, x.ctypes.data
    lib.wt_context_set_threads(context.handle, 1)
    predict_in_c = lambda: lib.wt_fitted_predict(context.handle, model._fitted.handle, tiny._sets.handle, place)
    apply_in_c = lambda: lib.wt_layer_forward(context.handle, layer._layer.handle, 1, 3, tokens, place)
    print(f"{'call':<24}{'Python':>10}{'C':>10}{'overhead':>10}   microseconds")
    for name, ours, theirs in (
            ("predict of sets", lambda: model.predict(tiny, threads=1), predict_in_c),
            ("predict of arrays", lambda: model.predict(tiny.query, tiny.keys, threads=1), predict_in_c),
            ("apply a layer", lambda: layer(x, threads=1), apply_in_c),
            ("draw", lambda: wt.draw("mean-power:2", n=4, dim=2, keys=2, threads=1), draw_in_c(4)),
            ("fit", lambda: wt.fit(tiny, heads=1, threads=1), fit_in_c(tiny, 1, 1))):
        ours, theirs = (1e6 * seconds for seconds in least((ours, theirs), 100, 60))
        print(f"{name:<24}{ours:>10.1f}{theirs:>10.1f}{ours - theirs:>10.1f}")
    print(f"\n{'fit':<22}{'C, ms':>8}{'Python more, us':>18}{'Python / C, median of pairs':>34}{'C / C':>10}")
    for n, heads, rounds in ((200, 50, 1000), (300, 80, 500), (500, 200, 100), (1000, 500, 40)):
        sets = wt.draw("mean-power:2", n=n)
        call = fit_in_c(sets, heads, 1)
        took = pairs(lambda: wt.fit(sets, heads=heads, threads=1), call, rounds)
        control = pairs(fit_in_c(sets, heads, 1), call, rounds)
        over, low, high = middle(took[:, 0] / took[:, 1])
        print(f"n = {n:<5}heads = {heads:<5}{1e3 * np.median(took[:, 1]):>8.2f}{1e6 * middle(took[:, 0] - took[:, 1])[0]:>18.0f}"
              f"{over:>16.4f} ({low:.4f}, {high:.4f}){np.median(control[:, 0] / control[:, 1]):>10.4f}", flush=True)


if __name__ == "__main__":
    main()
