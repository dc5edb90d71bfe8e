"""A few thousand random calls of every public function: a result or an exception, never a crash."""
import subprocess
import sys

from test_calls import environment

PROGRAM = r"""
import inspect, os, random, sys, threading, time, warnings
import numpy as np
import wattle as wt

warnings.simplefilter("ignore")
seed, calls = int(sys.argv[1]), int(sys.argv[2])
dice = random.Random(seed)
os.chdir(sys.argv[3])
wt.settings.progress = False
data = wt.draw("mean-power:2", n=12, dim=3, keys=2)
data.save("data.npz")
model = wt.fit(data, heads=4)
model.save("model.safetensors")
layer = wt.teacher(dim=3)
layer.save("layer.safetensors")
sequences = layer.draw(n=12)
open("rubbish", "wb").write(bytes(range(256)) * 4)
huge = np.broadcast_to(1.0, (1 << 40, 2, 3))
bad = [None, -1, 0, 1, 2.5, 1 << 64, 10**30, float("nan"), float("inf"), -0.0, "", "x", "a\0b", "\udcff", "0", "1e400", "16:8:x2",
       "1:1e9:1", b"x", [], [1, "x"], [[1], [2, 3]], (), {}, {"query": 1, "keys": 2}, object(), len, True, np.float32(2),
       np.ones(3), np.ones((2, 3)), np.ones((2, 2, 3)), np.zeros((0, 2, 3)), np.ones((3, 2, 3))[:, ::-1],
       np.full((12, 2, 3), np.nan), np.ones((2, 2, 3)) * 1j, np.array(["a"]), np.array([object()]), np.ones(2, dtype="datetime64[s]"),
       np.ones((2, 3), dtype=">f8"), data, model, wt.Sets, ".", "nowhere", "rubbish", "data.npz", "model.safetensors",
       layer, sequences, "layer.safetensors", "mean-power:2", "loo", "rfa", "and:2", (data.query, data.keys, data.y), (data.query, data.keys[:5]), lambda x: x, lambda x: 1 / 0]
good = {"n": 20, "dim": 3, "keys": 2, "heads": 4, "reps": 2, "test_n": 10, "samples": 20, "length": 8, "steps": 5, "target": "mean-power:2",
        "targets": "mean-power:2", "seed": 1}
always = {"threads": 1, "memory": "64M", "time": 0.3}
functions = [value for name, value in sorted(vars(wt).items()) if inspect.isfunction(value) and name in wt.__all__ and name not in ("cancel", "submit")]
functions += [wt.Sets, wt.Sets.load, model.predict, model.score, model.save, data.save,
              wt.Layer, wt.Layer.load, wt.Layer.of_module, layer.__call__, layer.save, wt.Sequences, wt.Sequences.load, sequences.save]
began = [time.monotonic()]

def impatient():
    while True:
        time.sleep(0.1)
        if time.monotonic() - began[0] > 0.5:
            wt.cancel()

threading.Thread(target=impatient, daemon=True).start()
outcomes = {}
for call in range(calls):
    function = dice.choice(functions)
    given = {}
    some = dice.choice([0.03, 0.1, 0.3])
    for name, parameter in inspect.signature(function).parameters.items():
        if name in always and dice.random() < 0.95:
            given[name] = always[name]
        elif dice.random() < some or (name not in good and parameter.default is parameter.empty):
            given[name] = dice.choice(bad)
        elif name in good and (name != "target" or dice.random() < 0.5):
            given[name] = good[name]
    began[0] = time.monotonic()
    try:
        function(**given)
        kind = "fine"
    except Exception as error:
        kind = type(error).__name__
        if os.environ.get("SHOW") == kind:
            print(function.__name__, {k: str(v)[:40] for k, v in given.items()}, error, file=sys.stderr)
        assert not isinstance(error, (SystemError, AssertionError, wt.InternalError, UnboundLocalError, AttributeError, NameError)), (function, given, error)
        assert str(error), (function, given)
        assert type(error) is not ValueError, (function, given, error)  # of Python's own, which names no argument
    outcomes[kind] = outcomes.get(kind, 0) + 1
    if time.monotonic() - began[0] > 2:
        print("slow:", function.__name__, time.monotonic() - began[0], {k: v for k, v in given.items() if not isinstance(v, np.ndarray)}, file=sys.stderr)
print(outcomes)
assert wt.fit(data, heads=4).train_error == model.train_error
"""


def test_random_calls_never_crash(tmp_path):
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", PROGRAM, "1", "3000", str(tmp_path)],
                          capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr[-3000:]
    assert "'fine'" in done.stdout and "'UsageError'" in done.stdout and "'TypeError'" in done.stdout
