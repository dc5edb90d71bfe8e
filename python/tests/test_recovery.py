"""recover, query and recover_module: the bits of the command, callables, exceptions, torch."""
import os
import shlex

import numpy as np
import pytest

import wattle as wt

LEFT = {"seconds", "output", "accepted", "setting"}


@pytest.fixture
def example(tmp_path):
    """A teacher, its sequences, and files of both."""
    true = wt.teacher(heads=2, dim=4, seed=1)
    data = true.draw(n=120, tokens="gaussian", seed=2)
    true.save(tmp_path / "true.safetensors")
    data.save(tmp_path / "data.npz")
    return true, data, tmp_path


def hold(ours, theirs, least):
    compared = [key for key in theirs if key not in LEFT]
    for key in compared:
        assert ours[key] == theirs[key], key
    assert len(compared) >= least


@pytest.mark.parametrize("how", [{}, dict(heads=2, rank=4), dict(heads=2, bias=True, form="auto"),
                                 dict(heads=2, rows="last", restarts=3),
                                 dict(heads=2, holdout=0.1, goal=1e-6, matrix_free=True)])
def test_recover_gives_the_bits_of_the_command(command, example, how):
    _, data, folder = example
    flags = []
    for name, value in how.items():
        flags += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    theirs = command("recover", folder / "data.npz", "--seed", 3, *flags, "-o", folder / "theirs.safetensors")
    ours = wt.recover(data.x, data.y, seed=3, **how)
    hold(ours.to_dict(), theirs, 24)
    ours.save(folder / "ours.safetensors")
    assert (folder / "ours.safetensors").read_bytes() == (folder / "theirs.safetensors").read_bytes()
    by_file = wt.recover(folder / "data.npz", seed=3, **how)
    assert np.array_equal(by_file.theta, ours.theta) and np.array_equal(by_file.w, ours.w)


def test_stages_and_certificate_are_those_of_the_command(command, tmp_path):
    true = wt.teacher(heads=2, dim=4, seed=1)
    data = true.draw(n=1500, length=2, tokens="gaussian", seed=2)
    true.save(tmp_path / "true.safetensors")
    data.save(tmp_path / "data.npz")
    theirs = command("recover", tmp_path / "data.npz", "--heads", 2, "--method", "sculpt", "--certificate", "--directions",
                     3, "--teacher", tmp_path / "true.safetensors")
    ours = wt.recover(data, heads=2, method="sculpt", certificate=True, directions=3, teacher=true).to_dict()
    for stage in ("sculpt", "certificate"):
        del ours[stage]["seconds"], theirs[stage]["seconds"]
    hold(ours, theirs, 26)
    assert ours["certificate"]["teacher_inside"] == 2


def test_a_certificate_that_says_nothing_warns(example):
    with pytest.warns(wt.MissedWarning, match="no certificate"):
        layer = wt.recover(example[1], heads=2, certificate=True)
    assert layer.recovered and layer.certificate is None


def test_lengths_and_missing_rows(example):
    true, _, _ = example
    data = true.draw(n=200, length=5, shortest=2, tokens="gaussian")
    layer = wt.recover(data.x, data.y, lengths=data.lengths, heads=2)
    assert layer.exact and wt.compare(true, layer).theta_error < 1e-9  # that of the goal
    y = data.y.copy()
    y[::3, 0] = np.nan
    with pytest.raises(wt.DataError, match="nan"):
        wt.recover(data.x, y, lengths=data.lengths, heads=2)
    assert wt.recover(data.x, y, lengths=data.lengths, heads=2, missing="nan").exact


def test_a_layer_that_is_not_recovered_says_so(command, example):
    _, data, folder = example
    y = np.tanh(3 * data.y)
    wt.Sequences(data.x, y).save(folder / "bent.npz")
    theirs = command("recover", folder / "bent.npz", "--heads", 2, "--restarts", 2, "--accept", "-o",
                     folder / "theirs.safetensors", exit_code=1)
    with pytest.warns(wt.MissedWarning, match="the layer was not recovered"):
        layer = wt.recover(data.x, y, heads=2, restarts=2)
    hold(layer.to_dict(), theirs, 24)
    assert not layer.recovered and layer.reason
    layer.save(folder / "ours.safetensors")
    assert (folder / "ours.safetensors").read_bytes() == (folder / "theirs.safetensors").read_bytes()


def test_sculpt_that_stops_early_raises():
    data = wt.teacher(heads=2, dim=3, seed=1).draw(n=1000, tokens="boolean", length=2)
    with pytest.raises(wt.Missed, match="eigen-gap") as caught:
        wt.recover(data, heads=2, method="sculpt")
    assert caught.value.sculpt.stage == "patterns"


def test_what_cannot_be_identified_is_a_warning_of_the_layer(example):
    true, data, _ = example
    x = data.x * [1, 1, 1, 0]
    with pytest.warns(wt.Remark, match="span 3 of 4"):
        layer = wt.recover(x, true(x), heads=2)
    assert layer.warnings == ["the tokens span 3 of 4 dimensions: Theta and W are 0 in the others, which no output shows"]


@pytest.mark.parametrize("how", [dict(heads=1), {}, dict(heads=2, bias=True)])
def test_query_gives_the_bits_of_the_command(command, tmp_path, how):
    flags = [f"--{name}" if value is True else f"--{name}={value}" for name, value in how.items()]
    true = wt.teacher(heads=how.get("heads", 2), dim=3, seed=5, bias=how.get("bias", False))
    true.save(tmp_path / "l.safetensors")
    program = os.environ.get("WATTLE_COMMAND") or str(wt.__file__).replace("python/wattle/__init__.py", "build/release/wattle")
    serve = f"{shlex.quote(program)} serve-layer {shlex.quote(str(tmp_path / 'l.safetensors'))}"
    theirs = command("query", "--oracle", serve, "--dim", 3, "--seed", 2, *flags, "-o", tmp_path / "theirs.safetensors")
    calls = []
    ours = wt.query(lambda x: calls.append(x) or true(x)[-1], dim=3, seed=2, **how)
    hold(ours.to_dict(), theirs, 17)
    assert abs(ours.queries - len(calls)) <= 1  # the first unit vector is asked first, and only once
    asked = wt.query(serve, dim=3, seed=2, **how)
    written = wt.Layer.load(tmp_path / "theirs.safetensors")
    assert np.array_equal(ours.theta, written.theta) and np.array_equal(asked.theta, written.theta)


def test_an_oracle_may_answer_in_any_way():
    true = wt.teacher(heads=1, dim=3, out_dim=1, seed=5)
    exact = wt.query(lambda x: true(x)[-1], dim=3, heads=1)
    for answer in (lambda x: true(x), lambda x: float(true(x)[-1, 0]), lambda x: true(x)[None], lambda x: list(true(x)[-1])):
        assert np.array_equal(wt.query(answer, dim=3, heads=1).theta, exact.theta)
    coarse = wt.query(lambda x: true(x).astype(np.float32), dim=3, heads=1)
    assert coarse.recovered and coarse.tolerance > 1e-7  # 16 epsilon of float32
    unchecked = wt.query(lambda x: true(x), dim=3, heads=1, check=0)
    assert unchecked.recovered is None


class Broken(Exception):
    pass


@pytest.mark.parametrize("after", [1, 2, 9])
def test_an_exception_in_the_oracle_is_raised(after):
    true, calls = wt.teacher(heads=2, dim=3), []

    def oracle(x):
        calls.append(x)
        if len(calls) == after:
            raise Broken("no more")
        return true(x)

    with pytest.raises(Broken, match="no more"):
        wt.query(oracle, dim=3)
    assert len(calls) == after


def test_answers_that_no_layer_gives_warn():
    with pytest.warns(wt.MissedWarning, match="not explain the answers"):
        layer = wt.query(wt.teacher(heads=2, dim=2), dim=2, heads=1)
    assert layer.recovered is False


@pytest.mark.parametrize("call,kind,words", [
    (lambda: wt.recover(np.ones((3, 2, 2))), wt.Error, "y"),
    (lambda: wt.recover(np.ones((3, 2, 2)), np.ones((3, 2, 2)), heads="many"), TypeError, "heads"),
    (lambda: wt.recover(np.ones((3, 2, 2)), np.ones((3, 2, 2)), heads=0), wt.UsageError, "heads"),
    (lambda: wt.recover(np.ones((3, 2, 2)), np.ones((3, 2, 2)), method="magic"), wt.UsageError, "magic"),
    (lambda: wt.recover(np.ones((3, 2, 2)), np.ones((3, 2, 2)), seed=-1), wt.UsageError, "seed"),
    (lambda: wt.recover("nowhere.npz"), FileNotFoundError, "nowhere"),
    (lambda: wt.recover("data.npz", np.ones((3, 2, 2))), wt.UsageError, "part of what is there"),
    (lambda: wt.query(3, dim=2), TypeError, "oracle: a callable"),
    (lambda: wt.query(lambda x: x, dim=0), wt.UsageError, "dim"),
    (lambda: wt.query(lambda x: np.full(2, np.nan), dim=2), wt.DataError, "question 1 is not finite"),
    (lambda: wt.query(lambda x: np.ones(len(x)), dim=2), wt.DataError, r"neither \(1,\) nor"),
    (lambda: wt.query(lambda x: "yes", dim=2), TypeError, "the answer to question 1"),
    (lambda: wt.query(wt.teacher(dim=4), dim=4, heads=2, questions=20), wt.Error, "questions are too few"),
    (lambda: wt.query("exit 3", dim=2), wt.Unavailable, ""),
    (lambda: wt.query("cat", dim=2, timeout=0), wt.UsageError, "timeout"),
    (lambda: wt.recover_module(lambda x: x), wt.UsageError, "dim"),
    (lambda: wt.recover_module(lambda x: x[0], dim=3), wt.UsageError, "the module's answer"),
    (lambda: wt.recover_module(3, dim=3), TypeError, "module"),
])
def test_what_is_wrong_is_told(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_any_callable_is_a_module():
    true = wt.teacher(heads=2, dim=4)
    layer = wt.recover_module(true, dim=4, sequences=100)
    assert layer.exact and layer.own is None and layer.comparison is None
    assert wt.compare(true, layer).theta_error < 1e-9  # that of the goal


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_a_module_of_torch(first, mask):
    torch = pytest.importorskip("torch", reason="python3-torch is not installed")
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(8, 2, batch_first=first, dropout=0.1)
    layer = wt.recover_module(module, sequences=200, mask=mask)
    assert layer.exact and layer.bias and module.training
    assert layer.goal > 1e-7  # float32: a few of its roundings
    assert max(layer.comparison.theta_error, layer.comparison.w_error, layer.comparison.c_error) < 1e-5
    double = wt.recover_module(module.double(), sequences=200, mask=mask)
    assert double.exact and double.comparison.theta_error < 1e-9  # that of the goal


def test_other_modules_of_torch():
    torch = pytest.importorskip("torch", reason="python3-torch is not installed")
    torch.manual_seed(0)

    class Block(torch.nn.Module):
        """Attention with a residual connection, as a model has it."""

        def __init__(self):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
            self.num_heads = 2

        def forward(self, x):
            y, weights = self.attention(x, x, x)
            return x + y, weights

    layer = wt.recover_module(Block(), sequences=200, dim=8, heads=2, bias=True, residual=True)
    assert layer.exact and layer.comparison.theta_error < 1e-9  # that of the goal
    assert layer.own.form == layer.form and layer.comparison.function[0]["distance"] < 1e-9
    linear = torch.nn.Linear(4, 4)
    with pytest.warns(wt.MissedWarning):
        other = wt.recover_module(linear, sequences=50, dim=4, heads=2, restarts=1, rows="last", residual=True)
    assert other.own is None and other.comparison is None


def test_questions_to_a_module_of_torch():
    torch = pytest.importorskip("torch", reason="python3-torch is not installed")
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(4, 1, batch_first=True, bias=False)

    def oracle(x):
        tokens = torch.tensor(x, dtype=torch.float32)[None]
        return module(tokens, tokens, tokens)[0]  # a tensor with a gradient

    layer = wt.query(oracle, dim=4, heads=1)
    assert layer.recovered
    # the goal is 16 epsilon of float32 in the answers; Theta, solved from logarithms of them, a few hundred
    assert wt.compare(wt.Layer.of_module(module), layer).theta_error < 1e-3
