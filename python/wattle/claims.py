"""The claims of the papers: what the cells of a store say to each, the page of a store, and all of it as one job."""
from __future__ import annotations

import os
import time as clock
import warnings
from ctypes import byref, c_double, c_void_p
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import _context, _errors
from ._arrays import Owned
from ._context import Bytes, FilePath, Seconds, flag, path_bytes, read_seed, session, whole
from ._fields import sized, spell
from ._library import lib
from ._native import WT_MAX_THREADS, wt_plan_cost, wt_report_summary, wt_reproduction_report, wt_store_mode
from ._result import Interval, Result, values
from ._table import Table
from .lab import Store, finish, identity, one_at_a_time, open_store

EVIDENCE = ("cells", "settings", "repetitions", "dropped", "censored", "failed")


class Rival(Result):
    """The same measured on a case for which the claim is false."""

    rival: str
    verdict: str
    value: float
    low: float
    high: float
    cells: int
    failed: int


class Part(Result):
    """One effect of a claim: value, low and high as measured, the boundary and the claimed side of it, its rival."""

    part: str
    effect: str
    unit: str
    verdict: str
    value: float
    low: float
    high: float
    boundary: float
    claimed: str
    rival: Rival


class Claim(Result):
    """A claim and its verdict: reproduced when all its parts are, not reproduced when one is not."""

    claim: str
    sentence: str
    verdict: str
    parts: List[Part]


class Verdicts(Result):
    """All claims, measured on one store, by the rules of a version; cells with seeds for exploring decide nothing."""

    rules: int
    explored_cells: int
    claims: List[Claim]

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, claim: str) -> Claim:
        for one in self.claims:
            if one.claim == claim:
                return one
        raise KeyError(claim)

    def table(self) -> Table:
        """One row a part: claim, verdict, effect, what was measured, the claimed side and the rival."""
        rows = []
        for claim in self.claims:
            for part in claim.parts:
                name = ", ".join(word for word in (part.unit, part.part) if word)
                rows.append((claim.claim, part.verdict, name, str(Interval(part.value, part.low, part.high)),
                             f"{part.claimed} {part.boundary:g}",
                             str(Interval(part.rival.value, part.rival.low, part.rival.high))))
        return Table.of(("claim", "verdict", "effect", "measured (95% interval)", "claimed", "rival"), rows)

    def frame(self) -> Any:
        """One row a part, with its numbers."""
        rows = [{"claim": claim.claim, **{key: value for key, value in part.to_dict().items() if key != "rival"},
                 **{f"rival_{key}": value for key, value in part.rival.to_dict().items()}}
                for claim in self.claims for part in claim.parts]
        return Table.of(list(rows[0]), [list(row.values()) for row in rows]).frame()

    def __repr__(self) -> str:
        return f"{self.table()!r}\n\nrules of version {self.rules}" + (
            f"; {self.explored_cells} cells have seeds that are for exploring, and decide nothing"
            if self.explored_cells else "")

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


class Report(Verdicts):
    """A page that was written, and the verdicts on it; figures were drawn for paper unless `why` says why not."""

    output: str
    cells: int
    figures: int
    drawn: bool
    why: str

    def __repr__(self) -> str:
        measured = any(part.verdict != "not measured" for claim in self.claims for part in claim.parts)
        page = (f"{self.output}: {self.cells} cells, {self.figures} figure{'' if self.figures == 1 else 's'}"
                + ("" if self.drawn else f", none for paper ({self.why})"))
        return f"{super().__repr__()}\n{page}" if measured else page


class Reproduction(Report):
    """The sweeps of the claims, as they were run: seed, scale, store, done_before, done, failed, seconds."""

    seed: int
    scale: str
    store: str
    done_before: int
    done: int
    failed: int
    seconds: float


def _rival(part: Any) -> Rival:
    evidence = part.of_rival.contents
    return Rival(rival=part.rival.decode(), verdict=lib.wt_verdict_name(part.rival_verdict).decode(),
                 **values(evidence.effect, "value", "low", "high"), **values(evidence, "cells", "failed"))


def _part(part: Any) -> Part:
    evidence = part.measured.contents
    return Part(part=part.name.decode(), **values(part, "effect", "unit"),
                verdict=lib.wt_verdict_name(part.verdict).decode(), **values(evidence.effect, "value", "low", "high"),
                boundary=part.boundary, claimed="above" if part.above else "below", **values(evidence, *EVIDENCE),
                more=part.more, rival=_rival(part))


def _findings(findings: Owned) -> Dict[str, Any]:
    claims: List[Claim] = []
    while lib.wt_findings_claim_at(findings.handle, len(claims)):
        at = lib.wt_findings_claim_at(findings.handle, len(claims)).contents
        parts = [_part(lib.wt_findings_part_at(findings.handle, at.first_part + i).contents)
                 for i in range(at.part_count)]
        claims.append(Claim(claim=at.claim.contents.id.decode(), **values(at.claim.contents, "sentence"),
                            verdict=lib.wt_verdict_name(at.verdict).decode(), parts=parts))
    return dict(rules=lib.wt_rules_now().contents.version, explored_cells=lib.wt_findings_explored(findings.handle),
                claims=claims)


def verdicts(store: Union[Store, FilePath]) -> Verdicts:
    """What the cells of a store say to the claims of the papers."""
    path = store.path if isinstance(store, Store) else store
    results, findings = c_void_p(), c_void_p()
    with session() as work:
        with open_store(work, path, wt_store_mode.WT_STORE_MODE_READ) as file:
            work(lib.wt_results_load, file, byref(results))
        loaded = Owned(results.value, lib.wt_results_free)
        work(lib.wt_findings_measure, loaded.handle, byref(findings))
        return Verdicts(**_findings(Owned(findings.value, lib.wt_findings_free, loaded)))


def _page(work: session, store: FilePath, output: FilePath, watch: bool) -> Dict[str, Any]:
    findings, summary = c_void_p(), sized(wt_report_summary)
    function = lib.wt_report_watch if watch else lib.wt_report_write
    try:
        work(function, path_bytes(store, "store"), path_bytes(output, "output"), byref(findings), byref(summary))
    except KeyboardInterrupt:
        if not watch or findings.value is None:  # Ctrl-C is how a watch ends
            raise
    return dict(**_findings(Owned(findings.value, lib.wt_findings_free)), output=os.fspath(output),
                **values(summary, "cells", "figures", "drawn", "why"))


def report(store: Union[Store, FilePath], output: FilePath = "report.html", *, watch: bool = False,
           threads: Optional[int] = None, memory: Bytes = None) -> Report:
    """Writes what a store says as one page, its figures into a folder beside it: `wattle report`.

    The page opens offline. With watch=True it is written anew while others add to the store, until
    Ctrl-C.

    >>> import wattle as wt, tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> store = os.path.join(folder, "results.db")
    >>> _ = wt.sweep(dict(experiment="construct", length=[64, 128], reps=1), store=store)
    >>> page = wt.report(store, os.path.join(folder, "report.html"))
    >>> page.cells, os.path.exists(page.output)
    (2, True)
    """
    path = store.path if isinstance(store, Store) else store
    with one_at_a_time(path), session(threads, memory) as work:
        return Report(**_page(work, path, output, flag(watch, "watch")))


class ReproductionPlan(Result):
    """The sweeps of a reproduction: line, what, cells, seconds (about), sweep."""

    scale: str
    sweeps: Table

    def __repr__(self) -> str:
        return repr(self.sweeps)


def _list(work: session, every: Owned, workers: int) -> Table:
    rate = c_double()
    rows: List[Tuple[Any, ...]] = []
    work(lib.wt_sweep_rate, byref(rate))
    while lib.wt_reproduction_at(every.handle, len(rows)):
        one, cost = lib.wt_reproduction_at(every.handle, len(rows)).contents, sized(wt_plan_cost)
        plan = lib.wt_reproduction_plan_at(every.handle, len(rows))
        work(lib.wt_plan_estimate, plan, workers, rate.value, byref(cost))
        rows.append((one.line.decode(), one.what.decode(), lib.wt_plan_cells(plan), cost.seconds, one.sweep.decode()))
    return Table.of(("line", "what", "cells", "seconds", "sweep"), rows)


def reproduce(
    output: Optional[FilePath] = None,
    *,
    scale: str = "quick",
    only: Union[str, List[str]] = "rfa,recover,sparse",
    workers: Optional[int] = None,
    dry_run: bool = False,
    seed: Optional[int] = None,
    threads: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Union[Reproduction, ReproductionPlan]:
    """Runs the experiments of the three papers into a folder and writes the report: `wattle reproduce`.

    scale: "tiny" takes seconds, "quick" minutes, "paper" hours or days. only: lines of work, rfa,
    recover and sparse. What is in the folder already is not computed again: Ctrl-C keeps what was
    finished, and the same call goes on. seed: by default the one that was drawn with the rules; seeds
    below 1000 are for exploring, and give numbers without verdicts. dry_run: which sweeps there are.

    >>> import wattle as wt
    >>> set(wt.reproduce(scale="tiny", dry_run=True).sweeps.line.tolist()) == {"rfa", "recover", "sparse"}
    True
    """
    began = clock.monotonic()
    count = 0 if workers is None else whole(workers, "workers", most=WT_MAX_THREADS)
    dry_run = flag(dry_run, "dry_run")
    _context.refuse_after_fork(count)
    chosen = lib.wt_rules_now().contents.seed if seed is None else read_seed(seed)
    lines = spell(only, "only")
    if output is None and not dry_run:
        raise _errors.UsageError("reproduce needs a folder, or dry_run=True")
    if chosen < 1 << 63 and lib.wt_seed_explored(chosen):
        warnings.warn(f"seed {chosen} is for exploring: there will be numbers and no verdicts", _errors.Remark,
                      stacklevel=2)
    out = c_void_p()
    with session(threads, memory, time) as work:
        work(lib.wt_reproduction_new, str(scale).encode(), lines.encode(), chosen, byref(out))
        every = Owned(out.value, lib.wt_reproduction_free)
        if dry_run:
            return ReproductionPlan(scale=scale, sweeps=_list(work, every, count))
        assert output is not None
        folder = Path(output)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise _errors.CannotCreate(f"cannot make the folder {folder}: {error.strerror}") from None
        store, page = folder / "results.db", folder / "report.html"
        work(lib.wt_output_check, os.fsencode(page))
        ran = sized(wt_reproduction_report)
        with open_store(work, store, wt_store_mode.WT_STORE_MODE_CREATE) as file:
            work(lib.wt_reproduction_run, every.handle, file, os.fsencode(folder), byref(identity(workers, "")), byref(ran))
        work.context.remarks.clear()  # what there was to do, which is done
        with one_at_a_time(store):
            told = _page(work, store, page, False)
    made = Reproduction(**told, seed=chosen, scale=scale, store=os.fspath(store), done_before=ran.before,
                        **values(ran, "done", "failed"), seconds=clock.monotonic() - began)
    return finish(made, made.store, ran.failed)

