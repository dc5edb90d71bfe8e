"""The multi-head attention layer: its files, what it makes of sequences, how far two are apart."""
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
from ._context import Bytes, FilePath, encode, flag, path_bytes, read_seed, real, session, whole
from ._fields import fill, sized, start, table
from ._library import lib
from ._native import (wt_checkpoint_options, wt_compare_options, wt_comparison, wt_layer_export_options, wt_layer_form,
                      wt_metadata, wt_teacher_options, wt_tensor)
from ._result import Result, values
from .networks import Answers, Network
from .sequences import Data, Sequences, as_sequences


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
            work(lib.wt_layer_open, path_bytes(path), byref(how), whole(index, "index", 0), flag(fold, "fold"), byref(out))
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
        from .teachers import draw_sequences

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
        tensor.name, tensor.rank, tensor.values = encode(name, "a tensor's name"), array.ndim, address(array)
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
        text = encode(str(map), "map")
        work.keep.append(text)
        how.map = text
    return how


def naturals(given: Any, name: str) -> "np.ndarray[Any, Any]":
    """Numbers from 0 as the library takes them: one, or several."""
    items = list(given) if isinstance(given, (list, tuple)) or np.ndim(given) else [given]
    return np.array([whole(item, name, 0) for item in items], dtype=np.uintp)


def as_layer(layer: Union[Layer, FilePath], name: str = "layer", **how: Any) -> Layer:
    """A layer, or a file of one."""
    if isinstance(layer, Layer):
        return layer
    if isinstance(layer, (str, os.PathLike)):
        return Layer.load(layer, **how)
    raise TypeError(f"{name}: a layer or a file of one is expected, not {type(layer).__name__}")


# ---- what it makes of sequences -------------------------------------------------------------------


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
    how.token_scale, how.seed = real(token_scale, "token_scale"), read_seed(seed)
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
