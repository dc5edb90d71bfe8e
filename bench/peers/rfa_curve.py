"""The learning-curve job as a researcher writes it in NumPy: one repetition of rfa, fitted by ridge
for every n of a nested grid, on the data and weights that `wattle bench curve --export` wrote.
usage: rfa_curve.py EXPORT.npz float64|float32
The kernel is not divided by the number of heads, so its ridge of 1e-3 is our lambda of 1e-6.
Drawing is timed too (on numbers of its own), because ours is."""
import json
import sys
import time

import numpy as np

path, dtype = sys.argv[1], sys.argv[2]
ridge, tests = 1e-3, 1000
data = np.load(path)
query, keys, y, weights = (data[k].astype(dtype) for k in ("query", "keys", "y", "W"))
ours = data["test_error"]
n = len(y) - tests
heads, side = weights.shape[0], weights.shape[1]
rng = np.random.default_rng(0)

start = time.perf_counter()
for shape in (query.shape, keys.shape):
    drawn = rng.standard_normal(shape)
    (drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)).astype(dtype)
(rng.standard_normal(weights.shape) / 2).astype(dtype)
draw_done = time.perf_counter()
x0 = np.concatenate([query, np.ones((n + tests, 1), dtype)], 1)
x = np.concatenate([keys, np.ones(keys.shape[:2] + (1,), dtype)], 2)
q = (x0 @ weights.transpose(1, 0, 2).reshape(side, -1)).reshape(-1, heads, side)
phi = (np.maximum(q @ x.transpose(0, 2, 1), 0) @ x / keys.shape[1]).reshape(n + tests, -1)
features_done = time.perf_counter()
gram = phi[:n] @ phi[:n].T
gram_done = time.perf_counter()
errors = []
for size in (2**e for e in range(4, 24)):
    if size > n:
        break
    alpha = np.linalg.solve(gram[:size, :size] + ridge * np.eye(size, dtype=dtype), y[:size])
    wrong = phi[n:] @ (phi[:size].T @ alpha) - y[n:]
    errors.append(float((wrong**2).mean() / y[n:].var()))
end = time.perf_counter()
apart = max(abs(a - b) / abs(b) for a, b in zip(errors, ours))
print(json.dumps({"dtype": dtype, "seconds": end - start, "draw": draw_done - start,
                  "features": features_done - draw_done, "gram": gram_done - features_done,
                  "solve": end - gram_done, "apart": apart}))
