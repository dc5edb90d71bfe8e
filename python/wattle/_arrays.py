"""Arrays in and out: borrowed where they are C-contiguous float64, views of the library's memory."""
from __future__ import annotations

from typing import Any, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _errors

Array = npt.NDArray[np.float64]
KINDS = {"U": "text", "S": "text", "c": "complex ones", "M": "dates"}
Shape = Tuple[Union[int, str], ...]  # numbers, or letters that stand for any


def as_array(value: Any) -> "npt.NDArray[Any]":
    """Anything with __array__; a tensor of torch without its gradient, from any device."""
    if type(value) is np.ndarray:
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):
            value = value.float()
    if isinstance(value, np.ma.MaskedArray) and np.any(value.mask):
        raise TypeError("some of its numbers are masked: fill them first")
    return np.asarray(value)


def real_array(value: Any, name: str) -> "npt.NDArray[Any]":
    """Real numbers of any type."""
    try:
        array = as_array(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name}: no array of numbers ({error})") from None
    if array.dtype.kind not in "fiub":
        kind = KINDS.get(array.dtype.kind, array.dtype)
        if array.dtype == object:
            kind = "objects (astype(float) makes numbers of those that are)" if array.ndim else _errors.told(value)
        raise TypeError(f"{name}: real numbers are expected, not {kind}")
    return array


def numbers(value: Any, name: str, *shapes: Shape) -> Array:
    """float64, C-contiguous, of one of the shapes; the array itself where it is so already."""
    array = real_array(value, name)
    if shapes and not any(fits(array.shape, shape) for shape in shapes):
        words = " or ".join(spell(shape) for shape in shapes)
        raise _errors.UsageError(f"{name}: the shape {spell(array.shape)} is not {words}")
    if array.dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned:
        return array
    try:
        return np.array(array, dtype=np.float64, order="C")
    except MemoryError as error:
        raise _errors.OutOfMemory(f"{name}: {error}") from None


def mask_of(value: Any, name: str, shape: Shape) -> "npt.NDArray[np.uint8]":
    """(n, N) of anything: not 0 = live."""
    array = real_array(value, name)
    if not fits(array.shape, shape):
        raise _errors.UsageError(f"{name}: the shape {spell(array.shape)} is not {spell(shape)}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise _errors.UsageError(f"{name}: NaN is neither live nor masked")
    if array.dtype == np.bool_ and array.flags.c_contiguous:
        return array.view(np.uint8)
    return np.ascontiguousarray(array != 0).view(np.uint8)


def fits(have: Tuple[int, ...], wanted: Shape) -> bool:
    return len(have) == len(wanted) and all(isinstance(w, str) or h == w for h, w in zip(have, wanted))


def spell(shape: Shape) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def address(array: Optional["npt.NDArray[Any]"]) -> Optional[int]:
    """For a c_void_p argument. The array must outlive the call."""
    return None if array is None else int(array.__array_interface__["data"][0])


class _Memory:
    """What NumPy needs to look at memory of the library's; holds who owns it."""

    def __init__(self, place: int, shape: Tuple[int, ...], code: str, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (place, False), "shape": shape, "typestr": code, "version": 3}


def view(place: Optional[int], shape: Tuple[int, ...], owner: Any, code: str = "<f8") -> "npt.NDArray[Any]":
    """An array over the library's own numbers, alive as long as it is looked at."""
    if place is None or 0 in shape:
        return np.empty(shape, dtype=code)
    return np.asarray(_Memory(place, shape, code, owner))


class Owned:
    """An object of the library's, freed with its last reference."""

    __slots__ = ("handle", "_free", "keep", "__weakref__")

    def __init__(self, handle: Optional[int], free: Any, keep: Any = None) -> None:
        assert handle is not None
        self.handle = handle
        self._free = free
        self.keep = keep  # what it points to

    def __reduce__(self) -> Any:
        raise TypeError("what the library holds cannot be pickled or copied; save it to a file")

    def __del__(self) -> None:
        self._free(self.handle)
