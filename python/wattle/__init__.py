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
from .inspection import Head, Inspection, inspect
from .layers import (Applied, Comparison, Exported, Layer, Sequences, apply, compare, draw_sequences, export, serve_layer,
                     teacher)
from .recovery import query, recover, recover_module

__all__ = [
    "Applied", "CannotCreate", "Comparison", "ConfigError", "Curve", "CurveLine", "DataError", "Error", "Exported",
    "Head", "Inspection", "InternalError", "Interrupted", "Interval", "Layer", "LibraryError", "Missed",
    "MissedWarning", "Model", "NoInput", "OutOfMemory", "Plan", "ReadWriteError", "Remark", "Result", "Score",
    "Sequences", "Sets", "Settings", "Unavailable", "UsageError", "__version__", "apply", "cancel", "compare",
    "curve", "draw", "draw_sequences", "export", "fit", "grid", "inspect", "load", "plan", "predict", "query",
    "recover", "recover_module", "score", "serve_layer", "settings", "teacher",
]


def __getattr__(name: str) -> Any:
    """wattle.sklearn, which needs scikit-learn, is imported when it is first used."""
    if name == "sklearn":
        return import_module(".sklearn", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
