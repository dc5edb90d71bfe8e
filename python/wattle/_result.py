"""What results have in common: attributes, a table, a dictionary."""
from __future__ import annotations

import html
import math
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import numpy as np

from ._native import wt_interval


class Interval(NamedTuple):
    """A value and its 95% interval, NaN where none can be given."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return "-"
        ends = (f"{end:.4g}" if math.isfinite(end) else "?" for end in (self.low, self.high))
        return f"{self.value:.4g}" if math.isnan(self.low) else f"{self.value:.4g} ({', '.join(ends)})"


def show(value: Any) -> str:
    """As the command prints it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Interval):
        return str(value)
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return ", ".join(map(show, value.tolist())) if value.ndim == 1 and 0 < value.size <= 8 else f"array {value.shape}"
    if isinstance(value, Result):
        return value._brief()
    if isinstance(value, (list, tuple)):
        return "; ".join(map(show, value)) if len(value) <= 4 else f"{len(value)} of them"
    return str(value)


def plain(value: Any) -> Any:
    """Without NumPy: what json can write."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Interval):
        return {"value": plain(value.value), "low": plain(value.low), "high": plain(value.high)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Result:
    """A result: its numbers are attributes, to_dict() has them all, and it shows itself as a table."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def _items(self) -> Iterator[Tuple[str, Any]]:
        """Names and values of what is public."""
        return ((name, value) for name, value in vars(self).items() if not name.startswith("_"))

    def _rows(self) -> List[Tuple[str, str]]:
        """The lines of the table: a name and what it is."""
        return [(name.replace("_", " "), show(value)) for name, value in self._items()]

    def _brief(self) -> str:
        """In a line of another's table."""
        return "; ".join(f"{name} {value}" for name, value in self._rows() if "\n" not in value)

    def to_dict(self) -> Dict[str, Any]:
        """All attributes, as numbers, words, lists and dictionaries; NaN and infinity are None."""
        return {name: plain(value) for name, value in self._items()}

    def __repr__(self) -> str:
        rows = self._rows()
        width = max([22, *(len(name) for name, _ in rows)])
        return "\n".join(f"{name:<{width}} {value}".rstrip() for name, value in rows)

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><td style='text-align:left'>{html.escape(name)}</td>"
                        f"<td style='text-align:left'>{html.escape(value)}</td></tr>" for name, value in self._rows())
        return f"<table>{cells}</table>"


def values(struct: Any, *names: str) -> Dict[str, Any]:
    """Members of a C struct as Python values, by name; texts are decoded."""
    out: Dict[str, Any] = {}
    for name in names:
        value = getattr(struct, name)
        kind = type(value)
        if kind is bytes:
            value = value.decode("utf-8", "replace")
        elif kind is wt_interval:
            value = Interval(value.value, value.low, value.high)
        out[name] = value
    return out


def frame(columns: Dict[str, Any]) -> Any:
    """A pandas DataFrame where pandas is installed, else a dictionary of arrays."""
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    try:
        import pandas
    except ImportError:
        return arrays
    return pandas.DataFrame(arrays)
