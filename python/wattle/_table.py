"""Tables: columns that are arrays of one length."""
from __future__ import annotations

import html
from typing import Any, Dict, List, Sequence

import numpy as np

from ._result import Result, frame, plain, show

MOST = 40  # rows that are shown


def column_of(cells: Sequence[Any]) -> "np.ndarray[Any, Any]":
    """Numbers where all are, NaN for those that are missing; else objects."""
    there = [value for value in cells if value is not None]
    if there and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in there):
        if len(there) == len(cells) and all(isinstance(value, int) for value in there):
            return np.array(cells)
        return np.array([np.nan if value is None else value for value in cells], dtype=float)
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


class Table(Result):
    """Columns as attributes; frame() is a DataFrame, records() are dictionaries."""

    def __init__(self, **columns: Any) -> None:
        super().__init__(**{name: np.asarray(column) for name, column in columns.items()})

    @classmethod
    def of(cls, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> "Table":
        """From rows, each a value a name."""
        columns = list(zip(*rows)) if rows else [()] * len(names)
        return cls(**{name: column_of(column) for name, column in zip(names, columns)})

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no column {name!r}; there are {', '.join(vars(self))}")

    def __getitem__(self, name: str) -> "np.ndarray[Any, Any]":
        """A column, also one whose name is no word of Python's."""
        return self.__dict__[name]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(next((column for _, column in self._items()), ()))

    def frame(self) -> Any:
        """A pandas DataFrame where pandas is installed, else a dictionary of arrays."""
        return frame(dict(self._items()))

    def records(self) -> List[Dict[str, Any]]:
        """One dictionary a row, of plain numbers and words."""
        names = [name for name, _ in self._items()]
        return [dict(zip(names, (plain(value) for value in row)))
                for row in zip(*(column.tolist() for _, column in self._items()))]

    def _cells(self) -> List[List[str]]:
        names = [name for name, _ in self._items()]
        rows = [[show(value) for value in row.values()] for row in self.records()]
        if len(rows) > MOST:
            rows[MOST:] = [["..."] + [""] * (len(names) - 1)]
        return [[name.replace("_", " ") for name in names], *rows]

    def _brief(self) -> str:
        return f"{len(self)} rows: {', '.join(name for name, _ in self._items())}"

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        text = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                       for row in rows)
        return f"<table><tr>{text}</tr>{body}</table>"
