"""Sequences of tokens, what a layer makes of them, and their files."""
from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from . import _errors
from ._arrays import Array, Owned, address, numbers, view
from ._context import FilePath, path_bytes, session
from ._fields import sized, start
from ._library import lib
from ._native import wt_sequences_arrays, wt_sequences_spec
from ._result import Result


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
