"""Learning curves of random-feature models, with repetitions, intervals and rates."""
from __future__ import annotations

import html
from ctypes import byref, c_void_p, create_string_buffer
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _errors, _native
from ._arrays import Array, Owned, view
from ._context import Bytes, FilePath, Seconds, encode, path_bytes, read_seed, session
from ._fields import Values, fill, options, spell
from ._library import lib
from ._native import wt_curve_options, wt_grid
from ._plots import axes, figure, legend, log_scale, ticks_at
from ._result import Interval, Result, frame, values
from .features import Data, as_sets

POINT = ("lambda", "train_error", "loo_error", "test_error", "lambda_at_end")
RENAMED = {"model": "models", "target": "targets"}


def grid(text: Values) -> "np.ndarray[Any, Any]":
    """The numbers of a grid as the command writes it, whole ones as integers.

    >>> import wattle as wt
    >>> wt.grid("16:128:x2")
    array([ 16,  32,  64, 128])
    >>> wt.grid("0.1:0.3:0.1,1")
    array([0.1, 0.2, 0.3, 1. ])
    """
    out = wt_grid()
    with session() as work:
        work.quick(lib.wt_grid_parse, encode(spell(text, "text"), "text"), byref(out))
        numbers = np.array(view(out.values, (out.count,), None))
        lib.wt_grid_free(byref(out))
    return numbers.astype(np.int64) if np.all(numbers == np.round(numbers)) and np.all(abs(numbers) < 2**53) else numbers


class CurveLine(Result):
    """One curve: a model with its sizes on a target.

    n (sizes); error, low, high (sizes): the mean test error and its 95% interval; over_first,
    over_low, over_high: the same over the first model's error on the same draws; rate: the exponent
    of n; points: lambda, train_error, loo_error, test_error, lambda_at_end, (reps, sizes) each.
    """

    name: str
    model: str
    target: str
    activation: str
    dim: int
    keys: int
    heads: int
    bias: float
    rate: Interval
    n: "np.ndarray[Any, Any]"
    error: Array
    low: Array
    high: Array
    over_first: Array
    over_low: Array
    over_high: Array
    points: Dict[str, "np.ndarray[Any, Any]"]


class Curve(Result):
    """Learning curves: `curves`, a CurveLine each; frame() has all points, plot() draws them."""

    tokens: str
    penalty: Union[float, str]
    seed: int
    reps: int
    curves: List[CurveLine]

    def __len__(self) -> int:
        return len(self.curves)

    def __iter__(self) -> Iterator[CurveLine]:
        return iter(self.curves)

    def __getitem__(self, index: int) -> CurveLine:
        return self.curves[index]

    def _table(self) -> List[Tuple[str, ...]]:
        rows: List[Tuple[str, ...]] = [("model", "target", "n", "test error (95% interval)",
                                        f"over {self.curves[0].model}, paired", "exponent of n")]
        for line in self.curves:
            for i, n in enumerate(line.n):
                error = Interval(line.error[i], line.low[i], line.high[i])
                ratio = Interval(line.over_first[i], line.over_low[i], line.over_high[i])
                last = i + 1 == len(line.n)
                rows.append((line.name, line.target, str(n), str(error), str(ratio), str(line.rate) if last else ""))
        return rows

    def __repr__(self) -> str:
        rows = self._table()
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        text = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><tr>{text}</tr>{body}</table>"

    def frame(self) -> Any:
        """All points, one row a model, target, repetition and n, with the columns of the command's CSV."""
        columns: Dict[str, List[Any]] = {name: [] for name in (
            "model", "target", "tokens", "activation", "dim", "keys", "heads", "bias", "seed", "rep", "n", *POINT)}
        for line in self.curves:
            for rep in range(self.reps):
                for i, n in enumerate(line.n):
                    row = (line.model, line.target, self.tokens, line.activation, line.dim, line.keys, line.heads,
                           line.bias, self.seed, rep, n, *(line.points[name][rep, i] for name in POINT))
                    for column, value in zip(columns.values(), row):
                        column.append(value)
        return frame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Test error against n, or against the one size that varies; a panel a target unless `ax` is given."""
        targets = list(dict.fromkeys(line.target for line in self.curves))
        if ax is not None or len(targets) == 1:
            panels = [axes(ax)] * len(targets)
        else:
            panels = list(figure(3.7 * len(targets), 3.4).subplots(1, len(targets), sharey=True))
        for place, target in zip(panels, targets):
            self._panel(place, target, ax is not None and len(targets) > 1)
            place.label_outer()
        return panels[0] if len(targets) == 1 or ax is not None else np.array(panels)

    def _panel(self, ax: Any, target: str, named: bool) -> None:
        lines = [line for line in self.curves if line.target == target]
        size = next((size for size in ("heads", "dim", "keys")
                     if len({getattr(line, size) for line in lines if getattr(line, size) > 0}) > 1), None)
        by_n = len(lines[0].n) > 1 or size is None
        groups: Dict[str, List[Tuple[Any, ...]]] = {}
        for line in lines:
            label = line.name if by_n else line.model
            for i, n in enumerate(line.n):
                x = n if by_n else getattr(line, str(size))
                groups.setdefault(f"{label}, {target}" if named else label, []).append(
                    (x, line.error[i], line.low[i], line.high[i]))
        for label, points in groups.items():
            x, y, low, high = np.array(sorted(points), dtype=float).T
            ax.errorbar(x, y, yerr=np.nan_to_num([y - low, high - y]), marker="o", markersize=4, capsize=2, linewidth=1.4,
                        elinewidth=1, label=label)
        ax.set(xlabel="samples n" if by_n else size, ylabel="test error / variance (95% interval)")
        shown = np.array([point for points in groups.values() for point in points], dtype=float)
        log_scale(ax, "x", shown[:, 0])
        log_scale(ax, "y", shown[:, 1:])
        ticks_at(ax.xaxis, np.unique(shown[:, 0]))
        if not named:
            ax.set_title(target, fontsize="medium")
        legend(ax)


def _line(handle: int, index: int, reps: int, sizes: int) -> CurveLine:
    line = lib.wt_curves_line_at(handle, index)
    name = create_string_buffer(_native.WT_CURVE_NAME)
    lib.wt_curves_name(handle, line, b"\0", name)
    found = [lib.wt_curves_summary_at(handle, index, i).contents for i in range(sizes)]
    grids = {key: np.array([[getattr(lib.wt_curves_point_at(handle, index, rep, i).contents, key)
                             for i in range(sizes)] for rep in range(reps)]) for key in POINT}
    return CurveLine(
        name=name.value.decode(), n=np.array([at.n for at in found]),
        **values(line.contents, "model", "target", "activation", "dim", "keys", "heads", "bias", "rate"),
        error=np.array([at.error.value for at in found]), low=np.array([at.error.low for at in found]),
        high=np.array([at.error.high for at in found]),
        over_first=np.array([at.over_first.value for at in found]),
        over_low=np.array([at.over_first.low for at in found]),
        over_high=np.array([at.over_first.high for at in found]), points=grids)


@options("wt_curve_fields", renamed=RENAMED)
def curve(
    data: Optional[Data] = None,
    *,
    models: Values = "rfa,brfa,rfmlp",
    heads: Values = "1000",
    width: int = 0,
    bias: Values = "4",
    activation: Values = "relu",
    targets: Values = "mean-power:2,mean-power:4,corr-power:3",
    tokens: str = "sphere",
    token_scale: float = 0,
    noise: float = 0,
    dim: Values = "16",
    keys: Values = "16",
    n: Values = "16:1024:x2",
    test_n: int = 1000,
    penalty: Union[float, str] = 1e-3,
    penalty_path: Values = "1e-8:10:x10",
    reps: int = 5,
    holdout: float = 0.2,
    output: Optional[FilePath] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Curve:
    """Test error against the number of samples, for every model and target: `wattle curve`.

    With data the curve is of these, a part of them held out. With output= all points go to a CSV
    file, and the same call goes on from OUTPUT.part where one was interrupted.

    >>> import wattle as wt
    >>> curve = wt.curve(models=["rfa", "brfa"], targets="mean-power:2", n="16:64:x2", reps=2, heads=20, dim=4)
    >>> len(curve), curve[0].n, curve[0].points["test_error"].shape
    (2, array([16, 32, 64]), (2, 3))
    """
    given = locals()
    out = c_void_p()
    with session(threads, memory, time) as work:
        chosen = fill(work, "wt_curve_fields", wt_curve_options, given, RENAMED)
        chosen.seed = read_seed(seed)
        if output is not None:
            chosen.output = path_bytes(output, "output")
        if data is not None:
            sets = as_sets(data)
            chosen.data = sets._sets.handle
            work.keep.append(sets)
            if targets != "mean-power:2,mean-power:4,corr-power:3":
                raise _errors.UsageError("data and targets exclude each other")
        work(lib.wt_curves_run, byref(chosen), byref(out))
    curves = Owned(out.value, lib.wt_curves_free)
    count, sizes = lib.wt_curves_reps(curves.handle), lib.wt_curves_size_count(curves.handle)
    lines = [_line(curves.handle, i, count, sizes) for i in range(lib.wt_curves_count(curves.handle))]
    ends = sum(int(line.points["lambda_at_end"].sum()) for line in lines)
    if ends:
        _errors.warn(f"{_native.WT_LAMBDA_AT_END} ({ends} of {len(lines) * count * sizes} points; lambda_at_end)",
                      _errors.Remark)
    return Curve(tokens="" if data is not None else lib.wt_law_name(chosen.law).decode(), penalty=penalty,
                 seed=int(seed), reps=count, curves=lines)
