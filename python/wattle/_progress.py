"""How far a long call is: tqdm's bar where it is installed, else one line of text."""
from __future__ import annotations

import sys
import threading
import time
import warnings
from ctypes import create_string_buffer
from typing import Any, Optional

from . import _native
from ._library import lib

DELAY = 0.5  # seconds before anything is shown


def in_notebook() -> bool:
    kernel = sys.modules.get("IPython")
    shell = kernel.get_ipython() if kernel is not None and hasattr(kernel, "get_ipython") else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class _Thread(threading.local):
    """Whether calls of this thread show nothing, whatever the settings are."""

    silent = False


thread = _Thread()


class _Terminal:
    """Whether the standard error is one: asked once a stream, as a question costs a call of the system."""

    def __init__(self) -> None:
        self.stream: Any = None
        self.told = False

    def there(self) -> bool:
        stream = sys.stderr
        if stream is not self.stream:
            self.stream, self.told = stream, False
            try:
                self.told = stream is not None and bool(stream.isatty())
            except (AttributeError, ValueError):
                pass  # something to write to and no more, or closed
        return self.told


terminal = _Terminal()


def wanted(setting: Optional[bool]) -> bool:
    if thread.silent:
        return False
    if setting is not None:
        return setting
    return terminal.there() or in_notebook()


def find_tqdm() -> Any:
    """tqdm's bar for a terminal or a notebook; None where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a notebook without widgets: the bar is text then
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


class Display:
    """The callback of a session, which the library calls about ten times a second at most."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.bar: Any = None
        self.handle: Any = None
        self.shown = 0
        self.interrupted = False
        self.callback = _native.wt_progress_fn(self._called)

    def _called(self, _user: Any, progress: Any) -> None:
        try:
            if time.monotonic() - self.began >= DELAY:
                self.show(progress.contents)
        except KeyboardInterrupt:
            # Python's handler has run here; the watch of signals has cancelled the call
            self.interrupted = True

    def show(self, state: _native.wt_progress) -> None:
        if self.bar is None:
            tqdm = find_tqdm()
            if tqdm is None:
                self.line(state)
                return
            self.bar = tqdm(total=state.total or None, unit=f" {state.what.decode()}", leave=False)
        self.bar.total = state.total or None
        self.bar.n = state.done
        if state.detail is not None:
            self.bar.set_postfix_str(state.detail.decode("utf-8", "replace"), refresh=False)
        self.bar.refresh()

    def line(self, state: _native.wt_progress) -> None:
        buffer = create_string_buffer(256)
        lib.wt_progress_format(state, buffer, 256)
        text = buffer.value.decode("utf-8", "replace")
        if in_notebook():
            from IPython.display import display

            if self.handle is None:
                self.handle = display({"text/plain": text}, raw=True, display_id=True)
            else:
                self.handle.update({"text/plain": text}, raw=True)
        else:
            sys.stderr.write("\r" + text.ljust(self.shown))
            sys.stderr.flush()
            self.shown = len(text)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)
        elif self.shown:
            sys.stderr.write("\r" + " " * self.shown + "\r")
            sys.stderr.flush()
