"""The multi-head attention layer: sequences, layers and their files, teachers, comparison."""
from __future__ import annotations

import os
import sys
import tempfile
from ctypes import byref, c_double, c_size_t, c_void_p, create_string_buffer
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _errors, _native
from ._arrays import Array, Owned, address, numbers, spell, view
from ._context import Bytes, FilePath, path_bytes, read_seed, session, whole
from ._fields import fill, options, sized, start, table
from ._library import lib
from ._native import (wt_checkpoint_options, wt_compare_options, wt_comparison, wt_layer_draw_options,
                      wt_layer_export_options, wt_layer_form, wt_metadata, wt_problem_spec, wt_sequences_arrays,
                      wt_sequences_spec, wt_teacher_options, wt_tensor, wt_token_rows)
from ._result import Result, values
from .networks import Answers, Network

# ---- sequences ------------------------------------------------------------------------------------


class Sequences(Result):
    """Sequences of tokens: x (n, k, d), and y (n, k, p) and lengths (n) or None.

    y may also be (n, k), for one output, and with rows="last" (n, p), the output rows of last tokens;
    rows of y that have a NaN are not known with missing="nan", and refused without. mask (n, k), not 0
    for tokens that are there, stands for lengths: such tokens, and their rows of y, move to the front.
    Arrays that are C-contiguous float64, and stay as they are, are borrowed, not copied.

    >>> import numpy as np, wattle as wt
    >>> data = wt.Sequences(np.ones((5, 2, 3)), np.zeros((5, 2, 1)), lengths=[2, 1, 2, 2, 1])
    >>> data.x.shape, data.y.shape, len(data)
    ((5, 2, 3), (5, 2, 1), 5)
    """

    x: Array
    y: Optional[Array]
    lengths: Optional["np.ndarray[Any, Any]"]
    _sequences: Owned

    def __init__(self, x: Any, y: Any = None, *, lengths: Any = None, mask: Any = None, rows: str = "all",
                 missing: str = "no") -> None:
        spec = _spec(rows, missing)
        tokens = numbers(x, "x", ("n", "k", "d"))
        n, k, dim = tokens.shape
        given = sized(wt_sequences_arrays)
        given.samples, given.length, given.dim, given.x = n, k, dim, address(tokens)
        labels = _labels(y, n, k, spec.last_row)
        if labels is not None:
            given.last_rows = spec.last_row and labels.ndim < 3
            given.outputs = labels.shape[-1] if labels.ndim == (2 if given.last_rows else 3) else 1
            given.y = address(labels)
        ends = None if lengths is None else numbers(lengths, "lengths", (n,))
        live = None if mask is None else numbers(mask, "mask", (n, k))
        given.lengths, given.mask = address(ends), address(live)
        out = c_void_p()
        with session() as work:
            work(lib.wt_sequences_borrow, byref(given), byref(spec), byref(out))
        self._take(Owned(out.value, lib.wt_sequences_free, (tokens, labels)), tokens, labels)

    def _take(self, owned: Owned, x: Optional[Array] = None, y: Optional[Array] = None) -> None:
        """What the library holds; the arrays given where they are what it borrowed."""
        handle = owned.handle
        n, k = lib.wt_sequences_samples(handle), lib.wt_sequences_length(handle)
        dim, outputs = lib.wt_sequences_dim(handle), lib.wt_sequences_outputs(handle)
        lengths = lib.wt_sequences_lengths(handle)
        places = lib.wt_sequences_x(handle), lib.wt_sequences_y(handle)
        Result.__init__(
            self, x=x if x is not None and places[0] == address(x) else view(places[0], (n, k, dim), owned),
            y=None if outputs == 0 else y if y is not None and places[1] == address(y) and y.ndim == 3 else
            view(places[1], (n, k, outputs), owned),
            lengths=None if not lengths else view(lengths, (n,), owned, "<u8"), _sequences=owned)

    @classmethod
    def _of(cls, owned: Owned) -> "Sequences":
        made = cls.__new__(cls)
        made._take(owned)
        return made

    @classmethod
    def load(cls, path: FilePath, *, rows: str = "all", missing: str = "no") -> "Sequences":
        """Reads x, and where they are there y, lengths or mask, of an .npz file."""
        out = c_void_p()
        with session() as work:
            work(lib.wt_sequences_load_as, path_bytes(path), byref(_spec(rows, missing)), byref(out))
        return cls._of(Owned(out.value, lib.wt_sequences_free))

    def save(self, path: FilePath) -> None:
        """Writes an .npz file that the command reads."""
        with session() as work:
            work(lib.wt_sequences_save, self._sequences.handle, path_bytes(path))

    def __len__(self) -> int:
        return len(self.x)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _sequences_again, (self.x, self.y, self.lengths)


def _sequences_again(x: Array, y: Optional[Array], lengths: Any) -> Sequences:
    return Sequences(x, y, lengths=lengths, missing="no" if y is None or np.isfinite(y).all() else "nan")


def _spec(rows: str, missing: str) -> wt_sequences_spec:
    for name, value, words in (("rows", rows, ("all", "last")), ("missing", missing, ("no", "nan"))):
        if value not in words:
            raise _errors.UsageError(f"{name}: {value!r} is neither {words[0]!r} nor {words[1]!r}")
    spec = start(wt_sequences_spec, lib.wt_sequences_spec_init)
    spec.last_row, spec.missing = rows == "last", missing == "nan"
    return spec


def _labels(y: Any, n: int, k: int, last: bool) -> Optional[Array]:
    if y is None:
        return None
    return numbers(y, "y", (n, k, "p"), (n, "p"), (n,)) if last else numbers(y, "y", (n, k, "p"), (n, k))


Data = Union[Sequences, FilePath, Tuple[Any, ...], Dict[str, Any], "np.ndarray[Any, Any]"]


def as_sequences(data: Data, y: Any = None, name: str = "data", **how: Any) -> Sequences:
    """Sequences; a file of them; x with y=; (x, y) or (x, y, lengths); a dictionary of these."""
    if isinstance(data, Sequences) or isinstance(data, (str, os.PathLike)):
        if y is not None or how.get("lengths") is not None or how.get("mask") is not None:
            raise _errors.UsageError(f"{name}: y, lengths and mask are part of what is there already")
        how = {key: value for key, value in how.items() if key in ("rows", "missing")}
        return data if isinstance(data, Sequences) else Sequences.load(data, **how)
    if isinstance(data, Mapping) and "x" in data and set(data) <= {"x", "y", "lengths", "mask"}:
        return Sequences(**{**how, **data})
    if isinstance(data, tuple) and y is None and 2 <= len(data) <= 3:
        return Sequences(data[0], data[1], **{**how, **({"lengths": data[2]} if len(data) == 3 else {})})
    return Sequences(data, y, **how)


# ---- layers ---------------------------------------------------------------------------------------


class Layer(Result):
    """An attention layer F(X) = sum_i softmax(X Theta_i X^T) X W_i, and what is known of it.

    theta (m, d, d) and w (m, d, p) are its heads; u (m, d) is added to the scores of a head's keys and
    c (p) to all outputs where there are biases, else they are None. heads, dim, outputs, form, bias, mask,
    residual, norm and epsilon say what it is; recover() and query() add their reports. layer(x) applies it.

    >>> import numpy as np, wattle as wt
    >>> layer = wt.Layer(theta=np.zeros((1, 2, 2)), w=np.eye(2)[None])
    >>> layer([[1, 2], [3, 4]])     # equal attention: the mean of the tokens
    array([[2., 3.],
           [2., 3.]])
    """

    theta: Array
    w: Array
    u: Optional[Array]
    c: Optional[Array]
    heads: int
    dim: int
    outputs: int
    form: str
    bias: bool
    mask: str
    residual: bool
    norm: str
    epsilon: float
    warnings: List[str]
    own: Optional["Layer"]
    comparison: Optional["Comparison"]
    _layer: Owned

    def __init__(self, theta: Any, w: Any, u: Any = None, c: Any = None, *, mask: str = "none", residual: bool = False,
                 norm: str = "none", epsilon: float = 1e-5) -> None:
        scores, out_ = numbers(theta, "theta", ("m", "d", "d")), numbers(w, "w", ("m", "d", "p"))
        heads, dim, outputs = out_.shape
        if scores.shape != (heads, dim, dim):
            raise _errors.UsageError(f"theta: the shape {spell(scores.shape)} is not {spell((heads, dim, dim))}, as w has it")
        if (u is None) != (c is None):
            raise _errors.UsageError("a layer with biases has both u and c")
        of_keys = None if u is None else numbers(u, "u", (heads, dim))
        of_outputs = None if c is None else numbers(c, "c", (outputs,))
        given = dict(bias=u is not None, mask=mask, residual=residual, norm=norm, epsilon=epsilon)
        made = c_void_p()
        with session() as work:
            asked = fill(work, "wt_teacher_fields", wt_teacher_options, given)
            form = start(wt_layer_form, lib.wt_layer_form_init)
            for name in given:
                setattr(form, name, getattr(asked, name))
            work.quick(lib.wt_layer_new_form, heads, dim, outputs, byref(form), byref(made))
        self._take(Owned(made.value, lib.wt_layer_free))
        for name, to, from_ in (("theta", self.theta, scores), ("w", self.w, out_), ("u", self.u, of_keys),
                                ("c", self.c, of_outputs)):
            if to is None or from_ is None:
                continue
            if not np.isfinite(from_).all():
                raise _errors.DataError(f"{name}: not all of its numbers are finite")
            to[...] = from_

    def _take(self, owned: Owned, **report: Any) -> None:
        handle = owned.handle
        form, words = sized(wt_layer_form), create_string_buffer(_native.WT_LAYER_FORM_TEXT)
        with session() as work:
            work.quick(lib.wt_layer_get_form, handle, byref(form))
        heads, dim, outputs = lib.wt_layer_heads(handle), lib.wt_layer_dim(handle), lib.wt_layer_outputs(handle)
        names = table("wt_teacher_fields")
        theta = view(lib.wt_layer_theta(handle), (heads, dim + form.bias, dim), owned)
        lib.wt_layer_form_print(byref(form), words)
        known: Dict[str, Any] = dict(
            heads=heads, dim=dim, outputs=outputs, form=words.value.decode(), **values(form, "bias", "residual"),
            mask=names["mask"].words.split("|")[form.mask], norm=names["norm"].words.split("|")[form.norm],
            epsilon=form.epsilon)
        known.update(report)
        Result.__init__(
            self, **known, theta=theta[:, :dim], w=view(lib.wt_layer_w(handle), (heads, dim, outputs), owned),
            u=theta[:, dim] if form.bias else None,
            c=view(lib.wt_layer_c(handle), (outputs,), owned) if form.bias else None, _layer=owned)

    @classmethod
    def _of(cls, owned: Owned, **report: Any) -> "Layer":
        """A layer that the library made."""
        made = cls.__new__(cls)
        made._take(owned, **report)
        return made

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this layer has no {name!r}" + (
            _errors.hint(name, dir(self)) or ": a report belongs to the call that made the layer"))

    @classmethod
    def load(cls, path: FilePath, *, index: int = 0, heads: int = 0, map: Optional[str] = None, fold: bool = False,
             rope: str = "refuse") -> "Layer":
        """Reads a file of ours, or layer `index` of a checkpoint (docs/checkpoints.md).

        heads: of a checkpoint that does not tell. map: names of a scheme of one's own, "q=blocks.{}.wq,k=..".
        fold: the norm before a checkpoint's layer becomes part of it. rope="ignore": rotary positions are
        left out.
        """
        out = c_void_p()
        with session() as work:
            how = _checkpoint(work, heads, map, rope)
            work(lib.wt_layer_open, path_bytes(path), byref(how), whole(index, "index", 0), bool(fold), byref(out))
        return cls._of(Owned(out.value, lib.wt_layer_free))

    @classmethod
    def of_module(cls, module: Any, *, index: int = 0, heads: int = 0, map: Optional[str] = None, fold: bool = False,
                  rope: str = "refuse") -> "Layer":
        """The attention layer in the weights of a torch module, or of a dictionary of arrays by name.

        Names are those of a checkpoint: a torch.nn.MultiheadAttention, or a model of a known scheme. heads: as
        the module says unless given.
        """
        state = module.state_dict() if hasattr(module, "state_dict") else module
        if not isinstance(state, Mapping):
            raise TypeError(f"module: something with state_dict() is expected, not {type(module).__name__}")
        arrays = {str(name): numbers(array, str(name)) for name, array in state.items() if np.ndim(array) > 0}
        for name in ("num_heads", "num_attention_heads"):
            heads = heads or int(getattr(module, name, 0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "module.safetensors"
            _write_tensors(path, arrays)
            return cls.load(path, index=index, heads=heads, map=map, fold=fold, rope=rope)

    def save(self, path: FilePath) -> None:
        """Writes a .safetensors file, with the verdict of a recovery in its metadata."""
        notes: List[Tuple[str, str]] = []
        report = vars(self)
        if "verdict" in report:
            notes = [("verdict", report["verdict"]), ("holdout_error", f"{report['holdout_error']:.3g}")]
            if not report["recovered"]:
                notes += [("accepted", "the best fit, which was not recovered"), ("reason", report["reason"])]
        pairs = (wt_metadata * max(len(notes), 1))(*[wt_metadata(a.encode(), b.encode()) for a, b in notes])
        with session() as work:
            work(lib.wt_layer_save_noted, self._layer.handle, path_bytes(path), pairs, len(notes))

    def __call__(self, x: Any, lengths: Any = None, *, threads: Optional[int] = None, memory: Bytes = None) -> Array:
        """F(x): (k, d) to (k, p), or (n, k, d) to (n, k, p); rows past the end of a sequence are 0."""
        tokens = numbers(x, "x", ("k", "d"), ("n", "k", "d"))
        if tokens.shape[-1] != self.dim:
            raise _errors.UsageError(f"x: tokens of {tokens.shape[-1]} dimensions do not fit a layer of {self.dim}")
        if lengths is not None:
            y = _applied(self, Sequences(tokens, lengths=lengths), threads, memory).y
            assert y is not None
            return y
        shape = tokens.shape
        out = np.empty(shape[:-1] + (self.outputs,))
        with session(threads, memory) as work:
            work.quick(lib.wt_values_check_finite, b"x", address(tokens), len(shape), (c_size_t * len(shape))(*shape))
            work(lib.wt_layer_forward, self._layer.handle, 1 if len(shape) == 2 else shape[0], shape[-2], address(tokens),
                 address(out))
        return out

    def keep(self, heads: Union[int, Sequence[int]]) -> "Layer":
        """A layer of these heads, numbers from 0, and all else that this one has."""
        chosen = naturals(heads, "heads")
        out = c_void_p()
        with session() as work:
            work(lib.wt_layer_keep, self._layer.handle, len(chosen), address(chosen), byref(out))
        return Layer._of(Owned(out.value, lib.wt_layer_free))

    def draw(self, **how: Any) -> Sequences:
        """Sequences and this layer's outputs: draw_sequences(layer, ..)."""
        return draw_sequences(self, **how)

    def export(self, path: FilePath, **how: Any) -> "Exported":
        """Writes the layer as a checkpoint of PyTorch or BERT: export(layer, path, ..)."""
        return export(self, path, **how)

    def _rows(self) -> List[Tuple[str, str]]:
        parts = {name for name, value in self._items() if isinstance(value, Result)}  # with tables of their own
        if self.norm == "none":
            parts.add("epsilon")
        return [row for row in super()._rows() if row[0] not in parts and row[1] not in ("", "-")]

    def __reduce__(self) -> Tuple[Any, ...]:
        report = {name: value for name, value in self._items() if not isinstance(value, np.ndarray)}
        arrays = [None if part is None else np.array(part) for part in (self.theta, self.w, self.u, self.c)]
        return _layer_again, (arrays, report)


def _layer_again(arrays: List[Any], report: Dict[str, Any]) -> Layer:
    layer = Layer(*arrays, **{name: report[name] for name in ("mask", "residual", "norm", "epsilon")})
    layer.__dict__.update(report)
    return layer


def _write_tensors(path: FilePath, arrays: Mapping[str, Array]) -> None:
    tensors = (wt_tensor * max(len(arrays), 1))()
    for tensor, (name, array) in zip(tensors, arrays.items()):
        tensor.name, tensor.rank, tensor.values = name.encode(), array.ndim, address(array)
        tensor.shape[:array.ndim] = array.shape
    with session() as work:
        work(lib.wt_safetensors_write, path_bytes(path), tensors, len(arrays), None, 0)


def _checkpoint(work: session, heads: int, map: Optional[str], rope: str) -> wt_checkpoint_options:
    how = start(wt_checkpoint_options, lib.wt_checkpoint_options_init)
    how.heads = whole(heads, "heads", 0)
    if rope not in ("refuse", "ignore"):
        raise _errors.UsageError(f"rope: {rope!r} is neither 'refuse' nor 'ignore'")
    how.ignore_rope = rope == "ignore"
    if map is not None:
        text = str(map).encode()
        work.keep.append(text)
        how.map = text
    return how


def naturals(given: Any, name: str) -> "np.ndarray[Any, Any]":
    """Numbers from 0 as the library takes them: one, or several."""
    items = [given] if np.ndim(given) == 0 else list(given)
    return np.array([whole(item, name, 0) for item in items], dtype=np.uintp)


def as_layer(layer: Union[Layer, FilePath], name: str = "layer", **how: Any) -> Layer:
    """A layer, or a file of one."""
    if isinstance(layer, Layer):
        return layer
    if isinstance(layer, (str, os.PathLike)):
        return Layer.load(layer, **how)
    raise TypeError(f"{name}: a layer or a file of one is expected, not {type(layer).__name__}")


@options("wt_teacher_fields")
def teacher(
    *,
    heads: int = 2,
    dim: int = 8,
    out_dim: int = 0,
    scale: float = 2,
    rank: int = 0,
    groups: int = 0,
    parity: int = 0,
    bias: bool = False,
    mask: str = "none",
    residual: bool = False,
    norm: str = "none",
    epsilon: float = 1e-5,
    zero_sum: bool = False,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
) -> Layer:
    """A layer to learn from, Theta_i and W_i Gaussian: `wattle teacher`.

    zero_sum: the mean of all W_i is taken off each, so that they sum to 0.

    >>> import wattle as wt
    >>> wt.teacher(heads=3, dim=4, seed=1).theta.shape
    (3, 4, 4)
    """
    given = locals()
    if parity:
        for name, usual in (("heads", 2), ("out_dim", 0), ("scale", 2), ("rank", 0), ("groups", 0), ("zero_sum", False)):
            if given[name] != usual:
                raise _errors.UsageError(f"parity and {name} exclude each other")
    out = c_void_p()
    with session(threads, memory) as work:
        spec = fill(work, "wt_teacher_fields", wt_teacher_options, given)
        spec.seed = read_seed(seed)
        if zero_sum and spec.heads < 2:
            raise _errors.UsageError("zero_sum leaves nothing of a single head")
        work(lib.wt_layer_teacher, byref(spec), byref(out))
    owned = Owned(out.value, lib.wt_layer_free)
    if zero_sum:
        lib.wt_layer_zero_sum(owned.handle)
    return Layer._of(owned)


# ---- sequences of a layer -------------------------------------------------------------------------

Rows = Union[str, "np.ndarray[Any, Any]", Tuple[Any, int]]


class _Tables:
    """Tables that tokens are made of: "FILE:NAME[@ROW]", an array (V, d), or (array, row)."""

    def __init__(self, work: session, dim: int, given: Sequence[Any], name: str) -> None:
        self.rows = (wt_token_rows * max(len(given), 1))()
        self.loaded: List[Any] = []
        self.keep: List[Array] = []
        for to, item in zip(self.rows, given):
            if isinstance(item, (str, bytes)):
                work(lib.wt_token_rows_load, os.fsencode(item), dim, byref(to))
                self.loaded.append(to)
                continue
            array = numbers(item[0] if isinstance(item, tuple) else item, name, ("rows", dim))
            self.keep.append(array)
            to.rows, to.values = len(array), address(array)
            if isinstance(item, tuple):
                to.fixed, to.row = True, whole(item[1], f"row of {name}", 0)

    def __del__(self) -> None:
        for rows in self.loaded:
            lib.wt_token_rows_free(byref(rows))


class _Norm:
    """Gain and shift (d): "FILE:STEM", or both arrays."""

    def __init__(self, work: session, dim: int, given: Any) -> None:
        self.gain, self.shift = c_void_p(), c_void_p()
        self.keep: List[Array] = []
        if isinstance(given, (str, bytes)):
            work(lib.wt_token_norm_load, os.fsencode(given), dim, byref(self.gain), byref(self.shift))
        elif given is not None:
            self.keep = [numbers(part, "norm_from", (dim,)) for part in given]
            if len(self.keep) != 2:
                raise _errors.UsageError("norm_from: 'FILE:STEM' or (gain, shift) is expected")
            self.gain.value, self.shift.value = (address(part) for part in self.keep)

    def __del__(self) -> None:
        if not self.keep:
            for part in (self.gain, self.shift):
                lib.wt_release(part)


@options("wt_problem_fields", without=("target", "dim", "keys"))
def draw_sequences(
    layer: Union[Layer, FilePath, int],
    *,
    n: int = 1000,
    length: int = 4,
    shortest: int = 0,
    tokens: str = "sphere",
    token_scale: float = 0,
    noise: float = 0,
    tokens_from: Optional[Rows] = None,
    add: Union[Rows, List[Rows], None] = None,
    norm_from: Optional[Any] = None,
    index: int = 0,
    map: Optional[str] = None,
    fold: bool = False,
    rope: str = "refuse",
    heads: int = 0,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
) -> Sequences:
    """Draws n sequences of `length` tokens and the layer's outputs: `wattle draw --layer`.

    Tokens are not scaled unless token_scale is given. shortest: sequences of that to `length` tokens.
    tokens_from: tokens are rows of an array (V, d), "FILE:NAME" or the array itself, drawn at random; add:
    one or a list of such, of which the row of a token's place is added, or of "FILE:NAME@ROW" or (array,
    row) that row; norm_from: "FILE:STEM" or (gain, shift) of a layer norm after that. A number
    instead of a layer: tokens of that dimension alone. index, map, fold, rope, heads: as in Layer.load.

    >>> import wattle as wt
    >>> data = wt.draw_sequences(wt.teacher(dim=4), n=10, length=3, tokens="gaussian")
    >>> data.x.shape, data.y.shape
    ((10, 3, 4), (10, 3, 4))
    """
    given = locals()
    how = start(wt_layer_draw_options, lib.wt_layer_draw_options_init)
    of = None
    if isinstance(layer, (int, np.integer)):
        how.dim = whole(layer, "layer")
    else:
        of = as_layer(layer, index=index, map=map, fold=fold, rope=rope, heads=heads)
    if tokens_from is None and (add is not None or norm_from is not None):
        raise _errors.UsageError("add and norm_from need tokens_from")
    if tokens_from is not None and tokens != "sphere":
        raise _errors.UsageError("tokens_from and tokens exclude each other")
    out = c_void_p()
    with session(threads, memory) as work:
        problem = fill(work, "wt_problem_fields", wt_problem_spec,
                       {name: given[name] for name in ("tokens", "token_scale", "noise")})
        how.samples, how.length = whole(n, "n"), whole(length, "length")
        how.shortest = whole(shortest, "shortest", 0)
        how.law, how.noise, how.seed = problem.law, problem.noise, read_seed(seed)
        how.token_scale = problem.token_scale or 1.0
        width = how.dim if of is None else of.dim
        if tokens_from is not None:
            words = _Tables(work, width, [tokens_from], "tokens_from")
            more = _Tables(work, width, add if isinstance(add, list) else [] if add is None else [add], "add")
            norm = _Norm(work, width, norm_from)
            how.rows, how.add, how.add_count = words.rows, more.rows, len(more.loaded) + len(more.keep)
            how.gain, how.shift = norm.gain, norm.shift
            work.keep += [words, more, norm]
        work(lib.wt_layer_draw_as, None if of is None else of._layer.handle, byref(how), byref(out))
    return Sequences._of(Owned(out.value, lib.wt_sequences_free))


class Applied(Sequences):
    """What a layer makes of sequences: y, its form, and the error |y - F(x)| / |y| beside the y of the data."""

    error: float
    form: str


def apply(layer: Union[Layer, Network, FilePath], data: Any, y: Any = None, *, index: int = 0, map: Optional[str] = None,
          fold: bool = False, rope: str = "refuse", heads: int = 0, threads: Optional[int] = None,
          memory: Bytes = None) -> Union[Applied, Answers]:
    """Outputs of a layer for sequences x (n, k, d), and their error where y is known: `wattle apply`.

    The data are Sequences, a file of them, (x, y), or an array x. index, map, fold, rope, heads: as in
    Layer.load. Of a network, or a file of one, its answers on bits (n, T): Network.apply.

    >>> import wattle as wt
    >>> layer = wt.teacher(dim=4)
    >>> wt.apply(layer, layer.draw(n=10)).error < 1e-15
    True
    """
    if isinstance(layer, Network):
        return layer.apply(data, y, threads=threads, memory=memory)
    if isinstance(layer, (str, os.PathLike)):
        with session() as work:
            network = lib.wt_network_in_file(work.handle, path_bytes(layer, "layer"))
        if network:
            return Network.load(layer).apply(data, y, threads=threads, memory=memory)
    return _applied(as_layer(layer, index=index, map=map, fold=fold, rope=rope, heads=heads), as_sequences(data, y),
                    threads, memory)


def _applied(of: Layer, sequences: Sequences, threads: Optional[int], memory: Bytes) -> Applied:
    out, error = c_void_p(), c_double()
    with session(threads, memory) as work:
        work(lib.wt_layer_evaluate, of._layer.handle, sequences._sequences.handle, byref(out), byref(error))
    made = Applied.__new__(Applied)
    made._take(Owned(out.value, lib.wt_sequences_free))
    made.form, made.error = of.form, error.value
    return made


# ---- two layers -----------------------------------------------------------------------------------


class Comparison(Result):
    """How far two layers are apart: heads matched, duplicates merged, zero heads dropped.

    heads_a, heads_b, theta_error, w_error, c_error, heads (a, b, theta_error, w_error each), function
    (length, distance), form_a, form_b, dim, visible, off_origin; with data data_output, data_difference.
    """

    theta_error: float
    w_error: float
    c_error: float
    heads: List[Dict[str, Any]]
    function: List[Dict[str, Any]]

    def _rows(self) -> List[Tuple[str, str]]:
        rows = [row for row in super()._rows() if row[0] not in ("heads", "function")]
        return rows + [(f"distance, {at['length']} tokens", f"{at['distance']:.3g}") for at in self.function]


def compare(a: Union[Layer, FilePath], b: Union[Layer, FilePath], *, token_scale: float = 1, data: Optional[Data] = None,
            index: Union[int, Tuple[int, int]] = 0, map: Optional[str] = None, fold: bool = False, rope: str = "refuse",
            heads: int = 0, seed: int = 0, threads: Optional[int] = None, memory: Bytes = None) -> Comparison:
    """Compares the heads and the outputs of two layers, or files of layers: `wattle compare`.

    Errors are Frobenius norms over those in a. token_scale: of the fresh Gaussian sequences. data:
    sequences; heads are compared in what their tokens show. index: one number for both files, or two.

    >>> import wattle as wt
    >>> a = wt.teacher(heads=2, dim=4)
    >>> b = wt.Layer(a.theta[::-1], a.w[::-1])      # the same, in another order
    >>> wt.compare(a, b).theta_error
    0.0
    """
    which = index if isinstance(index, tuple) else (index, index)
    if len(which) != 2:
        raise _errors.UsageError(f"index: {index!r} is neither a number nor two")
    how_to = dict(map=map, fold=fold, rope=rope, heads=heads)
    one, other = as_layer(a, "a", index=which[0], **how_to), as_layer(b, "b", index=which[1], **how_to)
    shown = None if data is None else as_sequences(data)
    how = start(wt_compare_options, lib.wt_compare_options_init)
    how.token_scale, how.seed = float(token_scale), read_seed(seed)
    how.data = None if shown is None else shown._sequences.handle
    found = sized(wt_comparison)
    with session(threads, memory) as work:
        work(lib.wt_layer_compare, one._layer.handle, other._layer.handle, byref(how), byref(found))
    try:
        return _comparison(found, one, other)
    finally:
        lib.wt_comparison_free(byref(found))


def _comparison(found: Any, one: Layer, other: Layer) -> Comparison:
    none = c_size_t(-1).value
    matches = [dict(a=None if row.a == none else row.a, b=None if row.b == none else row.b, theta_error=row.theta_error,
                    w_error=row.w_error) for row in found.match[:found.matches]]
    made = Comparison(
        **values(found, "heads_a", "heads_b", "theta_error", "w_error"), heads=matches,
        function=[dict(length=found.length[i], distance=found.distance[i]) for i in range(len(found.length))],
        form_a=one.form, form_b=other.form, c_error=found.c_error, dim=found.dim, visible=found.rank,
        off_origin=found.off_origin)
    if found.data_output == found.data_output:
        made.__dict__.update(values(found, "data_output", "data_difference"))
    return made


# ---- other programs -------------------------------------------------------------------------------


class Exported(Result):
    """What was written: output, as, heads, dim, width, rank, form."""


def export(layer: Union[Layer, FilePath], output: FilePath, *, as_: str = "torch",
           only: Union[int, Sequence[int], None] = None, rank: Union[int, str] = "auto", index: int = 0, map: Optional[str] = None, fold: bool = False, rope: str = "refuse",
           heads: int = 0, threads: Optional[int] = None, memory: Bytes = None) -> Exported:
    """Writes a layer as a checkpoint of torch.nn.MultiheadAttention or BERT, or as ours: `wattle export`.

    as_: "torch", "bert" or "wattle" (`as` is a word of Python's). only: heads to keep. rank: heads of a higher one are refused; "auto": those
    above d / m, which no such checkpoint holds.
    """
    of = as_layer(layer, index=index, map=map, fold=fold, rope=rope, heads=heads)
    of = of if only is None else of.keep(only)
    if as_ not in ("torch", "bert", "wattle"):
        raise _errors.UsageError(f"as_: {as_!r} is none of 'torch', 'bert', 'wattle'")
    how, largest, word = start(wt_layer_export_options, lib.wt_layer_export_options_init), c_size_t(), as_.encode()
    how.rank = 0 if rank == "auto" else whole(rank, "rank")
    setattr(how, "as", word)
    with session(threads, memory) as work:
        if as_ == "wattle":
            work(lib.wt_layer_save, of._layer.handle, path_bytes(output))
        else:
            work(lib.wt_layer_export, of._layer.handle, byref(how), path_bytes(output), byref(largest))
    return Exported(output=os.fspath(output), **{"as": as_}, heads=of.heads, dim=of.dim, width=of.dim // of.heads,
                    rank=largest.value, form=of.form)


def serve_layer(layer: Union[Layer, FilePath], lines: Any = None, out: Any = None, *, index: int = 0,
                map: Optional[str] = None, fold: bool = False, rope: str = "refuse", heads: int = 0,
                threads: Optional[int] = 1, memory: Bytes = None) -> None:
    """Answers lines, each a JSON matrix of tokens, with the last row of F(X): `wattle serve-layer`.

    lines: a file, a path or a descriptor, standard input unless given. out: where answers go, anything that
    has write(text), standard output unless given. Ends with the lines: a program that ends so is an oracle
    for `wattle query --oracle 'python3 program.py'`.
    """
    of = as_layer(layer, index=index, map=map, fold=fold, rope=rope, heads=heads)
    to, source = sys.stdout if out is None else out, sys.stdin if lines is None else lines
    if not callable(getattr(to, "write", None)):
        raise TypeError(f"out: something with write(text) is expected, not {type(out).__name__}")

    def answer(line: bytes, count: int) -> None:
        to.write(line[:count].decode())
        getattr(to, "flush", lambda: None)()

    opened = open(source, "rb") if isinstance(source, (str, os.PathLike)) else None
    try:
        if opened is None and not isinstance(source, int) and not hasattr(source, "fileno"):
            raise TypeError(f"lines: a file, a path or a descriptor is expected, not {type(lines).__name__}")
        descriptor = whole(source, "lines", 0, (1 << 31) - 1) if isinstance(source, int) else (opened or source).fileno()
        with session(threads, memory) as work:
            callback = _native.wt_oracle_answer_fn(work.guard(answer))
            work(lib.wt_layer_serve, of._layer.handle, descriptor, callback, None)
    finally:
        if opened is not None:
            opened.close()
