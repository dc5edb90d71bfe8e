"""Random-feature attention: sets of tokens, fits, predictions, learning curves."""
from __future__ import annotations

import os
import tempfile
from ctypes import byref, c_double, c_uint, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _errors, _native
from ._arrays import Array, Owned, address, mask_of, numbers, spell, view
from ._context import Bytes, FilePath, Seconds, encode, flag, path_bytes, read_seed, real, session, whole
from ._fields import Values, fill, options, sized, start
from ._library import lib
from ._native import (wt_ball_options, wt_ball_report, wt_fit_cost, wt_fit_report, wt_grid, wt_model_spec,
                      wt_problem_spec, wt_ridge_options, wt_ridge_spec)
from ._result import Result, values

class Sets(Result):
    """Sets of tokens: query (n, d), keys (n, N, d), and y (n) or (n, q) and mask (n, N) or None.

    Arrays that are C-contiguous float64 are borrowed, not copied.

    >>> import numpy as np, wattle as wt
    >>> data = wt.Sets(np.ones((2, 3)), np.ones((2, 4, 3)), y=[1, 2])
    >>> data.keys.shape, data.y
    ((2, 4, 3), array([1., 2.]))
    """

    query: Array
    keys: Array
    y: Optional[Array]
    mask: Optional["np.ndarray[Any, Any]"]
    beta: Optional[Array]
    _sets: Owned

    def __init__(self, query: Any, keys: Any, y: Any = None, mask: Any = None) -> None:
        tokens = numbers(keys, "keys", ("n", "N", "d"))
        n, slots, dim = tokens.shape
        if 0 in tokens.shape:
            raise _errors.DataError(f"keys: the shape {spell(tokens.shape)} has no numbers")
        first = numbers(query, "query", (n, dim))
        labels = None if y is None else numbers(y, "y", (n,), (n, "q"))
        live = None if mask is None else mask_of(mask, "mask", (n, slots))
        if labels is not None and labels.size == 0:
            raise _errors.DataError(f"y: the shape {spell(labels.shape)} has no numbers")
        outputs = 0 if labels is None else labels.size // n
        out = c_void_p()
        with session() as work:
            work.quick(lib.wt_sets_borrow, n, slots, dim, outputs, address(first), address(tokens), address(live),
                       address(labels), byref(out))
        owned = Owned(out.value, lib.wt_sets_free, (first, tokens, live, labels))
        super().__init__(query=first, keys=tokens, y=labels, mask=None if live is None else live.view(np.bool_),
                         beta=None, _sets=owned)

    @classmethod
    def _of(cls, owned: Owned, beta: Optional[Array] = None) -> "Sets":
        """Sets that the library made."""
        handle = owned.handle
        n, slots, dim = lib.wt_sets_samples(handle), lib.wt_sets_keys(handle), lib.wt_sets_dim(handle)
        outputs, mask = lib.wt_sets_outputs(handle), lib.wt_sets_mask(handle)
        made = cls.__new__(cls)
        Result.__init__(
            made, query=view(lib.wt_sets_query(handle), (n, dim), owned),
            keys=view(lib.wt_sets_key(handle), (n, slots, dim), owned),
            y=None if outputs == 0 else view(lib.wt_sets_y(handle), (n,) if outputs == 1 else (n, outputs), owned),
            mask=None if mask is None else view(mask, (n, slots), owned, "|u1") != 0, beta=beta, _sets=owned)
        return made

    @classmethod
    def load(cls, path: FilePath) -> "Sets":
        """Reads query, keys, and where they are there mask and y, of an .npz file."""
        out = c_void_p()
        with session() as work:
            work(lib.wt_sets_load, path_bytes(path), byref(out))
        return cls._of(Owned(out.value, lib.wt_sets_free))

    def save(self, path: FilePath) -> None:
        """Writes an .npz file that the command reads."""
        with session() as work:
            work(lib.wt_sets_save, self._sets.handle, path_bytes(path), address(self.beta))

    def __len__(self) -> int:
        return len(self.query)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _sets_again, (self.query, self.keys, self.y, self.mask, self.beta)


def _sets_again(query: Array, keys: Array, y: Optional[Array], mask: Any, beta: Optional[Array]) -> Sets:
    sets = Sets(query, keys, y, mask)
    sets.beta = beta
    return sets


Data = Union[Sets, FilePath, Tuple[Any, ...], Dict[str, Any]]


def as_sets(data: Data, name: str = "data") -> Sets:
    """Sets; a file of them; (query, keys, y) or (query, keys, y, mask); a dictionary of these."""
    if isinstance(data, Sets):
        return data
    if isinstance(data, (str, os.PathLike)):
        return Sets.load(data)
    if isinstance(data, (tuple, list)) and 2 <= len(data) <= 4:
        return Sets(*data)
    if isinstance(data, dict) and {"query", "keys"} <= set(data) <= {"query", "keys", "y", "mask", "beta"}:
        return Sets(data["query"], data["keys"], data.get("y"), data.get("mask"))
    raise TypeError(f"{name}: sets, a file of them or (query, keys, y, mask) are expected, not {type(data).__name__}")


def _problem(work: session, given: Dict[str, Any], seed: int) -> Owned:
    spec = fill(work, "wt_problem_fields", wt_problem_spec, given)
    spec.seed = read_seed(seed)
    out = c_void_p()
    work.quick(lib.wt_problem_new, byref(spec), byref(out))
    return Owned(out.value, lib.wt_problem_free)


def _draw(work: session, problem: Owned, first: int, n: int) -> Owned:
    spec = lib.wt_problem_get_spec(problem.handle).contents
    out = c_void_p()
    work.quick(lib.wt_sets_new, whole(n, "n"), spec.keys, spec.dim, 1, False, byref(out))
    sets = Owned(out.value, lib.wt_sets_free)
    work(lib.wt_problem_draw, problem.handle, first, sets.handle)
    return sets


@options("wt_problem_fields")
def draw(
    target: str,
    *,
    n: int = 1000,
    tokens: str = "sphere",
    token_scale: float = 0,
    noise: float = 0,
    dim: int = 16,
    keys: int = 16,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
) -> Sets:
    """Draws n sets of tokens with the labels of a target: `wattle draw`.

    >>> import wattle as wt
    >>> data = wt.draw("mean-power:2", n=100, dim=4, keys=3, seed=1)
    >>> data.query.shape, data.keys.shape, data.y.shape, data.beta.shape
    ((100, 4), (100, 3, 4), (100,), (4,))
    """
    given = locals()
    with session(threads, memory) as work:
        problem = _problem(work, given, seed)
        sets = _draw(work, problem, 0, n)
    return Sets._of(sets, view(lib.wt_problem_beta(problem.handle), (lib.wt_sets_dim(sets.handle),), problem))


class Model(Result):
    """A fitted model: what it is, what its fit reported, and predictions.

    model, heads, width, bias, activation, dim, keys, outputs and seed are always there; of a fit also
    path, samples, features, penalty, penalty_rule, train_error, loo_error, test_error, sum_norms,
    m_sum_squares, effective_rank, rank, condition, seconds, bytes, penalty_at_end, device; of one in norm
    balls loss, reached, objective, lower_bound, gap, relative_gap, steps, k1, k2, test_loss.
    """

    _fitted: Owned
    _report: Optional[Callable[[], Dict[str, Any]]]  # until it is read

    @classmethod
    def _of(cls, owned: Owned, report: Callable[[], Dict[str, Any]] = dict) -> "Model":
        made = cls.__new__(cls)
        made._fitted, made._report = owned, report
        return made

    def _read(self) -> None:
        """Makes attributes of the model and its report, once: a fit does not wait for them."""
        report, self._report = self._report, None
        if report is not None:
            spec = lib.wt_fitted_get_spec(self._fitted.handle).contents
            self.__dict__.update(
                model=lib.wt_model_kind_name(spec.kind).decode(),
                activation=lib.wt_activation_name(spec.activation).decode(),
                **values(spec, "heads", "width", "bias", "dim", "keys", "seed"),
                outputs=lib.wt_fitted_outputs(self._fitted.handle), **report())

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            self._read()
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"this model has no {name!r}" + (
            _errors.hint(name, dir(self)) or ": a report belongs to the fit that made it"))

    def __dir__(self) -> List[str]:
        self._read()
        return list(super().__dir__())

    def _items(self) -> Iterator[Tuple[str, Any]]:
        self._read()
        return super()._items()

    def predict(self, query: Any, keys: Any = None, mask: Any = None, *, threads: Optional[int] = None,
                memory: Bytes = None) -> Array:
        """Predictions (n) or (n, q) for query (n, d) and keys (n, N, d), or for sets or a file."""
        sets = as_sets(query, "query without keys") if keys is None else Sets(query, keys, mask=mask)
        out = np.empty((len(sets), self.outputs))
        with session(threads, memory) as work:
            work(lib.wt_fitted_predict, self._fitted.handle, sets._sets.handle, address(out))
        return out[:, 0] if self.outputs == 1 else out

    def score(self, data: Data, *, threads: Optional[int] = None, memory: Bytes = None) -> "Score":
        """Errors on labelled data: `wattle score`."""
        sets = as_sets(data)
        square, error = c_double(), c_double()
        with session(threads, memory) as work:
            work(lib.wt_fitted_score, self._fitted.handle, sets._sets.handle, byref(square), byref(error))
        return Score(model=self.model, samples=len(sets), mean_square=square.value, relative_error=error.value)

    def save(self, path: FilePath) -> None:
        """Writes a .safetensors file, which load() and the command read."""
        with session() as work:
            work(lib.wt_fitted_save, self._fitted.handle, path_bytes(path))

    def __reduce__(self) -> Tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            self.save(path)
            report = {name: value for name, value in self._items()}
            return _model_again, (path.read_bytes(), report)


def _model_again(content: bytes, report: Dict[str, Any]) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(content)
        model = load(path)
    model._read()
    model.__dict__.update(report)
    return model


class Score(Result):
    """Errors of a model: the mean square, and the same over the variance of y."""

    model: str
    samples: int
    mean_square: float
    relative_error: float


class Plan(Result):
    """What a fit would take: path, samples, features, bytes, flops."""


def load(path: FilePath) -> Model:
    """Reads a model that was saved here or by the command."""
    out = c_void_p()
    with session() as work:
        work(lib.wt_fitted_load, path_bytes(path), byref(out))
    return Model._of(Owned(out.value, lib.wt_fitted_free))


class _Ridge:
    """How lambda is chosen, as the library reads it."""

    def __init__(self, work: session, given: Dict[str, Any]) -> None:
        spec = fill(work, "wt_ridge_fields", wt_ridge_spec, given)
        self.options = sized(wt_ridge_options)
        self.grid = wt_grid()
        work.quick(lib.wt_ridge_spec_read, byref(spec), byref(self.options), byref(self.grid))

    def __del__(self) -> None:
        if hasattr(self, "grid"):
            lib.wt_grid_free(byref(self.grid))


@options("wt_model_fields", "wt_ridge_fields", "wt_problem_fields")
def fit(
    data: Optional[Data] = None,
    *,
    model: str = "rfa",
    heads: int = 1000,
    width: int = 0,
    bias: float = 4,
    activation: str = "relu",
    penalty: Union[float, str] = 1e-3,
    penalty_path: Values = "1e-8:10:x10",
    standardize: bool = False,
    solver: str = "auto",
    loss: str = "square",
    ball: Optional[Tuple[float, float]] = None,
    huber: float = 1,
    tolerance: float = 1e-6,
    steps: int = 20000,
    test: Optional[Data] = None,
    target: Optional[str] = None,
    tokens: str = "sphere",
    token_scale: float = 0,
    noise: float = 0,
    dim: int = 16,
    keys: int = 16,
    n: int = 1000,
    test_n: int = 0,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Model:
    """Fits the value vectors of random-feature attention: `wattle fit`.

    The data are sets, a file of them or (query, keys, y, mask); or with target= they are drawn: the
    same bits as draw() with the same options. ball=(K1, K2) minimises the mean loss under sum |v_m|
    <= K1 and M sum |v_m|^2 <= K2 instead of with a ridge, with a duality gap as certificate. test= or,
    of a target, test_n= fresh samples are what test_error is measured on.

    >>> import wattle as wt
    >>> data = wt.draw("mean-power:2", n=200, dim=4, keys=4, seed=1)
    >>> model = wt.fit(data, model="rfa", heads=100, penalty="loo")
    >>> model.path, model.loo_error < 0.05, model.predict(data).shape
    ('dual', True, (200,))
    """
    given = locals()
    with session(threads, memory, time) as work:
        job = _Job(work, given)
        if ball is not None:
            return job.ball()
        if loss != "square":
            raise _errors.UsageError(f"loss={loss!r} needs ball=(K1, K2)")
        return job.ridge()


class _Job:
    """What the arguments of a fit describe, with shapes from the data."""

    def __init__(self, work: session, given: Dict[str, Any]) -> None:
        self.work, self.given = work, given
        data, target = given["data"], given["target"]
        if (data is None) == (target is None):
            raise _errors.UsageError("fit needs either data or a target, not " + ("neither" if data is None else "both"))
        self.spec = fill(work, "wt_model_fields", wt_model_spec, given)
        self.spec.seed = read_seed(given["seed"])
        self.problem = None if target is None else _problem(work, given, given["seed"])
        self.train: Optional[Owned] = None
        if self.problem is not None:
            about = lib.wt_problem_get_spec(self.problem.handle).contents
            self.n, self.spec.dim, self.spec.keys = whole(given["n"], "n"), about.dim, about.keys
        else:
            sets = as_sets(data)
            self.train = sets._sets
            self.n, self.spec.keys, self.spec.dim = sets.keys.shape
        self.test = self.test_sets()
        self.fitted = c_void_p()

    def test_sets(self) -> Optional[int]:
        """The address of the sets, which the session keeps."""
        test, count = self.given["test"], whole(self.given["test_n"], "test_n", 0)
        if test is None and count == 0:
            return None
        if test is not None:
            sets = as_sets(test, "test")._sets
        elif self.problem is not None:
            sets = _draw(self.work, self.problem, _native.WT_PROBLEM_FIRST_TEST, count)
        else:
            raise _errors.UsageError("test_n goes with target; use test=")
        self.work.keep.append(sets)
        return int(sets.handle)

    def model(self, report: Callable[[], Dict[str, Any]]) -> Model:
        return Model._of(Owned(self.fitted.value, lib.wt_fitted_free), report)

    def ridge(self) -> Model:
        ridge = _Ridge(self.work, self.given)
        report = sized(wt_fit_report)
        out = self.test, byref(self.fitted), byref(report)
        if self.problem is not None:
            self.work(lib.wt_ridge_fit_problem, byref(ridge.options), byref(self.spec), self.problem.handle, self.n, *out)
        elif self.train is not None:
            self.work(lib.wt_ridge_fit, byref(ridge.options), byref(self.spec), self.train.handle, *out)
        if report.out_of_time:
            _errors.warn(f"the time is over: {getattr(report, 'lambda'):g} is the best lambda of those that were tried",
                          _errors.MissedWarning)
        if report.lambda_at_end:
            _errors.warn(_native.WT_LAMBDA_AT_END, _errors.Remark)
        rule, device = ridge.options.rule, lib.wt_context_device(self.work.handle)
        return self.model(lambda: _ridge_report(report, rule, device))

    def ball(self) -> Model:
        given = self.given
        for name, usual in (("penalty", 1e-3), ("penalty_path", "1e-8:10:x10"), ("standardize", False),
                            ("solver", "auto")):
            if given[name] != usual:
                raise _errors.UsageError(f"ball and {name} exclude each other")
        chosen = start(wt_ball_options, lib.wt_ball_options_init)
        found = sized(wt_ball_report)
        kind = c_uint()
        self.work(lib.wt_loss_parse, encode(str(given["loss"]), "loss"), byref(kind))
        chosen.loss, chosen.max_steps = kind.value, whole(given["steps"], "steps")
        chosen.huber, chosen.tolerance = real(given["huber"], "huber"), real(given["tolerance"], "tolerance")
        try:
            chosen.k1, chosen.k2 = map(float, given["ball"])
        except (TypeError, ValueError):
            raise _errors.UsageError(f"ball: {given['ball']!r} is not (K1, K2), two numbers") from None
        if self.train is None and self.problem is not None:
            self.train = _draw(self.work, self.problem, 0, self.n)
        assert self.train is not None
        self.work(lib.wt_ball_fit, byref(chosen), byref(self.spec), self.train.handle, self.test, byref(self.fitted),
                  byref(found))
        if not found.reached:
            _errors.warn(f"the gap is {found.relative_gap:.2g} of the loss at 0 after {found.steps} steps, above "
                          f"{chosen.tolerance:.2g}; raise steps or tolerance", _errors.MissedWarning)
        loss, n = str(given["loss"]), self.n
        return self.model(lambda: dict(loss=loss, samples=n, k1=chosen.k1, k2=chosen.k2, **values(
            found, "reached", "objective", "objective_at_zero", "lower_bound", "gap", "relative_gap", "steps", "passes",
            "factorisations", "sum_norms", "m_sum_squares", "sum_binds", "squares_bind", "test_loss")))


def _ridge_report(report: wt_fit_report, rule: int, device: bytes) -> Dict[str, Any]:
    return dict(
        path=report.route.decode(), **values(report, "samples", "features"), penalty=getattr(report, "lambda"),
        penalty_rule=lib.wt_lambda_name(rule).decode(),
        **values(report, "train_error", "loo_error", "test_error", "sum_norms", "m_sum_squares"),
        effective_rank=report.freedom, rank=report.rank or None,
        **values(report, "condition", "seconds", "bytes", "out_of_time"), penalty_at_end=report.lambda_at_end,
        device=device.decode())


@options("wt_model_fields", "wt_ridge_fields")
def plan(
    n: int,
    dim: int,
    keys: int = 1,
    outputs: int = 1,
    *,
    drawn: bool = False,
    model: str = "rfa",
    heads: int = 1000,
    width: int = 0,
    bias: float = 4,
    activation: str = "relu",
    penalty: Union[float, str] = 1e-3,
    penalty_path: Values = "1e-8:10:x10",
    standardize: bool = False,
    solver: str = "auto",
    threads: Optional[int] = None,
    memory: Bytes = None,
) -> Plan:
    """What a fit of n samples would take: `wattle fit --plan`. drawn: the samples are a target's.

    >>> import wattle as wt
    >>> wt.plan(1000, dim=16, heads=10).path
    'primal'
    """
    given = locals()
    with session(threads, memory) as work:
        spec = fill(work, "wt_model_fields", wt_model_spec, given)
        spec.dim, spec.keys = whole(dim, "dim"), whole(keys, "keys")
        ridge, cost = _Ridge(work, given), sized(wt_fit_cost)
        work.quick(lib.wt_ridge_cost, byref(ridge.options), byref(spec), whole(n, "n"), whole(outputs, "outputs"), flag(drawn, "drawn"),
                   byref(cost))
    return Plan(path=cost.route.decode(), **values(cost, "samples", "features", "bytes", "flops"))


def predict(model: Union[Model, FilePath], data: Data, *, threads: Optional[int] = None, memory: Bytes = None) -> Array:
    """Predictions of a model, or of a file of one: `wattle predict`."""
    return (model if isinstance(model, Model) else load(model)).predict(as_sets(data), threads=threads, memory=memory)


def score(model: Union[Model, FilePath], data: Data, *, threads: Optional[int] = None, memory: Bytes = None) -> Score:
    """Errors of a model, or of a file of one, on labelled data: `wattle score`."""
    return (model if isinstance(model, Model) else load(model)).score(data, threads=threads, memory=memory)
