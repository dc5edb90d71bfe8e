"""Wattle: what attention learns, from Python, over the C library.

Every command of `wattle` has its function, with the same names and defaults; the same seed gives the
same bits. See docs/python.md.
"""
from importlib import import_module
from typing import Any

from ._context import Settings, cancel, settings
from ._errors import (CannotCreate, ConfigError, DataError, Error, InternalError, Interrupted, Missed, MissedWarning,
                      NoInput, OutOfMemory, ReadWriteError, Remark, Unavailable, UsageError, hint)
from ._library import LibraryError, VERSION as __version__
from ._result import Interval, Result
from .claims import Claim, Part, Report, Reproduction, Verdicts, report, reproduce, verdicts
from .cluster import Submission, submit
from .curves import Curve, CurveLine, curve, grid
from .features import Model, Plan, Score, Sets, draw, fit, load, plan, predict, score
from .files import FileInfo, info
from .inspection import Head, Inspection, inspect
from .lab import Experiment, Store, StoreStatus, Sweep, SweepPlan, experiments, sweep
from .layers import Applied, Comparison, Exported, Layer, apply, compare, export, serve_layer
from .networks import Answers, Attention, Network, train
from .recovery import query, recover, recover_module
from .sequences import Sequences
from .teachers import draw_sequences, teacher
from .theory import Bound, Construction, bound, construct
from .trials import Found, Parity, Search, Threshold, search, threshold

__all__ = [
    "Answers", "Applied", "Attention", "Bound", "CannotCreate", "Claim", "Comparison", "ConfigError",
    "Construction", "Curve", "CurveLine", "DataError", "Error", "Experiment", "Exported", "FileInfo", "Found",
    "Head", "Inspection", "InternalError", "Interrupted", "Interval", "Layer", "LibraryError", "Missed",
    "MissedWarning", "Model", "Network", "NoInput", "OutOfMemory", "Parity", "Part", "Plan", "ReadWriteError",
    "Remark", "Report", "Reproduction", "Result", "Score", "Search", "Sequences", "Sets", "Settings", "Store",
    "StoreStatus", "Submission", "Sweep", "SweepPlan", "Threshold", "Unavailable", "UsageError", "Verdicts", "__version__",
    "apply", "bound", "cancel", "compare", "construct", "curve", "draw", "draw_sequences", "experiments", "export",
    "fit", "grid", "info", "inspect", "load", "plan", "predict", "query", "recover", "recover_module", "report",
    "reproduce", "score", "search", "serve_layer", "settings", "submit", "sweep", "teacher", "threshold", "train",
    "verdicts",
]


def __getattr__(name: str) -> Any:
    """wattle.sklearn, which needs scikit-learn, is imported when it is first used."""
    if name == "sklearn":
        return import_module(".sklearn", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}" + hint(name, __all__))
