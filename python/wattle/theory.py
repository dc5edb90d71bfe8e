"""What the theory promises: bounds, and heads whose weights are written down."""
from __future__ import annotations

import math
import os
import tempfile
from ctypes import POINTER, byref, c_char_p, c_uint, c_void_p, cast
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _errors
from ._arrays import Array, Owned, address, view
from ._context import Bytes, FilePath, encode, flag, path_bytes, read_seed, real, session, whole
from ._fields import differs, fill, options, sized, start
from ._library import lib
from ._native import (wt_bound, wt_bound_spec, wt_capacity, wt_capacity_spec, wt_complexity, wt_construction_least,
                      wt_construction_report, wt_construction_spec, wt_construction_summary, wt_model_norm,
                      wt_model_spec, wt_problem_spec)
from ._result import Result, values
from ._table import Table
from .features import Data, as_sets
from .networks import bits_of
from .networks import positions as places_of

class Terms(Result):
    """The numbers of a part of a bound, as attributes."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no {name!r} here; there are {', '.join(vars(self))}")


# ---- constructions --------------------------------------------------------------------------------


class Construction(Result):
    """Heads with weights that are written down, and whether they keep their promise.

    The keys of `wattle construct --json`: function, length, bits, relevant, tokens, heads, dim, gap,
    strength, overlap, promise, head_error, drawn_error, function_error, kept, widths, norms,
    least_strength, least_linear.
    """

    function: Optional[str]
    length: int
    bits: int
    relevant: "np.ndarray[Any, Any]"
    heads: int
    dim: int
    strength: float
    promise: float
    head_error: float
    kept: bool
    least_strength: float
    _built: Owned

    def save(self, path: FilePath) -> None:
        """Writes a .safetensors file of kind `head`, which bound() and the command read."""
        with session() as work:
            work(lib.wt_construction_save, self._built.handle, path_bytes(path))

    def answers(self, bits: Any, *, threads: Optional[int] = None) -> Tuple[Array, Array]:
        """On samples (n, T): of the heads (n, heads), and of the network that reads them (n)."""
        with session(threads) as work:
            samples = bits_of(work, bits)
            if lib.wt_bits_length(samples.handle) != self.length:
                raise _errors.DataError(f"bits: samples of {lib.wt_bits_length(samples.handle)} bits do not fit a "
                                        f"construction of {self.length}")
            head, out = (np.empty((lib.wt_bits_samples(samples.handle), self.heads)),
                         np.empty(lib.wt_bits_samples(samples.handle)))
            work(lib.wt_construction_run, self._built.handle, samples.handle, address(head), address(out))
        return head, out

    def __reduce__(self) -> Tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "head.safetensors"
            self.save(path)
            return _construction_again, (path.read_bytes(), dict(self._items()))


def _construction_again(content: bytes, report: Dict[str, Any]) -> Construction:
    out = c_void_p()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "head.safetensors"
        path.write_bytes(content)
        with session() as work:
            work(lib.wt_construction_load, path_bytes(path), byref(out))
    return Construction(**report, _built=Owned(out.value, lib.wt_construction_free))


@options("wt_construction_fields", without=("function",))
def construct(
    function: Optional[str] = None,
    *,
    length: int = 1024,
    positions: str = "basis",
    position_dim: int = 0,
    heads: str = "auto",
    tokens: str = "sum",
    relevant: Optional[Sequence[int]] = None,
    draws: int = 100,
    check: Optional[FilePath] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
) -> Construction:
    """Builds attention heads that compute a sparse Boolean function, and checks them: `wattle construct`.

    Every pattern of the relevant bits is run with `draws` random values of the others, and the largest
    error of a head over all of these is found exactly. check= checks the construction in a file
    instead of building one. A promise that is missed is a MissedWarning, and kept is False.

    >>> import wattle as wt
    >>> built = wt.construct("majority:3", length=64, relevant=[5, 20, 30])
    >>> built.kept, built.heads, built.head_error <= built.promise
    (True, 1, True)
    """
    given = locals()
    out = c_void_p()
    if (function is None) == (check is None):
        raise _errors.UsageError("construct needs a function, as 'and:3', or check=FILE" +
                                 ("" if function is None else ", not both"))
    if differs(position_dim, 0) and positions != "random":
        raise _errors.UsageError("position_dim is of random positions, not of others")
    with session(threads, memory) as work:
        if check is not None:
            work(lib.wt_construction_load, path_bytes(check, "check"), byref(out))
        else:
            spec = fill(work, "wt_construction_fields", wt_construction_spec, given)
            spec.relevant, spec.relevant_count = places_of(work, relevant)
            spec.seed = read_seed(seed)
            work(lib.wt_construction_new, byref(spec), byref(out))
        built = Owned(out.value, lib.wt_construction_free)
        report, least, about = sized(wt_construction_report), sized(wt_construction_least), sized(wt_construction_summary)
        work(lib.wt_construction_check, built.handle, whole(draws, "draws"), read_seed(seed), byref(report))
        work(lib.wt_construction_find_least, built.handle, byref(least))
        work.quick(lib.wt_construction_summarise, built.handle, byref(about))
    if not report.kept:
        _errors.warn(f"the promise is missed: a head is off by {report.head_error:.4g}, not {report.promise:.4g}, and the "
                     f"function by {report.function_error:.3g}", _errors.MissedWarning)
    return _construction(function, built, about, report, least)


def _construction(function: Optional[str], built: Owned, about: wt_construction_summary, report: wt_construction_report,
                  least: wt_construction_least) -> Construction:
    places = view(about.relevant, (about.bits,), built, "<u8").astype(np.int64)
    return Construction(
        function=function, **values(about, "length", "bits"), relevant=places, tokens="bag" if about.bag else "sum",
        **values(about, "heads", "dim", "gap", "strength", "overlap"),
        **values(report, "promise", "head_error", "drawn_error", "function_error", "kept"),
        widths=[about.width1, about.width2], norms=Terms(**values(about, "qk21", "v21", "v", "x", "cls")),
        least_strength=least.strength, least_linear=least.linear, _built=built)


# ---- bounds ---------------------------------------------------------------------------------------


class Power(Result):
    """10^log10: value is infinite, or 0, where no double holds it."""

    value: float
    log10: float

    def _brief(self) -> str:
        return f"{self.value:.5g}" if abs(self.log10) < 300 else f"10^{self.log10:.2f}"


class Bound(Result):
    """What the theory promises, with the keys of `wattle bound --json`. A bound is a shape, not a prediction.

    Of rfa, brfa and rfmlp: bound (complexity, formula, source; of rfa also sample_term, head_term,
    risk, heads_suffice, heads_balanced, unspecified; of rfmlp complexity_over_rfa), and measured
    (model, diagonal, jitter, points). Of head and transformer: layers, capacity, covering, range, gap,
    pseudo_dimension, unspecified, outside.
    """

    kind: str
    dim: int
    delta: float
    bound: Terms
    measured: Terms
    gap: Terms


def _power(log10: float) -> Power:
    try:
        return Power(value=math.pow(10, log10), log10=log10)
    except OverflowError:
        return Power(value=math.inf, log10=log10)


def _words(pointer: Any) -> List[str]:
    """Texts up to NULL."""
    texts = cast(pointer, POINTER(c_char_p))
    out: List[str] = []
    while texts[len(out)] is not None:
        out.append(str(texts[len(out)].decode()))
    return out


def _refuse(given: Dict[str, Any], kind: str, usual: Dict[str, Any]) -> None:
    for name, value in usual.items():
        if differs(given[name], value):
            raise _errors.UsageError(f"{name} makes no sense for a bound of {kind}")


OF_CAPACITY = dict(norms=None, length=None, samples=1000, depth=1, residual=False, epsilon=0.1, lipschitz=1, loss_most=1)
OF_FEATURES = dict(target=None, data=None, keys=16, n=None, bias=4, tokens="sphere", token_scale=0, measure=2048)


def bound(
    kind: str,
    *,
    target: Optional[str] = None,
    dim: Optional[int] = None,
    keys: Optional[int] = None,
    heads: Optional[int] = None,
    n: Optional[int] = None,
    delta: float = 0.05,
    data: Optional[Data] = None,
    model: Union[str, FilePath, None] = None,
    bias: float = 4,
    measure: int = 2048,
    tokens: str = "sphere",
    token_scale: float = 0,
    norms: Optional[str] = None,
    length: Optional[int] = None,
    samples: int = 1000,
    depth: int = 1,
    residual: bool = False,
    epsilon: float = 0.1,
    lipschitz: float = 1,
    loss_most: float = 1,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
) -> Bound:
    """What the theory promises, beside what can be measured: `wattle bound`.

    kind: rfa, brfa or rfmlp: the complexity of a target and the bound on the excess risk; dim and keys
    16, heads and n 1000 unless given. Beside it y^T K^-1 y by the kernel `model` (rfa-inf, brfa-inf,
    rfmlp-inf) on `measure` samples at most, of the target or of `data`; measure=0 leaves it out.

    head or transformer: the covering number of all of bounded norms, and the shape of the gap that
    follows, for `length` tokens and `samples` samples; norms as "qk21=4,v21=8,v=4", or those of the
    file `model`.

    >>> import wattle as wt
    >>> found = wt.bound("rfa", target="mean-power:2", n=256, measure=64)
    >>> round(found.bound.complexity.log10, 3), len(found.measured.points)
    (2.559, 3)
    >>> wt.bound("head", norms="qk21=4,v21=8,v=4", dim=8, length=100).gap.vacuous
    True
    """
    given = {**locals(), "residual": flag(residual, "residual")}
    with session(threads, memory) as work:
        if kind in ("head", "transformer"):
            _refuse(given, kind, {**OF_FEATURES, "keys": None})
            return _capacity(work, given)
        if kind not in ("rfa", "brfa", "rfmlp"):
            raise _errors.UsageError(f"kind: {kind!r} is none of rfa, brfa, rfmlp, head, transformer")
        _refuse(given, kind, OF_CAPACITY)
        return _features(work, given)


def _size(value: Optional[int], usual: int, name: str, there: int, where: str) -> int:
    """The size that data have, 0 = none, which must not be contradicted."""
    if value is None:
        return there or usual
    if there and whole(value, name) != there:
        raise _errors.UsageError(f"{name} is {value}, but {where} has {there}")
    return whole(value, name)


def _features(work: session, given: Dict[str, Any]) -> Bound:
    target, data, kind = given["target"], given["data"], given["kind"]
    if target is None and data is None:
        raise _errors.UsageError(f"a bound of {kind} needs target or data")
    sets = None if data is None else as_sets(data)
    if sets is not None and sets.y is None:
        raise _errors.UsageError("data has no labels to measure: y (n) or (n, q) is expected")
    dim = _size(given["dim"], 16, "dim", 0 if sets is None else sets.keys.shape[2], "data")
    keys = _size(given["keys"], 16, "keys", 0 if sets is None else sets.keys.shape[1], "data")
    heads = _size(given["heads"], 1000, "heads", 0, "")
    n = whole(given["n"], "n") if given["n"] is not None else 1000 if sets is None else len(sets)
    if sets is not None and n > len(sets):
        raise _errors.UsageError(f"n is {n}, but data has {len(sets)} samples")
    out = Bound(kind=kind, target=target, dim=dim, keys=keys, heads=heads, n=n, delta=real(given["delta"], "delta"))
    if target is not None:
        spec, found = start(wt_bound_spec, lib.wt_bound_spec_init), sized(wt_bound)
        spec.kind = _kind(work, kind)
        spec.target, spec.dim, spec.keys, spec.heads = encode(str(target), "target"), dim, keys, heads
        spec.samples, spec.delta = n, out.delta
        work.quick(lib.wt_bound_compute, byref(spec), byref(found))
        out.bound = _terms(kind, found)
    kernel = _kernel(work, given, dim, keys)
    most = min(n, whole(given["measure"], "measure", 0))
    if most:
        out.measured = _measure(work, given, kernel, sets, dim, keys, most)
    return out


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _kind(work: session, name: str) -> int:
    kind = c_uint()
    work.quick(lib.wt_model_kind_parse, encode(str(name), "kind"), byref(kind))
    return int(kind.value)


def _kernel(work: session, given: Dict[str, Any], dim: int, keys: int) -> wt_model_spec:
    name = f"{given['kind']}-inf" if given["model"] is None else str(given["model"])
    if name not in ("rfa-inf", "brfa-inf", "rfmlp-inf"):
        raise _errors.UsageError(f"model: {name!r} is none of rfa-inf, brfa-inf and rfmlp-inf")
    spec = start(wt_model_spec, lib.wt_model_spec_init)
    spec.kind, spec.bias, spec.dim, spec.keys = _kind(work, name), real(given["bias"], "bias"), dim, keys
    work.quick(lib.wt_model_spec_check, byref(spec))
    return spec


def _terms(kind: str, found: wt_bound) -> Terms:
    if not found.complexity_known:
        return Terms(complexity=None, note=found.source.decode())
    out = Terms(complexity=_power(found.log10_complexity), formula=found.formula.decode(), source=found.source.decode())
    if kind == "rfmlp":
        out.__dict__.update(complexity_over_rfa=_power(found.log10_over_rfa))
    if found.risk_known:
        out.__dict__.update(sample_term=_power(found.log10_sample_term), head_term=_power(found.log10_head_term),
                            risk=_power(found.log10_risk), **values(found, "heads_suffice", "heads_balanced"),
                            unspecified=_words(found.unspecified))
    return out


def _measure(work: session, given: Dict[str, Any], kernel: wt_model_spec, sets: Any, dim: int, keys: int,
             n: int) -> Terms:
    sizes = np.array(sorted({n // part for part in (4, 2, 1)} - {0}), dtype=np.uintp)
    values_, about = np.empty(len(sizes)), sized(wt_complexity)
    drawn = sets is None
    if drawn:
        spec = fill(work, "wt_problem_fields", wt_problem_spec, {**given, "dim": dim, "keys": keys, "noise": 0})
        spec.seed = read_seed(given["seed"])
        out, room = c_void_p(), c_void_p()
        work(lib.wt_problem_new, byref(spec), byref(out))
        problem = Owned(out.value, lib.wt_problem_free)
        work(lib.wt_sets_new, n, keys, dim, 1, False, byref(room))
        owned = Owned(room.value, lib.wt_sets_free)
        work(lib.wt_problem_draw, problem.handle, 0, owned.handle)
    else:
        owned = sets._sets
    work(lib.wt_complexity_measure, byref(kernel), owned.handle, address(sizes), len(sizes), address(values_), byref(about))
    name = lib.wt_model_kind_name(kernel.kind).decode()
    return Terms(model=name, labels="drawn" if drawn else os.fspath(given["data"]) if is_path(given["data"]) else "given",
                  bias=kernel.bias if name == "brfa-inf" else math.nan,
                  **values(about, "diagonal", "jitter"), points=Table(n=sizes.astype(np.int64), value=values_))


def _norms(work: session, given: Dict[str, Any], deep: bool) -> Owned:
    norms, model, out = given["norms"], given["model"], c_void_p()
    heads = 0 if given["heads"] is None else whole(given["heads"], "heads")
    if (norms is None) == (model is None):
        raise _errors.UsageError(f"a bound of {'transformers' if deep else 'heads'} needs norms or model" +
                                 ("" if norms is None else ", not both"))
    if not deep and (differs(given["depth"], 1) or given["residual"]):
        raise _errors.UsageError("depth and residual are of transformers")
    if norms is not None:
        copies, alike = (whole(given["depth"], "depth"), max(heads, 1)) if deep else (max(heads, 1), 1)
        work.quick(lib.wt_model_norms_parse, encode(str(norms), "norms"), deep, copies, alike, byref(out))
    elif differs(given["depth"], 1) or (not deep and heads):
        raise _errors.UsageError("a model says its heads and layers itself")
    elif deep:
        work(lib.wt_model_norms_load_transformer, path_bytes(model, "model"), heads, byref(out))
    else:
        work(lib.wt_model_norms_load_head, path_bytes(model, "model"), byref(out))
    return Owned(out.value, lib.wt_model_norms_free)


def _capacity(work: session, given: Dict[str, Any]) -> Bound:
    deep, model = given["kind"] == "transformer", given["model"]
    norms = _norms(work, given, deep)
    handle = norms.handle
    spec, found = start(wt_capacity_spec, lib.wt_capacity_spec_init), sized(wt_capacity)
    where = "the model"
    spec.norms, spec.deep, spec.residual = handle, deep, given["residual"]
    spec.dim = _size(given["dim"], 16, "dim", lib.wt_model_norms_dim(handle), where)
    spec.length = _size(given["length"], 0, "length", lib.wt_model_norms_length(handle), where)
    if spec.length == 0:
        raise _errors.UsageError("a bound from norms needs length")
    spec.samples, spec.epsilon, spec.delta = whole(given["samples"], "samples"), real(given["epsilon"], "epsilon"), real(given["delta"], "delta")
    spec.lipschitz, spec.loss_max = real(given["lipschitz"], "lipschitz"), real(given["loss_most"], "loss_most")
    alpha = np.empty(lib.wt_model_norms_layers(handle))
    work.quick(lib.wt_capacity_compute, byref(spec), address(alpha), byref(found))

    def norm(name: str, layer: int = 0, head: int = 0) -> float:
        return float(lib.wt_model_norms_get(handle, wt_model_norm[f"WT_MODEL_NORM_{name}"], layer, head))

    layers = [Terms(alpha=alpha[i], sigma=norm("SIGMA", i), heads=[
        Terms(**{name.lower(): norm(name, i, h) for name in ("QK21", "QK", "V21", "V", "C21", "C")})
        for h in range(lib.wt_model_norms_heads(handle))]) for i in range(len(alpha))]
    return Bound(
        kind=given["kind"], model=None if model is None else os.fspath(model), **values(spec, "dim", "length", "samples",
                                                                                       "epsilon", "delta"),
        **{name.lower(): norm(name) for name in ("X", "P", "CLS", "W")}, layers=layers, log_factor=found.log_factor,
        capacity=found.constant, **values(found, "covering", "range"),
        gap=Terms(**values(found, "capacity_term", "confidence_term"), sum=found.gap, vacuous=found.vacuous),
        pseudo_dimension=Terms(natural=found.pseudo_natural, binary=found.pseudo_binary),
        unspecified=_words(found.unspecified), outside=_words(lib.wt_model_norms_outside(handle)))
