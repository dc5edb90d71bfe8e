"""Ctrl-C during a call of the library.

Python runs the handlers of signals between its own instructions, so not before a call into C has
returned. But its C handler writes the signal's number to the wakeup descriptor at once. While the
main thread is in a call that descriptor is a pipe of ours; a thread reads it and cancels the
contexts at work, which stop at their next safe place. A number that was meant for another (the
descriptor of an event loop) is handed on. Signals reach the main thread alone: calls of other
threads are stopped by wattle.cancel().
"""
from __future__ import annotations

import os
import select
import signal
import threading
from typing import List, Optional

from ._library import lib


class Watch:
    """The contexts at work in the main thread, and the pipe that tells of signals."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.active: List[int] = []
        self.before = -1  # the descriptor that was there before ours
        self.seen = False
        self.thread: Optional[threading.Thread] = None

    def start(self) -> None:
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        os.set_blocking(self.write_end, False)
        self.ready = select.poll()  # of the main thread; run() has its own
        self.ready.register(self.read_end, select.POLLIN)
        self.thread = threading.Thread(target=self.run, name="wattle-signals", daemon=True)
        self.thread.start()

    def run(self) -> None:
        poll = select.poll()
        poll.register(self.read_end, select.POLLIN)
        while True:
            poll.poll()
            with self.lock:
                self.take()

    def take(self) -> None:
        """What is in the pipe, once; with the lock held."""
        try:
            numbers = os.read(self.read_end, 4096)
        except BlockingIOError:
            return
        if self.before >= 0:
            try:
                os.write(self.before, numbers)
            except OSError:
                pass  # its own reader is gone, or it is full and will be read in any case
        for number in numbers:
            if number == signal.SIGINT:
                self.seen = True
                for handle in self.active:
                    lib.wt_context_cancel(handle)

    def enter(self, handle: int) -> None:
        """Before a call; on the main thread alone."""
        if self.thread is None:
            self.start()
        with self.lock:
            self.active.append(handle)
        if len(self.active) == 1:
            self.seen = False
            self.before = signal.set_wakeup_fd(self.write_end, warn_on_full_buffer=False)

    def leave(self) -> bool:
        """After it; whether it was interrupted."""
        if len(self.active) == 1:
            signal.set_wakeup_fd(self.before)
        with self.lock:
            if self.ready.poll(0):
                self.take()
            self.active.pop()
        return self.seen


watch = Watch()


main_thread = threading.main_thread().ident


def on_main_thread() -> bool:
    return threading.get_ident() == main_thread


def after_fork() -> None:
    """The thread that forked is the main thread of the child; the one of the watch stays with the parent."""
    global watch, main_thread
    if watch.active:  # forked in a callback: the pipe is the parent's
        signal.set_wakeup_fd(watch.before)
    watch, main_thread = Watch(), threading.get_ident()
