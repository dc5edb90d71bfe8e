"""Sweeps as job arrays of Slurm, or as processes of this machine."""
from __future__ import annotations

import os
import shutil
from ctypes import byref, c_char_p, c_void_p, cast
from pathlib import Path
from typing import Any, Mapping, Optional

from . import _context, _errors
from ._arrays import Owned
from ._context import Bytes, FilePath, Seconds, encode, flag, path_bytes, read_bytes, read_seconds, read_seed, session, whole
from ._fields import sized, start
from ._library import lib
from ._native import wt_launcher, wt_submit_options, wt_submit_report
from ._result import Result, values
from .lab import Spec, read_spec

LAUNCHERS = {"slurm": wt_launcher.WT_LAUNCHER_SLURM, "local": wt_launcher.WT_LAUNCHER_LOCAL}


class Submission(Result):
    """What was submitted: folder, cells, done_before, failed_before, under_way, to_do, tasks and jobs; about how many
    seconds the longest task takes and all of them together, work_seconds, and bytes of a task; script: the
    commands and scripts of a dry_run, else None.
    """

    folder: str
    cells: int
    done_before: int
    failed_before: int
    under_way: int
    to_do: int
    tasks: int
    jobs: str
    seconds: float
    work_seconds: float
    bytes: float
    script: Optional[str]


def _program() -> str:
    """The command, which the tasks run: that of the library in use, else the system's."""
    folder = Path(str(getattr(lib, "_name"))).resolve().parent
    found = [folder / "wattle", *(above / "bin" / "wattle" for above in list(folder.parents)[:2])]
    program = next((str(path) for path in found if os.access(path, os.X_OK) and path.is_file()), shutil.which("wattle"))
    if program is None:
        raise _errors.Unavailable("the command wattle, which tasks run, is neither with the library nor in PATH: install it")
    return os.path.abspath(program)


def submit(
    spec: Spec,
    into: FilePath,
    tasks: int,
    *,
    set: Mapping[str, Any] = {},
    throttle: int = 0,
    cpus: int = 1,
    gpus: int = 0,
    partition: Optional[str] = None,
    sbatch: Optional[str] = None,
    launcher: str = "slurm",
    dry_run: bool = False,
    seed: Optional[int] = None,
    memory: Bytes = None,
    time: Seconds = None,
) -> Submission:
    """Submits a sweep as at most so many tasks of Slurm: `wattle sweep submit`.

    spec, set, seed: as in sweep(). into: the folder that the tasks share; what they find ends in results.db and
    report.html of it, and the same call submits what is missing. throttle: tasks at a time; cpus, gpus, memory,
    time: of a task; partition, sbatch: words for Slurm. launcher="local": processes of this machine, which the
    call waits for. dry_run: what there is to do, with the scripts. Tasks compute on settings.device.
    """
    chosen, report, text = start(wt_submit_options, lib.wt_submit_options_init), sized(wt_submit_report), c_void_p()
    if launcher not in LAUNCHERS:
        raise _errors.UsageError(f"launcher: {launcher!r} is neither 'slurm' nor 'local'")
    if not isinstance(set, Mapping):
        raise TypeError(f"set: a dictionary is expected, not {set!r}")
    folder = path_bytes(into, "into")
    chosen.launcher, chosen.tasks, chosen.cpus = LAUNCHERS[launcher], whole(tasks, "tasks"), whole(cpus, "cpus")
    chosen.throttle, chosen.gpus = whole(throttle, "throttle", 0), whole(gpus, "gpus", 0)
    chosen.seconds, chosen.memory = 0 if time is None else read_seconds(time), read_bytes(memory)
    words = {"partition": partition, "sbatch": sbatch, "program": _program(),
             "device": None if _context.settings.device == "host" else _context.settings.device}
    for name, word in words.items():
        if word is not None:
            setattr(chosen, {"sbatch": "extra"}.get(name, name), encode(str(word), name))
    more = {**set, **({} if seed is None else {"seed": read_seed(seed)})}
    with session() as work:
        sweep = read_spec(work, spec, more)
        if flag(dry_run, "dry_run"):
            work(lib.wt_sweep_submit_preview, sweep.handle, folder, byref(chosen), byref(report), byref(text))
        else:
            work(lib.wt_sweep_submit, sweep.handle, folder, byref(chosen), byref(report))
    script = None
    if text.value is not None:
        owned = Owned(text.value, lib.wt_release)
        script = (cast(c_void_p(owned.handle), c_char_p).value or b"").decode("utf-8", "replace")
    return Submission(folder=os.fspath(into), done_before=report.done, failed_before=report.failed, to_do=report.wanted,
                      work_seconds=report.work, script=script,
                      **values(report, "cells", "under_way", "tasks", "jobs", "seconds", "bytes"))
