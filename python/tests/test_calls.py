"""Calls: Ctrl-C, other threads, cancel, fork, callbacks, remarks, a library that is not there."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref

import numpy as np
import pytest

import wattle as wt
from wattle import _context, _native
from wattle._library import lib

LONG = dict(target="mean-power:2", n=4000, heads=2000, penalty="loo", test_n=10)  # minutes, were it left alone


def when_busy(action):
    """Does it once a call is in progress."""

    def wait():
        while not _context._busy:
            time.sleep(0.001)
        time.sleep(0.05)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_ctrl_c_stops_a_call():
    thread = when_busy(lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        wt.fit(**LONG)
    thread.join()
    assert wt.fit(target="mean-power:2", n=50, heads=10).samples == 50  # the context works again


def test_ctrl_c_is_handed_on_to_who_watched_before():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer)
    try:
        thread = when_busy(lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            wt.fit(**LONG)
        thread.join()
        assert signal.set_wakeup_fd(before) == writer
        assert os.read(reader, 10) == bytes([signal.SIGINT])
    finally:
        signal.set_wakeup_fd(before)


def test_a_signal_of_another_kind_stops_nothing():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        thread = when_busy(lambda: os.kill(os.getpid(), signal.SIGUSR1))
        wt.fit(target="mean-power:2", n=600, heads=100)
        thread.join()
        assert seen == [1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_cancel_stops_calls_of_other_threads():
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(wt.fit, **LONG)
        when_busy(wt.cancel).join()
        with pytest.raises(wt.Interrupted):
            future.result()


def test_threads_have_contexts_of_their_own():
    data = wt.draw("mean-power:2", n=100, dim=4, keys=4)
    expected = wt.fit(data, heads=20).predict(data)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: wt.fit(data, heads=20, threads=1).predict(data), range(16)):
            assert np.array_equal(result, expected)


def test_the_bits_do_not_depend_on_threads():
    one, two = (wt.fit(target="corr-power:3", n=300, heads=50, threads=t).train_error for t in (1, 2))
    assert one == two


def test_the_interpreter_runs_during_a_call():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(len(_context._busy))

    thread = threading.Thread(target=tick)
    thread.start()
    wt.fit(target="mean-power:2", n=800, heads=200)
    stop.set()
    thread.join()
    assert sum(ticks) > 5


def test_a_limit_of_time():
    with pytest.raises(wt.Error, match="time is over"):
        wt.fit(**LONG, time=0.05)


def test_the_device_is_a_setting(monkeypatch):
    monkeypatch.setattr(wt.settings, "device", "auto")
    assert wt.fit(target="mean-power:2", n=50, heads=10).samples == 50
    monkeypatch.setattr(wt.settings, "device", "abacus")
    with pytest.raises(wt.UsageError, match="abacus"):
        wt.fit(target="mean-power:2", n=50, heads=10)
    monkeypatch.setattr(wt.settings, "device", "host")
    assert wt.fit(target="mean-power:2", n=50, heads=10).samples == 50


def test_progress_is_shown():
    shown = []
    with _context.session() as work:
        show = _native.wt_progress_fn(lambda _user, progress: shown.append(progress.contents.what))
        lib.wt_context_set_progress(work.handle, show, None)
        meter = lib.wt_meter_start(work.handle, b"cells", 10.0)
        lib.wt_meter_set(byref(meter), 10.0)
        lib.wt_context_set_progress(work.handle, _native.wt_progress_fn(0), None)
    assert shown == [b"cells"]


TQDM = """
import sys, types
class tqdm:
    def __init__(self, total, unit, leave): self.n = 0
    def set_postfix_str(self, text, refresh): pass
    def refresh(self): sys.stderr.write(f"bar {self.n} of {self.total}\\r")
    def close(self): sys.stderr.write("closed")
sys.modules["tqdm"] = types.ModuleType("tqdm")
sys.modules["tqdm.auto"] = types.ModuleType("tqdm.auto")
sys.modules["tqdm.auto"].tqdm = tqdm
"""
NO_TQDM = "import sys; sys.modules['tqdm'] = sys.modules['tqdm.auto'] = None\n"


@pytest.mark.parametrize("before,words", [(TQDM, b"of 10.0\rclosed"), (NO_TQDM, b"\rlambdas 0/10")])
def test_progress_in_a_terminal(before, words):
    program = before + """
import wattle as wt
from wattle import _progress
_progress.DELAY = 0
wt.settings.progress = True
wt.fit(target="mean-power:2", n=300, heads=100, penalty="loo")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment())
    assert done.returncode == 0, done.stderr
    assert words in done.stderr and done.stdout == b""


def test_calls_need_no_standard_error(monkeypatch, tmp_path):
    """It may be none, closed, or something to write to and no more."""
    monkeypatch.setattr(wt.settings, "progress", None)
    closed = open(tmp_path / "closed", "w")
    closed.close()
    for stream in (None, closed, types.SimpleNamespace(write=len)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert wt.fit(target="mean-power:2", n=20, heads=3).samples == 20


def test_a_callback_that_raises_ends_its_call():
    def answer(*_):
        raise ZeroDivisionError("of the caller's")

    with _context.session() as work:
        ask = _native.wt_query_ask_fn(work.guard(answer))
        with pytest.raises(ZeroDivisionError, match="of the caller's"):
            work(lambda handle, ask: ask(None, 1, None, None), ask)


def test_a_session_in_a_session_is_another_context():
    with _context.session() as outer, _context.session() as inner:
        assert outer.handle != inner.handle
    with _context.session() as again:
        assert again.handle in (outer.handle, inner.handle)


def test_remarks_are_warnings():
    with pytest.warns(wt.Remark, match="a remark"):
        with _context.session() as work:
            lib.wt_remark(work.handle, b"%s", b"a remark")


def test_a_warning_is_at_the_line_of_the_caller():
    with pytest.warns(wt.MissedWarning) as told:
        wt.train("and:2", length=8, samples=20, dim=4, heads=1, steps=2, validation_samples=20, success=1)
    assert [one.filename for one in told] == [__file__]


# ---- fork -----------------------------------------------------------------------------------------


def child(body, queue):
    try:
        queue.put(("fine", body()))
    except BaseException as error:
        queue.put((type(error).__name__, str(error)))


def in_child(body):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(body, queue))
    process.start()
    found = queue.get(timeout=60)
    process.join()
    return found


def test_a_forked_child_has_threads_of_its_own():
    def body(threads=None):
        return wt.fit(target="mean-power:2", n=300, heads=50, threads=threads).train_error

    expected = body(threads=2)
    assert in_child(body) == ("fine", expected)
    assert in_child(lambda: (body(threads=3), len(os.listdir("/proc/self/task")) >= 3)) == ("fine", (expected, True))
    assert in_child(lambda: in_child(lambda: body(threads=2))) == ("fine", ("fine", expected))


def test_a_child_that_was_forked_during_a_call_is_refused():
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(wt.fit, **LONG)
        while not _context._busy:
            time.sleep(0.001)
        name, words = in_child(lambda: wt.draw("mean-power:2"))
        wt.cancel()
        with pytest.raises(wt.Interrupted):
            future.result()
    assert name == "UsageError" and "while another thread was in a call" in words


def test_ctrl_c_in_a_forked_child():
    wt.draw("mean-power:2", n=10)

    def body():
        when_busy(lambda: os.kill(os.getpid(), signal.SIGINT))
        wt.fit(**LONG)

    assert in_child(body)[0] == "KeyboardInterrupt"


def test_a_callback_that_forks_leaves_the_parents_pipe_alone():
    """Ctrl-C in the child alone is none of the parent's."""
    layer, codes = wt.teacher(heads=1, dim=2), []

    def oracle(x):
        if not codes:
            child = os.fork()
            if child == 0:
                try:
                    signal.raise_signal(signal.SIGINT)
                except KeyboardInterrupt:
                    os._exit(7)
                os._exit(0)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return layer(x)

    assert wt.query(oracle, dim=2).recovered and codes == [7]


# ---- the end --------------------------------------------------------------------------------------

AT_EXIT = """
import threading, time, wattle as wt
from wattle import _context

def work():
    while True:
        try:
            {call}
        except BaseException as error:
            print(error)

asked = threading.Event()
def oracle(x):
    asked.set()
    threading.Event().wait()

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
while not (asked.is_set() or any(context.calling for context in _context._busy)):
    time.sleep(0.001)
"""


@pytest.mark.parametrize("call", ["wt.fit(target='mean-power:2', n=4000, heads=2000, penalty='loo')",
                                  "wt.train('and:3', steps=10**9, to_end=True)", "wt.query(oracle, dim=4)"])
def test_daemon_threads_in_calls_do_not_crash_the_end(call):
    assert printed(AT_EXIT.format(call=call)) == ("", "")


# ---- the library ----------------------------------------------------------------------------------


def environment(**more):
    import wattle

    folder = os.path.dirname(os.path.dirname(wattle.__file__))
    return {**os.environ, "PYTHONPATH": folder, **more}


def sentence(**more):
    done = subprocess.run([sys.executable, "-c", "import wattle"], capture_output=True, text=True,
                          env=environment(**more))
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


def test_a_missing_library_is_one_sentence():
    words = sentence(WATTLE_LIBRARY="/nowhere/libwattle.so.1")
    assert "/nowhere/libwattle.so.1 was not found: build Wattle (./quickstart), install it, or set" in words


def test_an_older_library_is_one_sentence(tmp_path):
    source, library = tmp_path / "old.c", tmp_path / "libwattle.so.1"
    source.write_text("const char *wt_version(void) { return \"0.9.0\"; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    assert "is older than this package" in sentence(WATTLE_LIBRARY=str(library))


def test_a_file_that_is_no_library(tmp_path):
    (tmp_path / "libwattle.so.1").write_text("no library")
    assert "cannot be loaded" in sentence(WATTLE_LIBRARY=str(tmp_path / "libwattle.so.1"))


# ---- others in the process ------------------------------------------------------------------------

FIT = "import wattle as wt; print(wt.fit(target='corr-power:3', n=200, heads=30, penalty='loo').train_error.hex())"


def printed(program, **more):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment(**more))
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_the_bits_do_not_depend_on_what_else_is_loaded():
    others = "import importlib.util as u, importlib\n" \
        "for name in 'numpy', 'scipy', 'sklearn', 'torch':\n    u.find_spec(name) and importlib.import_module(name)\n"
    assert printed(others + FIT) == printed(FIT)


def test_a_blas_that_was_loaded_with_slow_kernels_is_told():
    slow = "import ctypes; ctypes.CDLL('libopenblas.so.0'); import os; os.environ.pop('OPENBLAS_CORETYPE', None); "
    said = printed(slow + FIT, OPENBLAS_CORETYPE="Prescott")[1]
    assert "Remark" in said and "OPENBLAS_CORETYPE" in said
    assert printed(FIT)[1] == ""


def test_tensors_of_torch():
    torch = pytest.importorskip("torch", reason="python3-torch is not installed")
    data = wt.draw("mean-power:2", n=20, dim=3, keys=2)
    tensors = [torch.tensor(array, requires_grad=True) for array in (data.query, data.keys, data.y)]
    assert wt.fit(tuple(tensors), heads=5).train_error == wt.fit(data, heads=5).train_error
    half = wt.Sets(tensors[0].to(torch.bfloat16), tensors[1].float())
    assert half.query.dtype == np.float64 and half.keys.shape == (20, 2, 3)
