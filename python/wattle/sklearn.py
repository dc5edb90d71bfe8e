"""Estimators for scikit-learn: random-feature attention over sets of tokens.

A row of X is a set: the query's coordinates, then those of each key, (1 + N) dim columns in all. A key
whose coordinates are all NaN is absent. pack() makes such rows, unpack() takes them apart. With
dim=None a row is a single token, which is the query and its only key.

>>> import numpy as np, wattle as wt
>>> from wattle.sklearn import AttentionRegressor, pack
>>> data = wt.draw("mean-power:2", n=300, dim=4, keys=3, seed=1)
>>> X = pack(data.query, data.keys)
>>> X.shape
(300, 16)
>>> bool(AttentionRegressor(dim=4).fit(X[:200], data.y[:200]).score(X[200:], data.y[200:]) > 0.95)
True
"""
from __future__ import annotations

import math
import os
from contextlib import contextmanager
from typing import Any, Dict, Iterator, Optional, Tuple, TypeVar, Union

import numpy as np
import numpy.typing as npt

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
except ImportError:
    raise ImportError("wattle.sklearn needs scikit-learn: install python3-sklearn") from None
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _context, _progress, features
from ._arrays import Array, mask_of, numbers, real_array
from ._context import whole
from ._errors import DataError, UsageError
from ._fields import Values

try:
    from sklearn.utils.validation import validate_data as _validate
except ImportError:  # before 1.6

    def _validate(estimator: Any, X: Any, *, ensure_all_finite: Any, **more: Any) -> Any:
        return estimator._validate_data(X, force_all_finite=ensure_all_finite, **more)


def _plain(given: Any, name: str) -> Any:
    """Tensors of torch as arrays, without their gradients; scikit-learn knows the rest, but for masked numbers."""
    return real_array(given, name) if hasattr(given, "detach") or isinstance(given, np.ma.MaskedArray) else given


__all__ = ["AttentionClassifier", "AttentionRegressor", "pack", "unpack"]

Mask = npt.NDArray[np.bool_]
E = TypeVar("E", bound="_Attention")


def pack(query: Any, keys: Any, mask: Any = None) -> Array:
    """Rows of X (n, (1 + N) dim) from query (n, dim), keys (n, N, dim) and, where not all are there, mask (n, N).

    >>> pack([[1, 2]], [[[3, 4], [5, 6]]], mask=[[1, 0]])
    array([[ 1.,  2.,  3.,  4., nan, nan]])
    """
    tokens = numbers(keys, "keys", ("n", "N", "d"))
    n, slots, dim = tokens.shape
    rows = np.concatenate([numbers(query, "query", (n, dim))[:, None], tokens], axis=1)
    if mask is not None:
        rows[:, 1:][mask_of(mask, "mask", (n, slots)) == 0] = np.nan
    return np.asarray(rows.reshape(n, (1 + slots) * dim))


def unpack(X: Any, dim: Optional[int] = None) -> Tuple[Array, Array, Mask]:
    """Query (n, dim), keys (n, N, dim) and mask (n, N) of rows that pack() made; absent keys are zeros.

    NaN in a query or in some coordinates of a key, infinity, and a row without keys are refused.

    >>> query, keys, mask = unpack([[1, 2, 3, 4, np.nan, np.nan]], dim=2)
    >>> query, mask
    (array([[1., 2.]]), array([[ True, False]]))
    """
    rows = numbers(X, "X", ("n", "columns"))
    n, columns = rows.shape
    if dim is None:
        rows = np.concatenate([rows, rows], axis=1)
        width = columns
    else:
        width = whole(dim, "dim")
        if columns % width or columns < 2 * width:
            raise UsageError(f"X: n_features = {columns} is no query and keys of dim={width}: (1 + N) times dim columns "
                             "are expected, with N of 1 or more")
    tokens = rows.reshape(n, -1, width)
    with np.errstate(over="ignore", invalid="ignore"):
        total = rows.sum()
    if not np.isfinite(total):  # the sum of what is finite may overflow: then this only takes longer
        if np.isinf(rows).any():
            raise DataError(f"X: row {int(np.isinf(rows).any(axis=1).argmax())} contains infinity")
        lost = np.isnan(tokens)
        absent = lost[:, 1:].all(axis=2)
        part = lost.any(axis=2)
        part[:, 1:] &= ~absent
        if part.any():
            row, token = np.argwhere(part)[0]
            raise DataError(f"X: row {row} contains NaN in its query" if token == 0 else
                            f"X: row {row} contains NaN in a part of key {token - 1}; an absent key is NaN in all of it")
        if absent.all(axis=1).any():
            raise DataError(f"X: row {int(absent.all(axis=1).argmax())} has no key: all of them are NaN")
        return tokens[:, 0], np.where(absent[:, :, None], 0.0, tokens[:, 1:]), ~absent
    return tokens[:, 0], tokens[:, 1:], np.ones((n, tokens.shape[1] - 1), dtype=np.bool_)


@contextmanager
def _silence() -> Iterator[None]:
    """No bar of progress from this thread: estimators run side by side."""
    before, _progress.thread.silent = _progress.thread.silent, True
    try:
        yield
    finally:
        _progress.thread.silent = before


#: What check_estimator asks of columns in any order and with NaN anywhere, and sets with dim= do not promise.
_EXPECTED = {
    "check_estimators_pickle": "puts NaN into the query, which is refused",
    "check_regressors_train": "its labels depend on the order of the columns, and keys have none",
}


class _Attention(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: rows to sets, and the fit of the library."""

    model: str
    heads: int
    width: int
    bias: float
    activation: str
    penalty: Union[float, str]
    penalty_path: Values
    scaling: str
    token_scale: float
    dim: Optional[int]
    seed: int
    threads: Optional[int]

    def _finite(self) -> Any:
        return True if self.dim is None else "allow-nan"

    def _more_tags(self) -> Dict[str, Any]:  # scikit-learn before 1.6
        return {"allow_nan": self.dim is not None, "_xfail_checks": {} if self.dim is None else _EXPECTED}

    def __sklearn_tags__(self) -> Any:  # 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.dim is not None
        return tags

    def _threads(self) -> Optional[int]:
        """As joblib tells its processes: they share the processors."""
        told = os.environ.get("OMP_NUM_THREADS", "")
        if self.threads is not None or _context.settings.threads is not None or not told.isdecimal():
            return self.threads
        return max(1, min(int(told), len(os.sched_getaffinity(0))))

    def _measure(self, query: Array, keys: Array, mask: Mask) -> None:
        """What is taken from every token, and what it is then divided by, a number a coordinate."""
        if self.scaling not in ("coordinate", "common", "none"):
            raise UsageError(f"scaling: {self.scaling!r} is none of 'coordinate', 'common', 'none'")
        scale = float(self.token_scale)
        if not (scale > 0 and math.isfinite(scale)):
            raise UsageError(f"token_scale: {self.token_scale!r} is no number above 0")
        tokens = query if self.dim is None else np.concatenate([query, keys[mask]])
        dim = tokens.shape[1]
        self.token_mean_, length = np.zeros(dim), np.ones(dim)
        if self.scaling != "none":
            with np.errstate(over="ignore", invalid="ignore"):
                self.token_mean_, deviation = tokens.mean(axis=0), tokens.std(axis=0)
            if not np.isfinite(deviation).all():
                raise DataError(f"X: coordinate {int(np.isfinite(deviation).argmin())} of the tokens is too large to be scaled")
            deviation[deviation <= (10 + len(tokens)) * np.finfo(float).eps * np.abs(self.token_mean_)] = 0.0  # rounding
            if self.scaling == "common":
                deviation[:] = math.sqrt(np.square(deviation).mean())
            length = np.where(deviation == 0.0, 1.0, deviation * math.sqrt(dim))
        self.token_divisor_ = length / scale

    def _sets(self, X: Array, first: bool = False) -> features.Sets:
        query, keys, mask = unpack(X, self.dim)
        if first:
            self._measure(query, keys, mask)
        return features.Sets((query - self.token_mean_) / self.token_divisor_, (keys - self.token_mean_) / self.token_divisor_,
                             mask=None if mask.all() else mask)

    def _fit(self, sets: features.Sets, labels: Array, **options: Any) -> features.Model:
        if not options:
            options = dict(penalty=self.penalty, penalty_path=self.penalty_path, standardize=True)
        with _silence():
            return features.fit((sets.query, sets.keys, labels, sets.mask), model=self.model, heads=self.heads,
                                width=self.width, bias=self.bias, activation=self.activation, seed=self.seed,
                                threads=self._threads(), **options)

    def _output(self, X: Any) -> Array:
        check_is_fitted(self)
        X = _validate(self, _plain(X, "X"), reset=False, dtype=np.float64, order="C", ensure_all_finite=self._finite())
        with _silence():
            return np.asarray(self.model_.predict(self._sets(X), threads=self._threads())).reshape(len(X), -1)


_PARAMETERS = """
    Parameters:
        model: rfa, brfa (a bias towards keys like the query) or rfmlp (no attention), or rfa-inf, brfa-inf,
            rfmlp-inf, the limits of infinitely many heads.
        heads: random heads M; the cost of a fit grows in proportion.
        width: units of rfmlp; 0 = heads * (dim + 1).
        bias: c of brfa and brfa-inf.
        activation: relu or softmax.
        penalty: lambda of the ridge: a number, or loo, gcv, min-norm. loo takes the one of penalty_path with the
            least leave-one-out error, from one factorisation each.
        penalty_path: lambdas to choose from.
        scaling: coordinate: every coordinate of the tokens is centred and divided by its own deviation, over all
            tokens, query and keys alike; common: all are divided by one number, as fits pixels; none: as they are.
        token_scale: the length of a token after that, in the mean square; without scaling, what it is multiplied by.
        dim: coordinates of a token; None = a row is one token, the query and its only key.
        seed: of the random heads.
        threads: of a fit or prediction; None = all processors, or what joblib gives its processes.
"""


def _document(cls: Any) -> Any:
    cls.__doc__ = cls.__doc__.replace("\n    PARAMETERS\n", _PARAMETERS)
    return cls


@_document
class AttentionRegressor(MultiOutputMixin, RegressorMixin, _Attention):  # type: ignore[misc]
    """Ridge regression on random-feature attention, for labels (n) or (n, q).

    PARAMETERS
    Attributes:
        model_: the wattle.Model, with its report: penalty, loo_error, train_error and others.
        token_mean_, token_divisor_: what is taken from tokens, and what they are divided by.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(cross_val_score(AttentionRegressor(heads=50), X, y).mean() > 0.4)
    True
    """

    def __init__(self, model: str = "rfa", *, heads: int = 300, width: int = 0, bias: float = 4,
                 activation: str = "relu", penalty: Union[float, str] = "loo", penalty_path: Values = "1e-8:10:x10",
                 scaling: str = "coordinate", token_scale: float = 1.0, dim: Optional[int] = None, seed: int = 0,
                 threads: Optional[int] = None) -> None:
        self.model = model
        self.heads = heads
        self.width = width
        self.bias = bias
        self.activation = activation
        self.penalty = penalty
        self.penalty_path = penalty_path
        self.scaling = scaling
        self.token_scale = token_scale
        self.dim = dim
        self.seed = seed
        self.threads = threads

    def fit(self: E, X: Any, y: Any) -> E:
        """Fits the value vectors to rows X (n, (1 + N) dim) and labels y (n) or (n, q)."""
        X, y = _plain(X, "X"), _plain(y, "y")
        X, y = _validate(self, X, y=y, dtype=np.float64, order="C", ensure_all_finite=self._finite(), multi_output=True,
                         y_numeric=True, ensure_min_samples=2)
        self._shape = np.shape(y)[1:]
        self.model_ = self._fit(self._sets(X, first=True), np.asarray(y, dtype=np.float64))
        return self

    def predict(self, X: Any) -> Array:
        """Labels (n) or (n, q)."""
        out = self._output(X)
        return out.reshape(len(out), *self._shape)


def _is_logistic(estimator: "AttentionClassifier") -> bool:
    return estimator.loss == "logistic"


@_document
class AttentionClassifier(ClassifierMixin, _Attention):  # type: ignore[misc]
    """Classes by random-feature attention, one against the rest where there are more than two.

    loss="square" is a ridge regression on labels -1 and 1, all classes from one factorisation; its scores
    are no probabilities (sklearn.calibration makes such of them). loss="logistic" minimises the sum over
    the classes of the mean logistic loss in a norm ball, has predict_proba, and takes longer: it starts
    with the ridge, whose norm is the measure of the ball.

    PARAMETERS
        loss: square or logistic.
        ball: of the logistic loss: a number, how many times the norm that the ridge has; or (K1, K2), see
            wattle.fit.
        tolerance, steps: of the logistic loss: the duality gap wanted, as a part of the loss at 0, and the most steps.

    Attributes:
        classes_: the classes.
        model_: the wattle.Model of all classes, with its report.
        token_mean_, token_divisor_: what is taken from tokens, and what they are divided by.

    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_wine(return_X_y=True)
    >>> bool(cross_val_score(AttentionClassifier(heads=50), X, y).mean() > 0.95)
    True
    """

    def __init__(self, model: str = "rfa", *, loss: str = "square", heads: int = 300, width: int = 0, bias: float = 4,
                 activation: str = "relu", penalty: Union[float, str] = "loo", penalty_path: Values = "1e-8:10:x10",
                 ball: Union[float, Tuple[float, float]] = 4.0, tolerance: float = 1e-3, steps: int = 20000,
                 scaling: str = "coordinate", token_scale: float = 1.0, dim: Optional[int] = None, seed: int = 0,
                 threads: Optional[int] = None) -> None:
        self.model = model
        self.loss = loss
        self.heads = heads
        self.width = width
        self.bias = bias
        self.activation = activation
        self.penalty = penalty
        self.penalty_path = penalty_path
        self.ball = ball
        self.tolerance = tolerance
        self.steps = steps
        self.scaling = scaling
        self.token_scale = token_scale
        self.dim = dim
        self.seed = seed
        self.threads = threads

    def fit(self: E, X: Any, y: Any) -> E:
        """Fits the value vectors of all classes to rows X (n, (1 + N) dim) and classes y (n)."""
        if self.loss not in ("square", "logistic"):
            raise UsageError(f"loss: {self.loss!r} is neither 'square' nor 'logistic'")
        X, y = _plain(X, "X"), _plain(y, "y")
        X, y = _validate(self, X, y=y, dtype=np.float64, order="C", ensure_all_finite=self._finite(), ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        count = len(self.classes_)
        if count < 2:
            raise DataError(f"y: two classes or more are expected, not 1 class ({self.classes_[0]!r})")
        labels = np.where(code[:, None] == (np.arange(count) if count > 2 else 1), 1.0, -1.0)
        sets = self._sets(X, first=True)
        if self.loss == "square":
            self.model_ = self._fit(sets, labels)
        else:
            self.model_ = self._fit(sets, labels, loss="logistic", ball=self._ball(sets, labels), tolerance=self.tolerance,
                                    steps=self.steps)
        return self

    def _ball(self, sets: features.Sets, labels: Array) -> Tuple[float, float]:
        if isinstance(self.ball, (tuple, list)):
            return self.ball
        times = float(self.ball)
        if not (times > 0 and math.isfinite(times)):
            raise UsageError(f"ball: {self.ball!r} is neither a number above 0 nor (K1, K2)")
        return math.inf, times * times * self._fit(sets, labels).m_sum_squares

    def decision_function(self, X: Any) -> Array:
        """Scores (n, classes), or (n) of the second of two classes: the larger, the likelier."""
        scores = self._output(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> "npt.NDArray[Any]":
        """Classes (n): those of the largest score."""
        scores = self.decision_function(X)
        chosen: "npt.NDArray[Any]" = self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return chosen

    @available_if(_is_logistic)  # type: ignore[misc]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n, classes), with loss="logistic": of each class against the rest, over their sum."""
        scores = self._output(X)
        chances = np.exp(-np.logaddexp(0.0, -scores))
        if len(self.classes_) == 2:
            return np.hstack([np.exp(-np.logaddexp(0.0, scores)), chances])
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))
