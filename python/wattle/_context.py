"""Contexts, one a thread, and the calls that are made with them.

    with session(threads, memory, time) as work:
        work(lib.wt_layer_load, path.encode(), byref(handle))

A call that fails raises the class of its status with the library's sentence. The interpreter lock
is free during a call. Remarks become warnings when the session ends.
"""
from __future__ import annotations

import atexit
import os
import re
import threading
import time as clock
from ctypes import byref, c_double, c_size_t, c_void_p, sizeof
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, List, Optional, Type, Union

from . import _errors, _interrupt, _native, _progress
from ._errors import told
from ._library import lib

OK = int(_native.wt_status.WT_OK)
INTERRUPTED = int(_native.wt_status.WT_INTERRUPTED)

Bytes = Union[int, str, None]
Seconds = Union[float, str, None]
FilePath = Union[str, "os.PathLike[str]"]


@dataclass
class Settings:
    """What calls take where they are not told otherwise.

    threads: of a call; None = all processors. memory: budget, bytes or "4G"; None = no limit.
    progress: whether long calls show how far they are; None = in a terminal and a notebook.
    device: where the heavy work runs: "host", "cuda", "cuda:1", or "auto", a GPU where there is one.
    """

    threads: Optional[int] = None
    memory: Bytes = None
    progress: Optional[bool] = None
    device: str = "host"

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__annotations__:
            raise AttributeError(f"there is no setting {name!r}" + _errors.hint(name, self.__annotations__))
        super().__setattr__(name, value)


settings = Settings()


def in_keywords(sentence: bytes) -> str:
    """A sentence of the library's: where it names an option of the command, --token-scale, our keyword."""
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*)", lambda found: found[1].replace("-", "_"), sentence.decode("utf-8", "replace"))


class Context:
    """A wt_context and the callbacks that it holds."""

    def __init__(self) -> None:
        out = c_void_p()
        if lib.wt_context_new(byref(out)) != OK or out.value is None:
            raise _errors.OutOfMemory("no memory for a context")
        self.handle: int = out.value
        self.calling = False  # in the library, not in a callback of ours
        self.device = "host"
        self.free = lib.wt_context_free  # at the interpreter's end modules may go first
        self.processors = lib.wt_context_threads(self.handle)
        self.threads: Optional[int] = None  # as they were given last
        self.memory: Bytes = None
        self.remarks: List[str] = []
        self.log = _native.wt_log_fn(self.remember)
        lib.wt_context_set_log(self.handle, self.log, None)

    def remember(self, _user: Any, sentence: bytes) -> None:
        self.remarks.append(in_keywords(sentence))

    def leave_python(self) -> None:
        """Before a thread other than the main one goes into the library."""
        self.calling = True
        if _ending:
            self.enter_python()  # a daemon thread does not go on
            self.calling = True

    def enter_python(self) -> None:
        """After it is back; a daemon thread ends here, without a word, when the interpreter does."""
        self.calling = False
        if _ending and threading.current_thread().daemon:
            never = threading.Lock()
            never.acquire()
            never.acquire()

    def message(self) -> str:
        return in_keywords(lib.wt_context_message(self.handle))

    def __del__(self) -> None:
        if hasattr(self, "free"):
            self.free(self.handle)


class _Thread(threading.local):
    """Contexts of this thread that are not at work."""

    def __init__(self) -> None:
        self.idle: List[Context] = []


_thread = _Thread()
_busy: List[Context] = []  # at work in any thread
_blas_seen = False
_stuck = False  # forked while another thread was in a call


class session:
    """A context of this thread for the calls of one function.

    Inside a callback of a call another session is another context.
    """

    __slots__ = ("context", "handle", "error", "interrupted", "keep", "_progress")

    def __init__(self, threads: Optional[int] = None, memory: Bytes = None, time: Seconds = None) -> None:
        refuse_after_fork()
        self.context = _thread.idle.pop() if _thread.idle else Context()
        self.handle = self.context.handle
        self.error: Optional[BaseException] = None
        self.interrupted = False
        self.keep: List[Any] = []  # what the library points to until the session ends
        self._progress: Optional[_progress.Display] = None
        try:
            self._set(threads, memory, time)
        except BaseException:
            _thread.idle.append(self.context)
            raise
        _busy.append(self.context)

    def _set(self, threads: Optional[int], memory: Bytes, time: Seconds) -> None:
        lib.wt_context_resume(self.handle)
        threads = settings.threads if threads is None else threads
        if threads is None:
            threads = self.context.processors
        if threads is not self.context.threads:
            self.check(lib.wt_context_set_threads(self.handle, whole(threads, "threads", most=_native.WT_MAX_THREADS)))
            self.context.threads = threads
        if settings.device != self.context.device:
            self.check(lib.wt_context_set_device(self.handle, encode(str(settings.device), "device")))
            self.context.device = settings.device
        memory = settings.memory if memory is None else memory
        if memory is not self.context.memory:
            lib.wt_context_set_memory(self.handle, read_bytes(memory))
            self.context.memory = memory
        if time is not None:
            self.check(lib.wt_context_set_time_limit(self.handle, read_seconds(time)))

    def __enter__(self) -> "session":
        if _progress.wanted(settings.progress):
            self._progress = _progress.Display()
            lib.wt_context_set_progress(self.handle, self._progress.callback, None)
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self._progress is not None:
            lib.wt_context_set_progress(self.handle, _native.wt_progress_fn(0), None)
            self._progress.close()
        remarks, self.context.remarks = self.context.remarks, []
        _busy.remove(self.context)
        _thread.idle.append(self.context)
        for sentence in remarks:
            _errors.warn(sentence, _errors.Remark)

    def __call__(self, function: Callable[..., int], *arguments: Any) -> None:
        """A call with this context; raises unless its status is WT_OK."""
        self.check(self.status(function, *arguments))

    def quick(self, function: Callable[..., int], *arguments: Any) -> None:
        """The same for a call that cannot take long: Ctrl-C is not watched for."""
        status = function(self.handle, *arguments)
        if status != OK:
            self.check(status)

    def status(self, function: Callable[..., int], *arguments: Any) -> int:
        """The same for a caller that looks at the status; Ctrl-C and a callback's exception raise."""
        if not _blas_seen:
            self._look_at_blas()
        if _interrupt.on_main_thread():
            watch = _interrupt.watch
            watch.enter(self.handle)
            try:
                status = function(self.handle, *arguments)
            finally:
                self.interrupted |= watch.leave()
        else:
            self.context.leave_python()
            try:
                status = function(self.handle, *arguments)
            finally:
                self.context.enter_python()
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        if self.interrupted or (self._progress is not None and self._progress.interrupted):
            raise KeyboardInterrupt
        return status

    def _look_at_blas(self) -> None:
        """Once: a BLAS that another module loaded with slow kernels is worth a remark, with the remedy."""
        global _blas_seen
        _blas_seen = True
        about = _native.wt_blas(size=sizeof(_native.wt_blas))
        # where there is none, the calls that need it say so
        if lib.wt_blas_open(self.handle, byref(about)) == OK and about.remedy:
            self.context.remarks.append(about.remedy.decode("utf-8", "replace"))

    def check(self, status: int) -> None:
        if status != OK:
            raise _errors.CLASSES.get(status, _errors.Error)(self.context.message())

    def guard(self, answer: Callable[..., None]) -> Callable[..., int]:
        """A callback that returns a status: an exception in it ends the call, which raises it."""

        def callback(_user: Any, *arguments: Any) -> int:
            calling = self.context.calling
            self.context.enter_python()
            try:
                answer(*arguments)
                return OK
            except BaseException as error:  # a C frame is above: it must not pass
                self.error = error
                return INTERRUPTED
            finally:
                if calling:
                    self.context.leave_python()

        return callback


def cancel() -> None:
    """Asks the calls in progress, in all threads, to stop at their next safe place.

    They raise wattle.Interrupted. Asked twice, sweeps and curves leave the cells in hand too.
    """
    for context in list(_busy):
        lib.wt_context_cancel(context.handle)


# ---- values ---------------------------------------------------------------------------------------


def whole(value: Any, name: str, least: int = 1, most: int = (1 << 63) - 1) -> int:
    """A whole number that fits the C type."""
    try:
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"{name}: a whole number is expected, not {told(value)}") from None
    if isinstance(value, bool) or not least <= number <= most:
        span = f"of {least} or more" if number <= most and most >= (1 << 63) - 1 else f"from {least} to {most}"
        raise _errors.UsageError(f"{name}: must be a whole number {span}, not {value!r}")
    return number


def real(value: Any, name: str) -> float:
    """A number; the library says whether it is in its range."""
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name}: a number is expected, not {told(value)}") from None


def flag(value: Any, name: str) -> bool:
    """Yes or no: True, False, 1, 0."""
    try:
        if value.__index__() in (0, 1):
            return bool(value)
    except (AttributeError, TypeError):
        if type(value).__name__ == "bool_":  # NumPy's
            return bool(value)
    raise TypeError(f"{name}: True or False is expected, not {told(value)}")


def encode(text: str, keyword: str) -> bytes:
    """As the library takes words: UTF-8, without a character 0."""
    try:
        if "\0" not in text:
            return text.encode()
    except UnicodeEncodeError:
        pass
    raise _errors.UsageError(f"{keyword}: {text!r} is not text")


def path_bytes(path: Union[FilePath, bytes], name: str = "path") -> bytes:
    """A path as the library takes it."""
    try:
        text = os.fsencode(path)
    except TypeError:
        raise TypeError(f"{name}: a path is expected, not {told(path)}") from None
    except UnicodeEncodeError:
        text = b"\0"
    if b"\0" in text:
        raise _errors.UsageError(f"{name}: {path!r} is no path")
    return text


def read_seed(seed: Any) -> int:
    return whole(seed, "seed", 0, (1 << 64) - 1)


def read_bytes(memory: Bytes) -> int:
    if memory is None:
        return 0
    out = c_size_t()
    text = memory if isinstance(memory, str) else str(whole(memory, "memory", 0))
    if not lib.wt_bytes_parse(text.encode("utf-8", "replace"), byref(out)):
        raise _errors.UsageError(f"memory: {memory!r} is no number of bytes, as 4096, '64K' or '1.5G'")
    return int(out.value)


def read_seconds(time: Seconds) -> float:
    out = c_double()
    text = time if isinstance(time, str) else repr(real(time, "time")) if time is not None else ""
    if not lib.wt_seconds_parse(text.encode("utf-8", "replace"), byref(out)):
        raise _errors.UsageError(f"time: {time!r} is no time above 0, as 90, '10m' or '2h'")
    return float(out.value)


# ---- the end --------------------------------------------------------------------------------------
# Daemon threads may be in calls when the interpreter ends, and what they use must not be freed under them.

_ending = False


def _at_exit() -> None:
    """Calls of daemon threads stop at their next safe place, and their threads with them."""
    global _ending
    _ending = True
    cancel()
    cancel()
    while any(context.calling for context in list(_busy)):
        clock.sleep(0.001)


atexit.register(_at_exit)


# ---- fork -----------------------------------------------------------------------------------------
# A child has the forking thread alone: a call that another thread was in stays where it was, with
# what it had locked.


def refuse_after_fork() -> None:
    if _stuck:
        raise _errors.UsageError("this process was forked while another thread was in a call of Wattle; start "
                                 "processes with multiprocessing.set_start_method('spawn')")


def _in_child() -> None:
    global _stuck, _thread
    _stuck = _stuck or bool(_busy)
    _thread = _Thread()
    _busy.clear()
    _interrupt.after_fork()


os.register_at_fork(after_in_child=_in_child)
