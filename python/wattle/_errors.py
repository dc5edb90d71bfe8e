"""A class of exception for every status of the library; the message is the library's sentence."""
from __future__ import annotations

import difflib
import sys
import warnings
from types import FrameType
from typing import Any, Dict, Iterable, Optional, Type

from ._native import wt_status


class Error(Exception):
    """The base of all of them."""


class Missed(Error):
    """Ran to the end, or to the end of its time, without a result."""


class UsageError(Error, ValueError):
    """An argument that makes no sense."""


class DataError(Error, ValueError):
    """Input that is malformed, unreadable or disagrees with itself."""


class NoInput(Error, FileNotFoundError):
    """An input that does not exist."""


class Unavailable(Error, RuntimeError):
    """Not built in, or an outside program failed."""


class InternalError(Error, RuntimeError):
    """A fault of the library's, or a broken installation."""


class OutOfMemory(Error, MemoryError):
    """Out of memory, or over the memory budget."""


class CannotCreate(Error, OSError):
    """An output that cannot be created."""


class ReadWriteError(Error, OSError):
    """Reading or writing broke off."""


class Interrupted(Error):
    """Cancelled, or its time is over; what was finished is kept."""


class ConfigError(Error, ValueError):
    """A configuration file that makes no sense."""


class Remark(UserWarning):
    """What the library remarks though nothing failed: a choice it made, a doubt about the data."""


class MissedWarning(UserWarning):
    """A result that did not reach its goal; it says so in its attributes too."""


def told(value: Any) -> str:
    """A wrong value in a sentence: as it is written where that is short, else what it is."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else type(value).__name__


def hint(word: str, names: Iterable[str]) -> str:
    """The nearest names, for the end of a sentence about one that there is not."""
    near = difflib.get_close_matches(word, [name for name in names if not name.startswith("_")], 2, 0.75)
    return f": is it {' or '.join(near)}?" if near else ""


def warn(sentence: str, kind: Type[Warning]) -> None:
    """A warning at the line of the caller outside this package."""
    level = 2
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "wattle":
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, kind, stacklevel=level)


CLASSES: Dict[int, Type[Error]] = {
    wt_status.WT_MISSED: Missed,
    wt_status.WT_USAGE: UsageError,
    wt_status.WT_DATA: DataError,
    wt_status.WT_NO_INPUT: NoInput,
    wt_status.WT_UNAVAILABLE: Unavailable,
    wt_status.WT_INTERNAL: InternalError,
    wt_status.WT_MEMORY: OutOfMemory,
    wt_status.WT_CANNOT_CREATE: CannotCreate,
    wt_status.WT_IO: ReadWriteError,
    wt_status.WT_INTERRUPTED: Interrupted,
    wt_status.WT_CONFIG: ConfigError,
}
