"""Sweeps of experiments over grids, and the stores that their results go to."""
from __future__ import annotations

import builtins
import json
import os
import threading
from contextlib import contextmanager
from ctypes import byref, c_double, c_void_p, create_string_buffer
from typing import Any, Dict, Iterator, List, Mapping, Optional, Set, Tuple, TypeVar, Union

import numpy as np

from . import _context, _errors, _native
from ._arrays import Owned
from ._context import Bytes, FilePath, Seconds, encode, flag, path_bytes, read_seed, session, whole
from ._fields import sized, spell, start
from ._library import lib
from ._native import (wt_export_options, wt_merge_report, wt_plan_cost, wt_plan_count, wt_shard, wt_store_count,
                      wt_store_mode, wt_sweep_options, wt_sweep_report, wt_table_query)
from ._plots import axes, legend, log_scale
from ._result import Result, values
from ._table import Table, column_of

KINDS = {_native.wt_field_kind.WT_FIELD_KIND_WORD: "words", _native.wt_field_kind.WT_FIELD_KIND_TEXT: "text",
         _native.wt_field_kind.WT_FIELD_KIND_COUNT: "counts", _native.wt_field_kind.WT_FIELD_KIND_NATURAL: "whole",
         _native.wt_field_kind.WT_FIELD_KIND_REAL: "reals", _native.wt_field_kind.WT_FIELD_KIND_CHOICE: "reals or words",
         _native.wt_field_kind.WT_FIELD_KIND_FLAG: "yes or no"}

READ = wt_store_mode.WT_STORE_MODE_READ
R = TypeVar("R")
Spec = Union[Mapping[str, Any], FilePath]

# ---- experiments ----------------------------------------------------------------------------------


class Experiment(Result):
    """What a cell can be: parameters, with kind, default and help; metrics; the parameter computed together."""

    name: str
    summary: str
    result_version: int
    group: Optional[str]
    reps: int
    parameters: Table
    metrics: List[str]

    def __repr__(self) -> str:
        return f"{self.name}: {self.summary}\n{self.parameters!r}\nreps {self.reps}\nmetrics: {' '.join(self.metrics)}"


class Experiments(Dict[str, Experiment]):
    """The experiments by name."""

    def __repr__(self) -> str:
        return "\n".join(f"{name:<10} {one.summary}" for name, one in self.items())


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


def experiments() -> Experiments:
    """What can be swept, with parameters and metrics: `wattle sweep experiments`.

    >>> import wattle as wt
    >>> list(wt.experiments())
    ['curve', 'recover', 'train', 'threshold', 'construct']
    >>> wt.experiments()["curve"].metrics[0]
    'test_error'
    """
    found = Experiments()
    while True:
        at = lib.wt_experiment_at(len(found))
        if not at:
            return found
        fields = list(_walk(lib.wt_experiment_field_at, at))
        rows = [(field.contents.name.decode(), KINDS[field.contents.kind], _text(field.contents.fallback),
                 _text(field.contents.help)) for field in fields]
        one = Experiment(
            name=lib.wt_experiment_name(at).decode(), summary=lib.wt_experiment_summary(at).decode(),
            result_version=lib.wt_experiment_result_version(at), group=_text(lib.wt_experiment_group(at)),
            reps=lib.wt_experiment_reps(at), parameters=Table.of(("name", "kind", "default", "help"), rows),
            metrics=[name.decode() for name in _walk(lib.wt_experiment_metric_at, at)])
        found[one.name] = one


def _walk(function: Any, *of: Any) -> Iterator[Any]:
    """The elements that wt_x_at gives until it gives none."""
    index = 0
    while True:
        item = function(*of, index)
        if not item:
            return
        yield item
        index += 1


# ---- stores ---------------------------------------------------------------------------------------

_open_stores: Set[str] = builtins.set()
_guard = threading.Lock()


class one_at_a_time:
    """A process has a store open once at a time: to close it drops the locks that the process has on it."""

    def __init__(self, path: FilePath) -> None:
        self.key = os.path.realpath(os.fsdecode(path_bytes(path, "store")))

    def __enter__(self) -> None:
        with _guard:
            if self.key in _open_stores:
                raise _errors.UsageError(f"{self.key} is in use by another thread of this process; wait for it")
            _open_stores.add(self.key)

    def __exit__(self, *_: Any) -> None:
        with _guard:
            _open_stores.discard(self.key)


os.register_at_fork(after_in_child=_open_stores.clear)


@contextmanager
def open_store(work: session, path: FilePath, mode: int) -> Iterator[Optional[int]]:
    """The store of that path, closed when the block ends, however it does."""
    out = c_void_p()
    with one_at_a_time(path):
        try:
            work(lib.wt_store_open, path_bytes(path, "store"), mode, byref(out))
            yield out.value
        finally:
            lib.wt_store_free(out)


class StoreStatus(Result):
    """How many cells of each experiment are done and failed, and the commands and sweeps that were run."""

    store: str
    experiments: Dict[str, Dict[str, Any]]
    disputed: int
    commands: List[str]
    sweeps: List[str]

    def _rows(self) -> List[Tuple[str, str]]:
        rows = [("store", self.store)]
        rows += [(name, f"{at['done']} done, {at['failed']} failed, {at['wall_seconds']:.3g} s of computing")
                 for name, at in self.experiments.items()]
        if self.disputed:
            rows.append(("with other numbers", f"{self.disputed} cells: disputes()"))
        return rows + [("commands" if i == 0 else "", line) for i, line in enumerate(self.commands)]


class Merge(Result):
    """What a merge added: added and known cells; of the known, mended (failed, done now) and differing ones,
    and of these the disputed, which differ by more than rounding."""


RULES = ("mean", "geometric", "rate")


def _scale(ax: Any, axis: str, numbers: Any) -> None:
    """Logarithmic where the numbers span a factor of 8 or more."""
    finite = numbers[np.isfinite(numbers)]
    if len(finite) and finite.min() > 0 and finite.max() >= 8 * finite.min():
        log_scale(ax, axis, finite)


class StoreTable(Table):
    """One row a setting and x: the parameters that differ, x, y, low, high and repetitions."""

    _x: str
    _y: str

    def _names(self) -> List[str]:
        """Settings that tell lines apart, without those that follow from the others before them."""
        found: List[str] = []
        for name in self._settings:
            before = {tuple(self[other][i] for other in found) for i in range(len(self))}
            if len({(*(self[other][i] for other in found), self[name][i]) for i in range(len(self))}) > len(before):
                found.append(name)
        return found

    def plot(self, ax: Any = None) -> Any:
        """y against x with its interval, a line a setting."""
        ax, lines, names = axes(ax), self._lines, self._names()
        for line in np.unique(lines):
            of = lines == line
            label = ", ".join(name if word is None else f"{name} {word:g}" for name, word in (
                (value, None) if isinstance(value, str) else (name, value)
                for name, value in ((name, self[name][of][0]) for name in names)))
            x, value = self[self._x][of], self[self._y][of]
            bars = np.nan_to_num(np.clip([value - self["low"][of], self["high"][of] - value], 0, None))
            ax.errorbar(x, value, yerr=bars, marker="o", markersize=4, capsize=2, label=label or None)
        _scale(ax, "x", self[self._x])
        _scale(ax, "y", self[self._y])
        ax.set(xlabel=self._x, ylabel=f"{self._y.replace('_', ' ')} (95% interval)")
        if len(np.unique(lines)) > 1:
            legend(ax)
        return ax


def _numbers(words: List[str]) -> List[Any]:
    try:
        return [float(word) for word in words]
    except ValueError:
        return list(words)


def _table(table: Owned, experiment: str, x: str, y: str) -> StoreTable:
    rows = [row.contents for row in _walk(lib.wt_table_row_at, table.handle)]
    text = create_string_buffer(1024)

    def setting(line: int, name: str) -> str:
        return str(lib.wt_table_setting(table.handle, line, name.encode(), text, len(text)).decode("utf-8", "replace"))

    names = [*(field.contents.name.decode() for field in _walk(lib.wt_experiment_field_at,
                                                               lib.wt_experiment_find(experiment.encode()))), "seed"]
    columns: Dict[str, List[Any]] = {}
    for name in names:
        told = {line: setting(line, name) for line in {row.line for row in rows}}
        if len({*told.values()}) > 1:
            columns[name] = _numbers([told[row.line] for row in rows])
    made = StoreTable(**{name: column_of(column) for name, column in columns.items()}, **{
        x: np.array([row.x for row in rows]), y: np.array([row.y.value for row in rows]),
        "low": np.array([row.y.low for row in rows]), "high": np.array([row.y.high for row in rows]),
        "repetitions": np.array([row.repetitions for row in rows])})
    made.__dict__.update(_x=x, _y=y, _settings=list(columns), _lines=np.array([row.line for row in rows]))
    return made


class Store:
    """A file of results, one row a cell; it is opened for each call, so that others may write meanwhile.

    >>> import wattle as wt, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "results.db")
    >>> _ = wt.sweep(dict(experiment="construct", length=[64, 128], reps=1), store=path)
    >>> store = wt.Store(path)
    >>> store.status().experiments["construct"]["done"], len(store.cells())
    (2, 2)
    """

    def __init__(self, path: FilePath) -> None:
        path_bytes(path, "store")
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"Store({self.path!r})"

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    def status(self) -> StoreStatus:
        """How many cells there are of each experiment: `wattle sweep status`."""
        counts: Dict[str, Dict[str, Any]] = {}
        notes: Dict[str, List[str]] = {"command": [], "sweep": []}

        def count(at: Any) -> None:
            one = counts.setdefault(at.contents.experiment.decode(), {"done": 0, "failed": 0, "wall_seconds": 0.0})
            one["failed" if at.contents.failed else "done"] += 1
            one["wall_seconds"] += at.contents.wall_seconds

        def note(kind: bytes, text: bytes) -> None:
            if kind.decode() in notes:
                notes[kind.decode()].append(text.decode("utf-8", "replace"))

        held = sized(wt_store_count)
        with session() as work, open_store(work, self.path, READ) as store:
            take, hear = _native.wt_record_fn(work.guard(count)), _native.wt_note_fn(work.guard(note))
            work(lib.wt_store_hold, store)
            work(lib.wt_store_walk, store, None, take, None)
            work(lib.wt_store_walk_notes, store, hear, None)
            work(lib.wt_store_counts, store, byref(held))
        return StoreStatus(store=self.path, experiments=counts, disputed=held.disputed, commands=notes["command"], sweeps=notes["sweep"])

    def cells(self, experiment: Optional[str] = None, *, failed: Optional[bool] = None) -> Table:
        """All cells, or those of an experiment, or that failed (or not): the columns of `wattle sweep export`."""
        records: List[Dict[str, Any]] = []
        known(experiment)

        def take(at: Any) -> None:
            record = at.contents
            if failed is None or record.failed == failed:
                records.append({**values(record, "hash", "experiment", "result_version", "seed"),
                                "state": "failed" if record.failed else "done",
                                "parameters": json.loads(record.parameters), "metrics": json.loads(record.metrics),
                                **values(record, "message", "wall_seconds", "version", "machine", "finished_date")})

        with session() as work, open_store(work, self.path, READ) as store:
            callback = _native.wt_record_fn(work.guard(take))
            work(lib.wt_store_walk, store, None if experiment is None else experiment.encode(), callback, None)
        columns: Dict[str, List[Any]] = {}
        for name in ("hash", "experiment", "result_version", "seed", "state", "parameters", "metrics", "message",
                     "wall_seconds", "version", "machine", "finished_date"):
            if name in ("parameters", "metrics"):
                for key in sorted({key for record in records for key in record[name]}):
                    columns[key] = [record[name].get(key) for record in records]
            else:
                columns[name] = [record[name] for record in records]
        return Table(**{name: column_of(cells) for name, cells in columns.items()})

    def frame(self, experiment: Optional[str] = None) -> Any:
        """The cells as a pandas DataFrame, a column a parameter and metric."""
        return self.cells(experiment).frame()

    def failures(self) -> Table:
        """The cells that failed, with the sentence of each."""
        return self.cells(failed=True)

    def table(self, experiment: str, x: str, y: str, *, where: Optional[str] = None, rule: str = "mean") -> "StoreTable":
        """The repetitions of every setting at every x as one number with a 95% interval.

        where: "model=rfa|brfa target=mean-power:*": a star at the end stands for anything, != for all
        others. rule: mean, geometric (the mean of the logs) or rate (the share of ones).
        """
        known(experiment)
        if rule not in RULES:
            raise _errors.UsageError(f"rule: {rule!r} is none of {', '.join(RULES)}")
        one = experiments()[experiment]
        for keyword, name in (("x", x), ("y", y)):
            if name not in (*one.metrics, *one.parameters.name, "seed", "rep"):
                raise _errors.UsageError(f"{keyword}: {name!r} is no parameter or metric of {experiment}")
        query, loaded, made = start(wt_table_query, lib.wt_table_query_init), c_void_p(), c_void_p()
        query.experiment, query.x, query.y = experiment.encode(), str(x).encode(), str(y).encode()
        query.rule = RULES.index(rule)
        if where is not None:
            query.where = encode(where, "where")
        with session() as work:
            with open_store(work, self.path, READ) as store:
                work(lib.wt_results_load, store, byref(loaded))
            results = Owned(loaded.value, lib.wt_results_free)
            work(lib.wt_results_table, results.handle, byref(query), byref(made))
            return _table(Owned(made.value, lib.wt_table_free, results), experiment, x, y)

    def export(self, path: FilePath, experiment: Optional[str] = None) -> None:
        """Writes the cells as a table, .csv or .json: `wattle sweep export`."""
        chosen, out = start(wt_export_options, lib.wt_export_options_init), c_void_p()
        known(experiment)
        target = path_bytes(path)
        chosen.format = _native.wt_export_format["WT_EXPORT_FORMAT_" + ("JSON" if target.endswith(b".json") else "CSV")]
        chosen.path = target
        if experiment is not None:
            chosen.experiment = experiment.encode()
        with session() as work:
            with open_store(work, self.path, READ) as store:
                work(lib.wt_store_export, store, byref(chosen), byref(out))
            output = Owned(out.value, lib.wt_output_free)
            work.check(lib.wt_output_commit(output.handle))

    def merge(self, *others: Union["Store", FilePath]) -> Merge:
        """Adds the cells of other stores, and makes the file where it is not there: `wattle sweep merge`."""
        paths = [other.path if isinstance(other, Store) else other for other in others]
        if not paths:
            raise _errors.UsageError(f"there is nothing to merge with {self.path}")
        sums: Dict[str, int] = {"added": 0, "known": 0, "mended": 0, "differs": 0, "disputed": 0}
        held = sized(wt_store_count)
        if os.path.realpath(self.path) in [os.path.realpath(os.fspath(path)) for path in paths]:
            raise _errors.UsageError(f"{self.path} cannot be merged into itself")
        with session() as work:
            for path in paths:  # before a store is made for them
                with open_store(work, path, READ):
                    pass
            with open_store(work, self.path, wt_store_mode.WT_STORE_MODE_CREATE) as store:
                for path in paths:
                    self._add(work, store, path, sums)
                work(lib.wt_store_counts, store, byref(held))
        return Merge(store=self.path, added=sums["added"], known=sums["known"], mended=sums["mended"],
                     differing=sums["differs"], disputed=sums["disputed"], **values(held, "done", "failed"))

    def _add(self, work: session, store: Optional[int], path: FilePath, sums: Dict[str, int]) -> None:
        report = sized(wt_merge_report)
        with open_store(work, path, wt_store_mode.WT_STORE_MODE_COPY) as other:
            work(lib.wt_store_merge, store, other, byref(report))
        for name in sums:
            sums[name] += getattr(report, name)
        if report.differs > report.disputed:
            _errors.warn(f"{os.fspath(path)}: {report.differs - report.disputed} cells differ from those of {self.path} by "
                         "rounding; the first are kept", _errors.Remark)
        if report.disputed:
            _errors.warn(f"{os.fspath(path)}: {report.disputed} cells differ from those of {self.path} by more than rounding; "
                         "both numbers are kept, and disputes() shows them", _errors.Remark)

    def disputes(self) -> Table:
        """Cells that two stores had with other numbers, a row a metric: `wattle sweep disputes`."""
        rows: List[Dict[str, Any]] = []

        def take(cell: Any, other: Any) -> None:
            kept, beside = cell.contents, other.contents
            numbers = json.loads(beside.metrics)
            for metric, value in json.loads(kept.metrics).items():
                if numbers.get(metric) != value:
                    rows.append({"hash": kept.hash.decode(), "experiment": kept.experiment.decode(), "metric": metric,
                                 "kept": value, "other": numbers.get(metric), "kept_version": kept.version.decode(),
                                 "other_version": beside.version.decode(), "kept_machine": kept.machine.decode(),
                                 "other_machine": beside.machine.decode()})

        with session() as work, open_store(work, self.path, READ) as store:
            work(lib.wt_store_walk_disputes, store, _native.wt_dispute_fn(work.guard(take)), None)
        names = ("hash", "experiment", "metric", "kept", "other", "kept_version", "other_version", "kept_machine",
                 "other_machine")
        return Table(**{name: column_of([row[name] for row in rows]) for name in names})

    def retry(self, *, workers: Optional[int] = None, threads: Optional[int] = None, memory: Bytes = None,
              time: Seconds = None) -> "Sweep":
        """Computes the cells that failed again: `wattle sweep retry`."""
        held, plan = sized(wt_store_count), c_void_p()
        _context.refuse_after_fork()
        with session(threads, memory, time) as work, \
                open_store(work, self.path, wt_store_mode.WT_STORE_MODE_WRITE) as store:
            work(lib.wt_store_counts, store, byref(held))
            work(lib.wt_plan_new_failed, store, byref(plan))
            owned = Owned(plan.value, lib.wt_plan_free)
            report = run_plan(work, owned, store, workers, f"wattle.Store({self.path!r}).retry()")
        return finish(Sweep(store=self.path, cells=held.done + held.failed, done_before=held.done,
                            failed_before=held.failed, **values(report, "done", "failed", "seconds")), self.path, report.failed)

    def report(self, output: FilePath = "report.html") -> Any:
        """What the store says as one page: wattle.report()."""
        from .claims import report

        return report(self, output)


def known(experiment: Optional[str]) -> None:
    if experiment is not None and lib.wt_experiment_find(encode(str(experiment), "experiment")) is None:
        raise _errors.UsageError(f"experiment: {experiment!r} is none of {', '.join(experiments())}")


# ---- sweeps ---------------------------------------------------------------------------------------


class Sweep(Result):
    """What a sweep did: cells in all, done and failed before, and now. failures() are those that failed, with why."""

    store: str
    cells: int
    done_before: int
    failed_before: int
    done: int
    failed: int
    seconds: float

    def failures(self) -> Table:
        """The failed cells of the store, with the sentence of each."""
        return Store(self.store).failures()


class SweepPlan(Result):
    """What a sweep would do: cells, groups, to_do; about how many seconds and bytes, NaN = not known."""

    cells: int
    groups: int
    done_before: int
    failed_before: int
    to_do: int
    workers: int
    seconds: float
    bytes: float


def identity(work: session, workers: Optional[int], command: str) -> wt_sweep_options:
    """What goes into every record of a run."""
    chosen = start(wt_sweep_options, lib.wt_sweep_options_init)
    machine = create_string_buffer(_native.WT_MACHINE_TEXT)
    work.quick(lib.wt_context_machine, machine)
    chosen.workers = 0 if workers is None else whole(workers, "workers", most=_native.WT_MAX_THREADS)
    chosen.command = command.encode("utf-8", "replace")
    chosen.version = lib.wt_version()
    chosen.machine = machine.value
    return chosen


def run_plan(work: session, plan: Owned, store: Optional[int], workers: Optional[int], command: str) -> wt_sweep_report:
    chosen, report = identity(work, workers, command), sized(wt_sweep_report)
    work(lib.wt_sweep_run, plan.handle, store, byref(chosen), byref(report))
    return report


def finish(result: R, store: str, failed: int) -> R:
    """Failed cells are a goal missed."""
    if failed:
        _errors.warn(f"{failed} cells failed; Store({store!r}).failures() says why, and .retry() tries again",
                     _errors.MissedWarning)
    return result


def _key(name: str) -> str:
    return {"penalty": "lambda", "penalty_path": "lambda-path"}.get(name, name.replace("_", "-"))


def read_spec(work: session, spec: Spec, more: Mapping[str, Any]) -> Owned:
    """A dictionary or a file of a sweep, with `more` in place of what it says."""
    out = c_void_p()
    if isinstance(spec, Mapping):
        work.quick(lib.wt_sweep_spec_parse, b"", byref(out))
        more = {**spec, **more}
    else:
        work(lib.wt_sweep_spec_load, path_bytes(spec, "spec"), byref(out))
    owned = Owned(out.value, lib.wt_sweep_spec_free)
    for name, value in more.items():
        text = spell(value, str(name))
        try:
            work.quick(lib.wt_sweep_spec_set, owned.handle, encode(f"{_key(str(name))}={text}", str(name)))
        except _errors.UsageError as error:
            raise _errors.UsageError(f"{name}: {str(error).replace('set: ', '')}") from None
    return owned


def _shard(shard: Union[str, Tuple[int, int], None]) -> wt_shard:
    """Part i of n, from 1: (2, 4) or "2/4"."""
    if shard is None:
        return wt_shard(0, 1)
    try:
        words: Any = shard.split("/") if isinstance(shard, str) else shard
        index, count = map(int, words)
        if not 1 <= index <= count:
            raise ValueError
    except (TypeError, ValueError):
        raise _errors.UsageError(f"shard: {shard!r} is not (i, n) with i from 1 to n") from None
    return wt_shard(index - 1, count)


def sweep(
    spec: Spec,
    *,
    store: Optional[FilePath] = None,
    set: Mapping[str, Any] = {},
    workers: Optional[int] = None,
    shard: Union[str, Tuple[int, int], None] = None,
    dry_run: bool = False,
    seed: Optional[int] = None,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Union[Sweep, SweepPlan]:
    """Runs an experiment over grids of its parameters into a store: `wattle sweep run`.

    spec: a dictionary of the experiment, its parameters (experiments() lists them), reps and seed,
    each one value, a list or a grid; or a file of them, with `set` in place of what it says. Cells that
    the store has are not computed again: a sweep that was stopped, by Ctrl-C or a power cut, goes on
    by the same call, and a wider one adds to it. A cell that fails is kept with its sentence, and the
    rest goes on; it is a MissedWarning. workers: groups of cells at a time. shard: part (i, n) of the
    groups, from 1. dry_run: what there is to do, and about how long.

    >>> import wattle as wt, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "results.db")
    >>> grids = dict(experiment="curve", target="mean-power:2", dim=4, keys=3, heads=20, n=[16, 32], reps=2)
    >>> wt.sweep(grids, dry_run=True).to_do
    4
    >>> wt.sweep(grids, store=path).done, wt.sweep(grids, store=path).done
    (4, 0)
    """
    dry_run = flag(dry_run, "dry_run")
    if store is None and not dry_run:
        raise _errors.UsageError("sweep needs store=FILE, or dry_run=True")
    if not isinstance(set, Mapping):
        raise TypeError(f"set: a dictionary is expected, not {set!r}")
    more = dict(set)
    if seed is not None:
        more["seed"] = read_seed(seed)
    if isinstance(store, Store):
        store = store.path
    part, given = _shard(shard), whole(workers, "workers", most=_native.WT_MAX_THREADS) if workers is not None else None
    _context.refuse_after_fork()
    with session(threads, memory, time) as work:
        out, count = c_void_p(), sized(wt_plan_count)
        keys = read_spec(work, spec, more)
        try:
            work(lib.wt_plan_new, keys.handle, part, byref(out))
        except _errors.UsageError as error:
            raise _errors.UsageError(str(error).removeprefix("set ")) from None
        plan = Owned(out.value, lib.wt_plan_free)
        if dry_run:
            return _dry(work, plan, store, given)
        assert store is not None
        words = [repr(dict(spec) if isinstance(spec, Mapping) else os.fspath(spec)), f"store={os.fspath(store)!r}"]
        words += [f"set={more!r}"] if more else []
        words += [f"shard=({part.index + 1}, {part.count})"] if part.count > 1 else []
        with open_store(work, store, wt_store_mode.WT_STORE_MODE_CREATE) as file:
            work(lib.wt_plan_compare, plan.handle, file, byref(count))
            report = run_plan(work, plan, file, given, f"wattle.sweep({', '.join(words)})")
    made = Sweep(store=os.fspath(store), cells=count.cells, done_before=count.done, failed_before=count.failed,
                 **values(report, "done", "failed", "seconds"))
    return finish(made, made.store, report.failed + count.failed)


def _dry(work: session, plan: Owned, store: Optional[FilePath], workers: Optional[int]) -> SweepPlan:
    """Looks at the store, if there is one, and changes nothing."""
    count, cost, rate = sized(wt_plan_count), sized(wt_plan_cost), c_double()
    if store is not None and os.path.exists(store):
        with open_store(work, store, READ) as file:
            work(lib.wt_plan_compare, plan.handle, file, byref(count))
    else:
        work(lib.wt_plan_compare, plan.handle, None, byref(count))
    workers = workers or lib.wt_context_threads(work.handle)
    work(lib.wt_sweep_rate, byref(rate))
    work(lib.wt_plan_estimate, plan.handle, workers, rate.value, byref(cost))
    return SweepPlan(**values(count, "cells", "groups"), done_before=count.done, failed_before=count.failed,
                     to_do=count.wanted, workers=workers, **values(cost, "seconds", "bytes"))
