"""Wattle: what attention learns, from Python, over the C library.

Every command of `wattle` has its function, with the same names and defaults; the same seed gives the
same bits. See docs/python.md.
"""
from importlib import import_module
from typing import Any

from ._context import Settings, cancel, settings
from ._errors import (CannotCreate, ConfigError, DataError, Error, InternalError, Interrupted, Missed, MissedWarning,
                      NoInput, OutOfMemory, ReadWriteError, Remark, Unavailable, UsageError)
from ._library import LibraryError, VERSION as __version__
from ._result import Interval, Result
from .curves import Curve, CurveLine, curve, grid
from .features import Model, Plan, Score, Sets, draw, fit, load, plan, predict, score

__all__ = [
    "CannotCreate", "ConfigError", "Curve", "CurveLine", "DataError", "Error", "InternalError", "Interrupted", "Interval", "LibraryError",
    "Missed", "MissedWarning", "Model", "NoInput", "OutOfMemory", "Plan", "ReadWriteError", "Remark", "Result", "Score",
    "Sets", "Settings", "Unavailable", "UsageError", "__version__", "cancel", "curve", "draw", "fit", "grid", "load", "plan", "predict", "score",
    "settings",
]


def __getattr__(name: str) -> Any:
    """wattle.sklearn, which needs scikit-learn, is imported when it is first used."""
    if name == "sklearn":
        return import_module(".sklearn", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
