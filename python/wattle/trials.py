"""How many samples sparse Boolean functions need: of an exhaustive search, and of a network."""
from __future__ import annotations

from ctypes import byref, c_double, c_void_p, pointer
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _errors
from ._arrays import Owned, address, view
from ._context import Bytes, FilePath, Seconds, encode, flag, path_bytes, read_seed, real, session, whole
from ._fields import Values, differs, fill, options, sized, spell, start
from ._library import lib
from ._native import (wt_grid, wt_parity_result, wt_search_options, wt_search_result, wt_threshold_spec,
                      wt_threshold_summary, wt_train_spec)
from ._plots import axes, figure, legend, ticks_at
from ._result import Interval, Result, values
from ._table import Table
from .networks import labelled, refuse_meaningless

ROW = ("length", "samples", "successes", "trials", "rate", "low", "high")


def _rates(ax: Any, rows: Table, goal: float) -> None:
    """The rate of success against m with its interval, a line a length."""
    lengths = np.unique(rows.length)
    for length in lengths:
        of = rows.length == length
        line, = ax.plot(rows.samples[of], rows.rate[of], marker="o", markersize=4, linewidth=1.4, label=f"T = {length}")
        ax.fill_between(rows.samples[of], rows.low[of], rows.high[of], color=line.get_color(), linewidth=0,
                        alpha=0.3 / max(len(lengths), 2))
    ax.axhline(goal, color="0.5", linewidth=0.8, linestyle=":")
    ax.text(0.99, goal, "goal", color="0.4", ha="right", va="bottom", fontsize="small",
            transform=ax.get_yaxis_transform())
    ax.set(xlabel="samples m", ylabel="rate of success (95% interval)", ylim=(-0.03, 1.03))
    legend(ax)


# ---- search ---------------------------------------------------------------------------------------


class Found(Result):
    """Choices of positions that explain the labels: answers (found, s), each wrong on `errors` samples."""

    task: str
    samples: int
    length: int
    errors: int
    complete: bool
    looked: int
    answers: "np.ndarray[Any, Any]"


class Parity(Result):
    """What elimination over GF(2) says: of the 2^dimension parities that are right, positions is one of the fewest."""

    samples: int
    length: int
    consistent: bool
    rank: int
    dimension: int
    least: Optional[int]
    least_count: Optional[int]
    positions: Optional["np.ndarray[Any, Any]"]


class Search(Result):
    """Trials of a search: rows, a length and number of samples each; least, the samples that are enough."""

    task: str
    method: str
    noise: float
    rate: float
    trials: int
    seed: int
    rows: Table
    least: Table

    def _rows(self) -> List[Tuple[str, str]]:
        rows = [("task", f"{self.task} by {self.method}"), ("trials", f"{self.trials}, label noise {self.noise:g}")]
        return rows + [(f"T = {at['length']}", f"{at['samples'] or 'no number of'} samples reach a rate of {self.rate:g}")
                       for at in self.least.records()]

    def frame(self) -> Any:
        """One row a length and number of samples."""
        return self.rows.frame()

    def plot(self, ax: Any = None) -> Any:
        """The rate of success against the number of samples, with 95% intervals."""
        ax = axes(ax)
        _rates(ax, self.rows, self.rate)
        ax.set_title(f"{self.task} by {self.method}", fontsize="medium")
        return ax


def _on_samples(work: session, samples: Owned, task: str, fewest: bool, most: int) -> Found:
    function, found = c_void_p(), sized(wt_search_result)
    work.quick(lib.wt_boolean_new, encode(str(task), "task"), byref(function))
    owned = Owned(function.value, lib.wt_boolean_free)
    work(lib.wt_bits_search_best if fewest else lib.wt_bits_search, samples.handle, owned.handle, whole(most, "most"),
         byref(found))
    answers = view(found.position, (found.found, found.bits), None, "<u8").astype(np.int64)
    lib.wt_search_result_free(byref(found))
    n = lib.wt_bits_samples(samples.handle)
    if len(answers) == 0:
        _errors.warn(f"no {lib.wt_boolean_bits(owned.handle)} positions explain all {n} labels as {task}",
                     _errors.MissedWarning)
    return Found(task=str(task), samples=n, length=lib.wt_bits_length(samples.handle), errors=found.errors,
                 complete=found.complete, looked=found.looked, answers=answers)


def _parity(work: session, samples: Owned) -> Parity:
    found, length = sized(wt_parity_result), lib.wt_bits_length(samples.handle)
    work(lib.wt_bits_solve_parity, samples.handle, byref(found))
    places = np.flatnonzero(view(found.member, (length,), None, "|u1"))
    lib.wt_parity_result_free(byref(found))
    n = lib.wt_bits_samples(samples.handle)
    if not found.consistent:
        _errors.warn(f"no parity explains all {n} labels", _errors.MissedWarning)
    return Parity(samples=n, length=length, **values(found, "consistent", "rank", "dimension"),
                  least=found.least if found.least_known else None,
                  least_count=found.least_count if found.least_known else None,
                  positions=places if found.consistent else None)


def _trials(handle: int) -> Tuple[Table, Table]:
    rows: List[List[Any]] = []
    least: List[Tuple[int, Optional[int]]] = []
    length = 0
    while lib.wt_search_trials_row_at(handle, length, 0):
        at, size = lib.wt_search_trials_row_at(handle, length, 0), 0
        while at:
            row, size = at.contents, size + 1
            rows.append([row.length, row.samples, row.successes, row.trials, row.rate.value, row.rate.low,
                         row.rate.high, row.looked])
            at = lib.wt_search_trials_row_at(handle, length, size)
        least.append((rows[-1][0], lib.wt_search_trials_enough(handle, length) or None))
        length += 1
    return Table.of((*ROW, "looked"), rows), Table.of(("length", "samples"), least)


@options("wt_search_fields")
def search(
    task: Optional[str] = None,
    bits: Any = None,
    y: Any = None,
    *,
    length: Values = "100",
    samples: Values = "10:60:5",
    probability: float = 0,
    noise: float = 0,
    trials: int = 40,
    rate: float = 0.8,
    method: str = "search",
    fewest: bool = False,
    most: int = 10,
    output: Optional[FilePath] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Union[Search, Found, Parity]:
    """Which bits explain labels, and how many samples that takes, whatever the learner: `wattle search`.

    search(task) draws trials: in how many do m samples leave one choice of positions, the right one?
    search(task, bits, y), or a file in place of both, gives the choices themselves, `most` of them,
    those with the `fewest` errors where none is right on all. With method="elimination" a parity of
    unknown size is found; on samples it takes no task. With output= the trials go to a CSV file, and
    the same call goes on where one was interrupted.

    >>> import wattle as wt
    >>> found = wt.search("and:2", length=30, samples="10:30:10", trials=10)
    >>> found.rows.samples, found.least.records()[0]["samples"] <= 30
    (array([10, 20, 30]), True)
    >>> bits = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]]
    >>> wt.search("and:2", bits, [0, 0, 0, 1, 1, 0]).answers
    array([[0, 1]])
    """
    given = locals()
    fewest = flag(fewest, "fewest")
    with session(threads, memory, time) as work:
        if bits is not None:
            own = labelled(work, bits, y, "bits")
            if method == "elimination":
                if task is not None or fewest:
                    raise _errors.UsageError("elimination solves for parities of any size that are right on all "
                                             "samples: leave out task and fewest")
                return _parity(work, own)
            if task is None:
                raise _errors.UsageError("search needs a task, as 'and:3'")
            return _on_samples(work, own, task, fewest, most)
        if task is None:
            raise _errors.UsageError("search needs a task, as 'and:3'")
        if fewest or differs(most, 10):
            raise _errors.UsageError("fewest and most go with samples of one's own")
        chosen, out = fill(work, "wt_search_fields", wt_search_options, given), c_void_p()
        chosen.seed = read_seed(seed)
        if output is not None:
            chosen.output = path_bytes(output, "output")
        work(lib.wt_search_trials_run, byref(chosen), byref(out))
        rows, least = _trials(Owned(out.value, lib.wt_search_trials_free).handle)
    return Search(task=str(task), method=str(method), **values(chosen, "noise", "rate", "trials", "seed"), rows=rows,
                  least=least)


# ---- threshold ------------------------------------------------------------------------------------

CENSORED = ("no", "below", "above")
CARET_UP, CARET_DOWN = 6, 7  # markers of matplotlib
GROWTH: Dict[str, Any] = {"log": np.log, "sqrt": np.sqrt, "linear": np.asarray}


class ThresholdLength(Result):
    """One length: the critical m of the grid (None = none), the m fitted between its points, and what was tried.

    censored: "below" where the least m is critical already, "above" where the largest tried fails.
    """

    length: int
    censored: str
    critical: Optional[int]
    fitted: Interval
    cells: Table


class ThresholdFit(Result):
    """m = a + b f(T) through the fitted m: slope b, intercept a."""

    growth: str
    lengths: int
    left_out: int
    slope: Interval
    intercept: Interval
    r_squared: float
    aic: float
    bic: float


class Threshold(Result):
    """How many samples a network needs: lengths, fits of their growth, and its exponent (0 = log)."""

    task: str
    model: str
    low: int
    high: int
    resolution: int
    trials: int
    restarts: int
    rate: float
    seed: int
    trials_run: int
    lengths: List[ThresholdLength]
    fits: List[ThresholdFit]
    exponent: Interval
    _cells: Table

    def _rows(self) -> List[Tuple[str, str]]:
        rows = [("task", f"{self.task}, {self.model}"), ("trials run", str(self.trials_run))]
        for at in self.lengths:
            critical = {"no": f"{at.critical}", "below": f"at most {at.critical}",
                        "above": f"above {at.cells.samples.max() if len(at.cells) else 0}"}[at.censored]
            rows.append((f"T = {at.length}", f"critical m {critical}, fitted {at.fitted}" if len(at.cells) else "not tried"))
        rows += [(f"m = a + b {fit.growth}", f"b = {fit.slope}, R^2 {fit.r_squared:.4f}, AIC {fit.aic:.2f}")
                 for fit in self.fits]
        return rows + ([("exponent of T", str(self.exponent))] if self.fits else [])

    def frame(self) -> Any:
        """One row a length and number of samples that was tried."""
        return self._cells.frame()

    def plot(self, ax: Any = None) -> Any:
        """Rates of success, and the critical m against the length with its fits; `ax` takes the second alone."""
        if ax is not None:
            self._growth(ax)
            return ax
        panels = figure(7.5, 3.4).subplots(1, 2)
        _rates(panels[0], self._cells, self.rate)
        self._growth(panels[1])
        return panels

    def _growth(self, ax: Any) -> None:
        """The fitted m with their intervals; a caret where the trials do not show an end, hollow where they show no m."""
        for i, at in enumerate(at for at in self.lengths if len(at.cells)):
            least, most = at.cells.samples.min(), at.cells.samples.max()
            value, low, high = at.fitted
            found, above = np.isfinite(value), value > 0
            value = value if found else most if above else least
            ends = [low if np.isfinite(low) else least if found else value, high if np.isfinite(high) else most if found else value]
            ax.plot([at.length] * 2, ends, color="black", linewidth=1)
            ax.plot(at.length, value, "s", color="black", markersize=5, markerfacecolor="black" if found else "white",
                    label="fitted m" if i == 0 else None)
            if not np.isfinite(low) and (found or not above):
                ax.plot(at.length, ends[0], marker=CARET_DOWN, color="black")
            if not np.isfinite(high) and (found or above):
                ax.plot(at.length, ends[1], marker=CARET_UP, color="black")
        lengths = [at.length for at in self.lengths]
        x = np.geomspace(min(lengths), max(lengths), 60)
        for i, fit in enumerate(self.fits):
            best = fit.aic == min(other.aic for other in self.fits)
            ax.plot(x, fit.intercept.value + fit.slope.value * GROWTH[fit.growth](x), color=f"C{i}", zorder=1,
                    linewidth=1.8 if best else 1, linestyle="-" if best else "--",
                    label=f"a + b {'T' if fit.growth == 'linear' else fit.growth + ' T'}")
        ax.set(xlabel="length T", ylabel="samples m (95% interval)")
        ticks_at(ax.xaxis, lengths)
        legend(ax)


def _lengths(work: session, length: Values) -> Tuple[int, int]:
    grid = wt_grid()
    try:
        work.quick(lib.wt_grid_parse_integers, encode(spell(length, "length"), "length"), byref(grid))
        array = np.array(view(grid.values, (grid.count,), None)).astype(np.uintp)
    except _errors.UsageError as error:
        raise _errors.UsageError(f"length: {error}") from None
    finally:
        lib.wt_grid_free(byref(grid))
    work.keep.append(array)
    return address(array) or 0, len(array)


def _range(work: session, samples: str) -> Tuple[int, int]:
    low, high = c_double(), c_double()
    try:
        work.quick(lib.wt_range_parse, encode(spell(samples, "samples"), "samples"), byref(low), byref(high))
    except _errors.UsageError as error:
        raise _errors.UsageError(f"samples: {error}") from None
    if low.value < 1 or high.value > 1e9 or not (low.value.is_integer() and high.value.is_integer()):
        raise _errors.UsageError(f"samples: {samples!r} is no range of whole numbers from 1 to 10^9")
    return int(low.value), int(high.value)


def _summary(work: session, handle: int) -> Tuple[List[ThresholdLength], List[ThresholdFit], Interval]:
    summary = sized(wt_threshold_summary)
    work(lib.wt_threshold_summarise, handle, byref(summary))
    lengths = []
    for i in range(summary.point_count):
        point = summary.points[i]
        cells = [summary.cells[point.first_cell + c] for c in range(point.cells)]
        lengths.append(ThresholdLength(
            length=point.length, censored=CENSORED[point.censoring], critical=point.critical or None,
            **values(point, "fitted"),
            cells=Table.of(ROW[1:], [[cell.samples, cell.successes, cell.trials, cell.rate.value, cell.rate.low,
                                      cell.rate.high] for cell in cells])))
    fits = [ThresholdFit(growth=lib.wt_growth_name(row.growth).decode(), lengths=summary.fitted_points,
                         left_out=summary.point_count - summary.fitted_points,
                         **values(row.fit, "slope", "intercept", "r_squared", "aic", "bic"))
            for row in (summary.fits if summary.fitted_points >= 3 else ())]
    exponent = values(summary, "exponent")["exponent"]
    lib.wt_threshold_summary_free(byref(summary))
    return lengths, fits, exponent


@options("wt_train_fields", without=("online", "to_end", "loss_mark", "settle", "length", "samples", "restarts"))
def threshold(
    task: str = "and:3",
    *,
    length: Values = "100:400:100",
    samples: str = "10:200",
    resolution: int = 5,
    trials: int = 40,
    restarts: int = 5,
    rate: float = 0.8,
    all_trials: bool = False,
    around: int = 2,
    output: Optional[FilePath] = None,
    dry_run: bool = False,
    probability: float = 0,
    noise: float = 0,
    keep_ambiguous: bool = False,
    model: str = "transformer",
    dim: int = 64,
    heads: int = 16,
    hidden: int = 0,
    activation: str = "own",
    fixed_positions: bool = False,
    dropout: float = -1,
    embedding_dropout: float = -1,
    attention_dropout: float = -1,
    block_dropout: float = -1,
    lr: float = 0.001,
    weight_decay: float = 0.0001,
    decoupled: bool = False,
    clip: float = 1,
    ball: str = "none",
    init_scale: float = 1,
    steps: int = 1000,
    validate: int = 10,
    validation_samples: int = 10000,
    success: float = 0.99,
    seed: int = 0,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Threshold:
    """How many samples a network needs, against the length: `wattle threshold`.

    At each length the smallest m on the grid of `samples` and `resolution` is looked for such that it
    and every larger m tried have `rate` of their `trials` succeed. With output= all trials are kept in
    a CSV file, also at Ctrl-C, and the same call goes on from them.

    length: bits of a sample, a list or grid. samples: where m is looked for, "lo:hi". resolution: from
    one m to the next. restarts: runs of a trial at most. all_trials: run them all, though it is decided
    whether the rate is met. around: further m tried on each side. dry_run: run nothing, tell what the
    trials of output= say, also of a table that was made on a GPU that is not here.

    >>> import wattle as wt
    >>> found = wt.threshold("and:1", length=[4, 6], samples="2:16", resolution=2, trials=3, around=0, model="head",
    ...                      dim=8, lr=0.1, steps=200, validation_samples=200)
    >>> [at.length for at in found.lengths], found.lengths[0].censored
    ([4, 6], 'no')
    """
    given = locals()
    with session(threads, memory, time) as work:
        refuse_meaningless(given)
        trial = fill(work, "wt_train_fields", wt_train_spec, {**given, "length": None, "samples": None})
        trial.restarts, trial.seed = whole(restarts, "restarts"), read_seed(seed)
        spec = start(wt_threshold_spec, lib.wt_threshold_spec_init)
        spec.train = pointer(trial)
        spec.lengths, spec.length_count = _lengths(work, length)
        spec.low, spec.high = _range(work, samples)
        spec.resolution, spec.trials = whole(resolution, "resolution"), whole(trials, "trials")
        spec.rate, spec.all_trials, spec.around = real(rate, "rate"), flag(all_trials, "all_trials"), whole(around, "around", 0)
        spec.seed, spec.as_made = trial.seed, flag(dry_run, "dry_run")
        out = c_void_p()
        work(lib.wt_threshold_open, byref(spec), None if output is None else path_bytes(output, "output"), byref(out))
        found = Owned(out.value, lib.wt_threshold_free)
        if not dry_run:
            work(lib.wt_threshold_run, found.handle)
        lengths, fits, exponent = _summary(work, found.handle)
        count = lib.wt_threshold_trials(found.handle)
    cells = [[at.length, *row.values()] for at in lengths for row in at.cells.records()]
    return Threshold(task=str(task), model=str(model), **values(spec, "low", "high", "resolution", "trials"),
                     restarts=trial.restarts, **values(spec, "rate", "seed"), trials_run=count, lengths=lengths, fits=fits,
                     exponent=exponent, _cells=Table.of(ROW, cells))
