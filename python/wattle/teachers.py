"""Layers that are drawn, and sequences with what a layer makes of them."""
from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _errors
from ._arrays import Array, Owned, address, numbers
from ._context import Bytes, FilePath, flag, path_bytes, read_seed, session, whole
from ._fields import differs, fill, options, start
from ._library import lib
from ._native import wt_layer_draw_options, wt_problem_spec, wt_teacher_options, wt_token_rows
from .layers import Layer, as_layer
from .sequences import Sequences

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
    zero_sum = flag(zero_sum, "zero_sum")
    if differs(parity, 0):
        for name, usual in (("heads", 2), ("out_dim", 0), ("scale", 2), ("rank", 0), ("groups", 0), ("zero_sum", False)):
            if differs(given[name], usual):
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
                work(lib.wt_token_rows_load, path_bytes(item, "tokens_from"), dim, byref(to))
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
            work(lib.wt_token_norm_load, path_bytes(given, "norm_from"), dim, byref(self.gain), byref(self.shift))
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
