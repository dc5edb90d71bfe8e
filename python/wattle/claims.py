"""The claims of the papers: what the cells of a store say to each, the page of a store, and all of it as one job."""
from __future__ import annotations

import math
import os
import time as clock
from ctypes import byref, c_char_p, c_double, c_void_p, create_string_buffer
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _context, _errors
from ._arrays import Owned
from ._context import Bytes, FilePath, Seconds, encode, flag, path_bytes, read_seed, session, whole
from ._fields import sized, spell, start
from ._library import lib
from ._native import (WT_EXPONENT_TEXT, WT_MAX_THREADS, wt_plan_cost, wt_report_options, wt_report_summary,
                      wt_reproduction_report, wt_store_mode)
from ._plots import axes, legend
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
    _searched: bool


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
    _searched: bool

    def _name(self) -> str:
        return ", ".join(word for word in (self.unit, self.part) if word)

    def _brief(self) -> str:
        return f"{self.verdict}: {spell_effect(self)}, claimed {self.claimed} {self.boundary:g}"


class Claim(Result):
    """A claim and its verdict: reproduced when all its parts are, not reproduced when one is not."""

    claim: str
    sentence: str
    verdict: str
    parts: List[Part]

    def _rows(self) -> List[Tuple[str, str]]:
        return [("claim", self.claim), ("sentence", self.sentence), ("verdict", self.verdict),
                *((part._name(), part._brief()) for part in self.parts)]


def spell_effect(of: Union[Part, Rival]) -> str:
    """A number and its interval; growth exponents at an end of their search may lie beyond it."""
    if not of._searched or math.isnan(of.value):
        return str(Interval(of.value, of.low, of.high))
    value, low, high = (exponent(number) for number in (of.value, of.low, of.high))
    return value if math.isnan(of.low) else f"{value} ({low}, {high})"


def exponent(number: float) -> str:
    text = create_string_buffer(WT_EXPONENT_TEXT)
    return str(lib.wt_exponent_format(number, text).decode())


COLOURS = {"reproduced": "C2", "not reproduced": "C3", "no test": "C1"}


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
                rows.append((claim.claim, part.verdict, part._name(), spell_effect(part),
                             f"{part.claimed} {part.boundary:g}", spell_effect(part.rival)))
        return Table.of(("claim", "verdict", "effect", "measured (95% interval)", "claimed", "rival"), rows)

    def frame(self) -> Any:
        """One row a part, with its numbers."""
        rows = [{"claim": claim.claim, **{key: value for key, value in part.to_dict().items() if key != "rival"},
                 **{f"rival_{key}": value for key, value in part.rival.to_dict().items()}}
                for claim in self.claims for part in claim.parts]
        return Table.of(list(rows[0]), [list(row.values()) for row in rows]).frame()

    def plot(self, ax: Any = None) -> Any:
        """Every measured effect with its interval against its boundary, the claimed side to the right."""
        rows = [(claim, part) for claim in self.claims for part in claim.parts if math.isfinite(part.value)]
        if not rows:
            raise _errors.UsageError("there is nothing to plot: no claim is measured by these cells" + (
                ", whose seeds are for exploring" if self.explored_cells else ""))
        own = ax is None
        ax = axes(ax)
        span = max([0.5, *(min(abs(part.value - part.boundary), 2.5) for _, part in rows)]) * 1.25
        if own:
            ax.figure.set_size_inches(6.5, 1 + 0.24 * len(rows))
        for at, (claim, part) in enumerate(rows):
            both: List[Tuple[Union[Part, Rival], float, str]] = [
                (part.rival, 0.22, "0.75"), (part, -0.08, COLOURS.get(part.verdict, "0.35"))]
            for of, lift, look in both:
                side = 1 if part.claimed == "above" else -1
                ends = sorted(float(np.clip(side * (end - part.boundary), -span, span)) if not math.isnan(end) else math.nan
                              for end in (of.low, of.high))
                value = side * (of.value - part.boundary)
                ax.plot(ends, [at + lift] * 2, color=look, linewidth=1.6, solid_capstyle="butt")
                if abs(value) <= span:
                    ax.plot(value, at + lift, "o", color=look, markersize=4)
        ax.axvline(0, color="black", linewidth=0.8)
        for word in dict.fromkeys(part.verdict for _, part in rows):
            ax.plot([], [], "o-", color=COLOURS.get(word, "0.35"), markersize=4, label=word)
        ax.plot([], [], "o-", color="0.75", markersize=4, label="rival")
        ax.set(yticks=range(len(rows)), yticklabels=[f"{claim.claim}  {part._name()}" for claim, part in rows],
               xlim=(-span, span), ylim=(len(rows) - 0.5, -0.7), xlabel="effect from its boundary; the claimed side is right")
        legend(ax, loc="upper left", bbox_to_anchor=(1, 1))
        return ax

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
                 **values(evidence.effect, "value", "low", "high"), **values(evidence, "cells", "failed"), _searched=evidence.searched)


def _part(part: Any) -> Part:
    evidence = part.measured.contents
    return Part(part=part.name.decode(), **values(part, "effect", "unit"),
                verdict=lib.wt_verdict_name(part.verdict).decode(), **values(evidence.effect, "value", "low", "high"),
                boundary=part.boundary, claimed="above" if part.above else "below", **values(evidence, *EVIDENCE),
                more=part.more, rival=_rival(part), _searched=evidence.searched)


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


def _page(work: session, store: FilePath, output: FilePath, watch: bool = False,
          checkpoints: Sequence[FilePath] = ()) -> Dict[str, Any]:
    findings, summary = c_void_p(), sized(wt_report_summary)
    chosen = start(wt_report_options, lib.wt_report_options_init)
    paths = (c_char_p * len(checkpoints))(*(path_bytes(one, "checkpoint") for one in checkpoints))
    chosen.checkpoints, chosen.checkpoint_count = paths, len(paths)
    function = lib.wt_report_watch if watch else lib.wt_report_write
    try:
        work(function, path_bytes(store, "store"), path_bytes(output, "output"), byref(chosen), byref(findings),
             byref(summary))
    except KeyboardInterrupt:
        if not watch or findings.value is None:  # Ctrl-C is how a watch ends
            raise
    return dict(**_findings(Owned(findings.value, lib.wt_findings_free)), output=os.fspath(output),
                **values(summary, "cells", "figures", "drawn", "why"))


def report(store: Union[Store, FilePath], output: FilePath = "report.html", *, watch: bool = False,
           checkpoint: Union[FilePath, Sequence[FilePath]] = (), threads: Optional[int] = None,
           memory: Bytes = None) -> Report:
    """Writes what a store says as one page, its figures into a folder beside it: `wattle report`.

    The page opens offline. With watch=True it is written anew while others add to the store, until
    Ctrl-C. Of a checkpoint, or several, it also has the diagonals of the query-key products.

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
        return Report(**_page(work, path, output, flag(watch, "watch"),
                              [checkpoint] if isinstance(checkpoint, (str, os.PathLike)) else list(checkpoint)))


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
    _context.refuse_after_fork()
    chosen = lib.wt_rules_now().contents.seed if seed is None else read_seed(seed)
    lines = spell(only, "only")
    if output is None and not dry_run:
        raise _errors.UsageError("reproduce needs a folder, or dry_run=True")
    if chosen < 1 << 63 and lib.wt_seed_explored(chosen):
        _errors.warn(f"seed {chosen} is for exploring: there will be numbers and no verdicts", _errors.Remark)
    out = c_void_p()
    with session(threads, memory, time) as work:
        work(lib.wt_reproduction_new, encode(str(scale), "scale"), encode(lines, "only"), chosen, byref(out))
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
            work(lib.wt_reproduction_run, every.handle, file, os.fsencode(folder), byref(identity(work, workers, "")), byref(ran))
        work.context.remarks.clear()  # what there was to do, which is done
        with one_at_a_time(store):
            told = _page(work, store, page, False)
    made = Reproduction(**told, seed=chosen, scale=scale, store=os.fspath(store), done_before=ran.before,
                        **values(ran, "done", "failed"), seconds=clock.monotonic() - began)
    return finish(made, made.store, ran.failed)

