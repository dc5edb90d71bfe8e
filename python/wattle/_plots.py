"""What pictures have in common: axes, panels side by side, scales and legends, at sizes fit for a paper."""
from __future__ import annotations

from typing import Any

import numpy as np


def axes(given: Any = None) -> Any:
    """The axes to draw on: those given, or new ones of matplotlib."""
    if given is not None:
        return given
    return figure(4.8, 3.4).add_subplot()


def figure(width: float, height: float) -> Any:
    """An empty figure of so many inches."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("a picture needs matplotlib: install python3-matplotlib") from None
    return pyplot.figure(figsize=(width, height), layout="constrained")


def log_scale(ax: Any, axis: str, numbers: Any) -> None:
    """A logarithmic axis with ticks that are read as they stand: 0.1, 0.2, 0.5, and more where few would be seen."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set(**{f"{axis}scale": "log"})
    above = numbers[np.isfinite(numbers) & (numbers > 0)]
    span = above.max() / above.min() if len(above) else 1.0
    if span < 300:
        of = getattr(ax, f"{axis}axis")
        of.set_major_locator(LogLocator(subs=(1, 2, 5) if span > 6 else (1, 1.5, 2, 3, 4, 5, 6, 8)))
        of.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        of.set_minor_formatter(NullFormatter())


def ticks_at(axis: Any, places: Any) -> None:
    """Ticks at the very places where something was measured, as long as they are few."""
    if 0 < len(places) <= 10:
        axis.set_ticks(places, [f"{place:g}" for place in places])
        axis.set_ticks([], minor=True)


def legend(ax: Any, **place: Any) -> None:
    ax.legend(fontsize="small", framealpha=0.7, edgecolor="none", **place)
