#!/usr/bin/python3
"""AttentionClassifier and AttentionRegressor beside kernel ridge with a set kernel and beside perceptrons.

Three problems on the digits of scikit-learn (1797 images of 8 x 8 pixels):
  patches2, patches4  which digit is it? An image is the set of its patches of 2 x 2 pixels (16 of them, no overlap) or
                      4 x 4 (9, every other pixel), in an order drawn at random. A key is a patch's pixels and its place;
                      patches without ink are absent. The query is the image in as many pixels, each the mean of a
                      block, with the place of the middle.
  same                which share of the keys shows the digit of the query? Sets of 3 to 8 images, a token is an image;
                      1000 sets for training and 500 for the test, of images that are in no training set.

Five folds, the same for all. Settings are chosen within the training part: attention by its leave-one-out error, the
others by cross-validation in three. Seconds are of one processor, of the search and of a fit with what it chose; the
kernel's fit is that of its matrix too.

    PYTHONPATH=python bench/peers/sklearn_digits.py [PROBLEM..] [--folds 5] > digits.csv
"""
import argparse
import os
import sys
import time
import warnings

for library in ("OPENBLAS", "OMP"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wattle.sklearn import AttentionClassifier, AttentionRegressor, pack, unpack

PIXELS, DIGIT = load_digits(return_X_y=True)
PIXELS = PIXELS / 16


# ---- problems -----------------------------------------------------------------------------------------


def patches(size, step):
    images = PIXELS.reshape(-1, 8, 8)
    corners = [(r, c) for r in range(0, 9 - size, step) for c in range(0, 9 - size, step)]
    keys = np.stack([images[:, r:r + size, c:c + size].reshape(len(images), -1) for r, c in corners], axis=1)
    mask = keys.any(axis=2)
    place = np.array(corners) / (8 - size) - 0.5
    keys = np.concatenate([keys, np.broadcast_to(place, (len(images), *place.shape))], axis=2)
    block = 8 // size
    coarse = images.reshape(-1, size, block, size, block).mean(axis=(2, 4)).reshape(len(images), -1)
    query = np.concatenate([coarse, np.zeros((len(images), 2))], axis=1)
    order = np.argsort(np.random.default_rng(0).random(mask.shape), axis=1)
    return pack(query, np.take_along_axis(keys, order[:, :, None], axis=1), np.take_along_axis(mask, order, axis=1))


def same(pool, n, seed, least=3, most=8):
    rng = np.random.default_rng(seed)
    first = rng.choice(pool, n)
    count = rng.integers(least, most + 1, n)
    mask = np.arange(most) < count[:, None]
    alike = rng.random((n, most)) < rng.random((n, 1))
    shown = np.where(alike, DIGIT[first][:, None], (DIGIT[first][:, None] + rng.integers(1, 10, (n, most))) % 10)
    of = [pool[DIGIT[pool] == digit] for digit in range(10)]
    keys = np.array([[rng.choice(of[digit]) for digit in row] for row in shown])
    return pack(PIXELS[first], PIXELS[keys], mask), (alike & mask).sum(axis=1) / count


# ---- methods ------------------------------------------------------------------------------------------


class ByLeaveOneOut(BaseEstimator):
    """The setting with the least leave-one-out error, which every fit reports."""

    def __init__(self, estimator, grid):
        self.estimator, self.grid = estimator, grid

    def fit(self, X, y):
        fits = [clone(self.estimator).set_params(**setting).fit(X, y) for setting in ParameterGrid(self.grid)]
        self.best_estimator_ = min(fits, key=lambda fitted: fitted.model_.loo_error)
        return self


class SetKernelRidge(BaseEstimator):
    """Kernel ridge with k(A, B) = rbf(query, query') mean_ij rbf(key_i, key_j'); classes by labels -1 and 1."""

    def __init__(self, dim, gamma=1.0, alpha=1e-2, classes=False):
        self.dim, self.gamma, self.alpha, self.classes = dim, gamma, alpha, classes

    def scaled(self, X):
        query, keys, mask = unpack(X, self.dim)
        return query / self.unit, keys / self.unit, mask

    def kernel(self, X, Z):
        def rbf(a, b):
            return np.exp(-self.gamma * np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T, 0))

        (query, keys, mask), (query2, keys2, mask2) = self.scaled(X), self.scaled(Z)
        starts = np.concatenate([[0], np.cumsum(mask2.sum(1))[:-1]])
        tokens, out = keys2[mask2], rbf(query, query2)
        for i in range(0, len(X), 64):
            live = mask[i:i + 64]
            pairs = np.add.reduceat(rbf(keys[i:i + 64][live], tokens), starts, axis=1)
            pairs = np.add.reduceat(pairs, np.concatenate([[0], np.cumsum(live.sum(1))[:-1]]), axis=0)
            out[i:i + 64] *= pairs / live.sum(1)[:, None] / mask2.sum(1)
        return out

    def fit(self, X, y, kernel=None):
        query, keys, mask = unpack(X, self.dim)
        tokens = np.concatenate([query, keys[mask]])
        self.unit = np.sqrt(((tokens - tokens.mean(axis=0))**2).sum(axis=1).mean())
        labels = 2.0 * (y[:, None] == np.arange(10)) - 1 if self.classes else y
        self.mean = labels.mean(axis=0)
        self.rows = X
        self.matrix = kernel = self.kernel(X, X) if kernel is None else kernel
        self.ridge = KernelRidge(alpha=self.alpha, kernel="precomputed").fit(kernel, labels - self.mean)
        return self

    def predict(self, X, kernel=None):
        out = self.ridge.predict(self.kernel(X, self.rows) if kernel is None else kernel) + self.mean
        return out.argmax(axis=1) if self.classes else out


class KernelSearch(BaseEstimator):
    """gamma and alpha by cross-validation in three, with one kernel matrix a gamma."""

    def __init__(self, estimator, gammas, alphas):
        self.estimator, self.gammas, self.alphas = estimator, gammas, alphas

    def fit(self, X, y):
        best = None
        parts = np.random.default_rng(0).integers(0, 3, len(X))
        for gamma in self.gammas:
            ridge = clone(self.estimator).set_params(gamma=gamma)
            kernel = ridge.fit(X, y).matrix
            for alpha in self.alphas:
                values = [score(y[parts == p], ridge.set_params(alpha=alpha).fit(
                    X[parts != p], y[parts != p], kernel[np.ix_(parts != p, parts != p)]).predict(
                        X[parts == p], kernel[np.ix_(parts == p, parts != p)])) for p in range(3)]
                if best is None or np.mean(values) > best[0]:
                    best = np.mean(values), dict(gamma=gamma, alpha=alpha)
        self.best_estimator_ = clone(self.estimator).set_params(**best[1])
        return self


def score(y, found):
    """Accuracy of classes, else R^2."""
    return (y == found).mean() if y.dtype.kind == "i" else 1 - ((y - found)**2).mean() / y.var()


def chosen(method, X, y):
    """The estimator with the settings that the search found best; an estimator itself where nothing is searched."""
    if not isinstance(method, (ByLeaveOneOut, KernelSearch, GridSearchCV)):
        return clone(method)
    method = clone(method).fit(X, y)
    best = method.best_estimator_ if hasattr(method, "best_estimator_") else method.estimator.set_params(**method.best_params_)
    return clone(best)


def methods(dim, classes):
    attention = (AttentionClassifier if classes else AttentionRegressor)(dim=dim, threads=1)
    grid = {"scaling": ["coordinate", "common"], "token_scale": [1, 2]}
    yield "attention, 300 heads", ByLeaveOneOut(attention, grid), False
    yield "attention, infinitely many heads", ByLeaveOneOut(clone(attention).set_params(model="rfa-inf"), grid), False
    if classes:
        yield "attention, 100 heads, logistic", attention.set_params(loss="logistic", heads=100), False
    yield "kernel ridge, set kernel", KernelSearch(SetKernelRidge(dim, classes=classes), [0.5, 2, 8],
                                                   [1e-4, 1e-2, 1]), False
    perceptron = (MLPClassifier if classes else MLPRegressor)(max_iter=300, random_state=0)
    search = GridSearchCV(make_pipeline(StandardScaler(), perceptron),
                          {f"{type(perceptron).__name__.lower()}__alpha": [1e-2, 1]}, cv=3, refit=False)
    yield "perceptron, 100 units", search, False
    if classes:
        yield "perceptron on the image, which is no set", search, True


# ---- the run ------------------------------------------------------------------------------------------


def folds(problem, count):
    """X, y and test X, y of every fold, with the pixels of the images where a sample is one."""
    rows = None if problem == "same" else patches(2, 2) if problem == "patches2" else patches(4, 2)
    for fold, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(PIXELS, DIGIT)):
        if fold < count and rows is None:
            yield (*same(train, 1000, 2 * fold), *same(test, 500, 2 * fold + 1), None, None)
        elif fold < count:
            yield rows[train], DIGIT[train], rows[test], DIGIT[test], PIXELS[train], PIXELS[test]


def run(problem, count):
    dim = {"patches2": 6, "patches4": 18, "same": 64}[problem]
    found = {}
    for X, y, Z, z, image, image2 in folds(problem, count):
        for name, method, flat in methods(dim, problem != "same"):
            plain = isinstance(method, GridSearchCV)  # knows nothing of absent keys: zeros
            A, B = (image, image2) if flat else (np.nan_to_num(X), np.nan_to_num(Z)) if plain else (X, Z)
            begun = time.process_time()
            best = chosen(method, A, y)
            searched = time.process_time()
            best.fit(A, y)
            fitted = time.process_time()
            value = score(z, best.predict(B))
            times = searched - begun, fitted - searched, time.process_time() - fitted
            found.setdefault(name, []).append((value, *times))
            print(problem, name, f"{value:.4f}", *(f"{t:.1f}" for t in times), file=sys.stderr, flush=True)
    for name, rows in found.items():
        value, *times = np.mean(rows, axis=0)
        half = stats.t.ppf(0.975, len(rows) - 1) * np.std([r[0] for r in rows], ddof=1) / np.sqrt(len(rows))
        print(f'{problem},"{name}",{value:.4f},{value - half:.4f},{value + half:.4f},' + ",".join(f"{t:.2f}" for t in times),
              flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=["patches2", "patches4", "same"])
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("problem,method,score,low,high,search_seconds,fit_seconds,predict_seconds")
    for problem in options.problems:
        run(problem, options.folds)
