"""Layers, sequences, comparisons and inspections: the bits of the command, files, errors."""
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import wattle as wt

GOLDEN = Path(__file__).resolve().parent.parent.parent / "tests" / "golden"


def test_the_golden_layer():
    data = np.load(GOLDEN / "attention_layer.npz")
    theta, w = data["theta"], data["w"]
    layer = wt.Layer(theta, w)
    # rounding of sums of a few dozen products, as in tests/layer/test_layer.c
    assert np.allclose(layer(data["x"]), data["y"], rtol=0, atol=1e-12)
    assert np.allclose(layer(data["x"][0]), data["y"][0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", [{}, dict(bias=True, residual=True, norm="layer", mask="causal"),
                                 dict(rank=2, groups=1, heads=2), dict(parity=3), dict(out_dim=2, scale=0.5)])
def test_teacher_and_draw_give_the_bits_of_the_command(command, tmp_path, how):
    file, data = tmp_path / "t.safetensors", tmp_path / "d.npz"
    flags = []
    for name, value in how.items():
        flags += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    said = command("teacher", "--dim", 5, "--seed", 3, *flags, "-o", file)
    layer, read = wt.teacher(dim=5, seed=3, **how), wt.Layer.load(file)
    assert (layer.heads, layer.dim, layer.outputs) == (said["heads"], said["dim"], said["outputs"])
    assert layer.form == read.form
    for name in ("theta", "w", "u", "c"):
        assert np.array_equal(getattr(layer, name), getattr(read, name)), name
    command("draw", "--layer", file, "--tokens", "gaussian", "--length", 6, "--shortest", 2, "--n", 20, "--noise", "0.1",
            "--seed", 7, "-o", data)
    ours, theirs = layer.draw(tokens="gaussian", length=6, shortest=2, n=20, noise=0.1, seed=7), np.load(data)
    assert np.array_equal(ours.x, theirs["x"]) and np.array_equal(ours.y, theirs["y"])
    assert np.array_equal(ours.lengths, theirs["lengths"])


def test_tokens_from_tables_are_those_of_the_command(command, tmp_path):
    layer, random = wt.teacher(dim=3), np.random.default_rng(1)
    words, places, gain, shift = random.normal(size=(5, 3)), random.normal(size=(4, 3)), random.normal(size=3), np.ones(3)
    np.savez(tmp_path / "t.npz", words=words, places=places, **{"norm.weight": gain, "norm.bias": shift})
    layer.save(tmp_path / "l.safetensors")
    from_ = f"{tmp_path}/t.npz"
    command("draw", "--layer", tmp_path / "l.safetensors", "--n", 9, "--tokens-from", f"{from_}:words", "--add",
            f"{from_}:places", "--add", f"{from_}:words@2", "--norm-from", f"{from_}:norm", "-o", tmp_path / "d.npz")
    theirs = np.load(tmp_path / "d.npz")
    by_name = layer.draw(n=9, tokens_from=f"{from_}:words", add=[f"{from_}:places", f"{from_}:words@2"],
                         norm_from=f"{from_}:norm")
    by_array = layer.draw(n=9, tokens_from=words, add=[places, (words, 2)], norm_from=(gain, shift))
    for ours in (by_name, by_array):
        assert np.array_equal(ours.x, theirs["x"]) and np.array_equal(ours.y, theirs["y"])
    alone = wt.draw_sequences(3, n=9, tokens_from=words, add=[places, (words, 2)], norm_from=(gain, shift))
    assert alone.y is None and np.array_equal(alone.x, theirs["x"])


def test_apply_gives_the_bits_of_the_command(command, tmp_path):
    layer, data = wt.teacher(dim=4, bias=True), wt.teacher(dim=4, seed=9).draw(n=12, shortest=2)
    layer.save(tmp_path / "l.safetensors")
    data.save(tmp_path / "d.npz")
    theirs = command("apply", tmp_path / "l.safetensors", tmp_path / "d.npz", "-o", tmp_path / "y.npy")
    ours = wt.apply(layer, data)
    assert ours.error == theirs["error"] and ours.form == theirs["form"]
    assert np.array_equal(ours.y, np.load(tmp_path / "y.npy"))
    assert np.array_equal(layer(data.x, data.lengths), ours.y)
    again = wt.apply(tmp_path / "l.safetensors", tmp_path / "d.npz")
    assert again.error == ours.error


def test_compare_gives_the_bits_of_the_command(command, tmp_path):
    a, b = wt.teacher(heads=3, dim=4, seed=1), wt.teacher(heads=2, dim=4, seed=2)
    data = a.draw(n=10)
    for layer, name in ((a, "a"), (b, "b")):
        layer.save(tmp_path / f"{name}.safetensors")
    data.save(tmp_path / "d.npz")
    for flags, how in (([], {}), (["--data", tmp_path / "d.npz"], dict(data=data))):
        theirs = command("compare", tmp_path / "a.safetensors", tmp_path / "b.safetensors", "--seed", 5, *flags)
        ours = wt.compare(a, b, seed=5, **how).to_dict()
        ours = {name: None if value == float("inf") else value for name, value in ours.items()}
        ours["heads"] = [{k: None if v != v else v for k, v in row.items()} for row in ours["heads"]]
        assert ours == theirs
    assert "distance" in repr(wt.compare(a, b))


def test_export_gives_the_file_of_the_command(command, tmp_path):
    layer = wt.teacher(heads=1, dim=4, bias=True)
    layer.save(tmp_path / "l.safetensors")
    for kind in ("torch", "bert"):
        theirs = command("export", tmp_path / "l.safetensors", "--as", kind, "-o", tmp_path / "theirs.safetensors")
        ours = layer.export(tmp_path / "ours.safetensors", as_=kind).to_dict()
        assert {**ours, "output": None} == {**theirs, "output": None}
        assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
        back = wt.Layer.load(tmp_path / "ours.safetensors")
        assert wt.compare(layer, back).theta_error < 1e-12  # rounding of a factorisation


def test_heads_are_kept_as_the_command_keeps_them(command, tmp_path):
    layer = wt.teacher(heads=3, dim=4, bias=True, mask="causal")
    layer.save(tmp_path / "l.safetensors")
    theirs = command("export", tmp_path / "l.safetensors", "--as", "wattle", "--only", "2,0", "-o", tmp_path / "a.safetensors")
    ours = wt.export(layer, tmp_path / "b.safetensors", as_="wattle", only=[2, 0]).to_dict()
    assert {**ours, "output": None} == {**theirs, "output": None}
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    kept = layer.keep([2, 0])
    assert np.array_equal(kept.theta, layer.theta[[2, 0]]) and np.array_equal(kept.u, layer.u[[2, 0]])
    assert np.array_equal(kept.c, layer.c) and kept.form == layer.form


def test_inspect_gives_the_numbers_of_the_command(command, tmp_path):
    layer = wt.teacher(heads=3, dim=6, seed=4)
    layer.save(tmp_path / "l.safetensors")
    theirs = command("inspect", tmp_path / "l.safetensors", "--only", "0,2")
    ours = wt.inspect(tmp_path / "l.safetensors", only=[0, 2])
    assert {**ours.to_dict(), "theta": None} == {**theirs, "theta": None}
    assert np.array_equal(ours.theta, layer.theta)
    table = ours.frame()
    assert list(table["head"]) == [0, 2] and len(table["ov_singular_4"]) == 2
    whole = wt.inspect(layer)
    assert whole.file is None and whole.heads[2].to_dict() == ours.heads[1].to_dict()
    figure = whole.plot()
    assert len(figure.axes) == 7  # two a head, and a scale
    figure.savefig(tmp_path / "heads.pdf")
    assert (tmp_path / "heads.pdf").read_bytes().startswith(b"%PDF")


def checkpoint(path, layers=3, dim=8):
    """A checkpoint of layers with names of BERT."""
    random, arrays = np.random.default_rng(0), {}
    for layer in range(layers):
        stem = f"encoder.layer.{layer}.attention"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            arrays[f"{stem}.{part}.weight"] = random.normal(size=(dim, dim))
            arrays[f"{stem}.{part}.bias"] = random.normal(size=dim)
    wt.layers._write_tensors(path, arrays)
    return arrays


def test_checkpoints_are_read_as_the_command_reads_them(command, tmp_path):
    path = tmp_path / "model.safetensors"
    arrays = checkpoint(path)
    theirs = command("inspect", path, "--heads", 2)
    ours = wt.inspect(path, heads=2)
    assert {**ours.to_dict(), "theta": None} == {**theirs, "theta": None}
    assert ours.scheme == "BERT" and ours.layers == 3 and ours.head_count == 6
    assert wt.inspect(path, heads=2, layers=1).heads[0].to_dict() == ours.heads[2].to_dict()
    assert len(ours.plot().axes) == 4
    layer = wt.Layer.load(path, index=1, heads=2)
    map_ = ",".join(f"{k}=encoder.layer.{{}}.attention.{v}" for k, v in
                    dict(q="self.query", k="self.key", v="self.value", o="output.dense").items())
    by_map = wt.Layer.load(path, index=1, heads=2, map=map_)
    assert layer.heads == 2 and layer.bias and np.array_equal(layer.theta, by_map.theta)
    assert np.array_equal(wt.Layer.of_module(arrays, index=1, heads=2).w, layer.w)
    with pytest.raises(wt.Error, match="heads: heads M"):  # the keyword, not --heads
        wt.Layer.load(path)
    assert wt.compare(path, path, index=(0, 1), heads=2).theta_error > 0.1


def test_a_layer_serves_lines(command, tmp_path):
    layer = wt.teacher(dim=2)
    (tmp_path / "lines").write_text("[[1, 2]]\n[[1, 2], [3, 4]]\n")
    out = io.StringIO()
    wt.serve_layer(layer, tmp_path / "lines", out)
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert np.array_equal(answers[1], layer([[1, 2], [3, 4]])[-1])
    assert np.array_equal(answers[0], layer([[1, 2]])[-1])
    (tmp_path / "lines").write_text("[[1]]\n")
    with pytest.raises(wt.DataError):
        wt.serve_layer(layer, tmp_path / "lines", out)


def test_arrays_of_sequences():
    x, y = np.arange(24.0).reshape(3, 4, 2), np.arange(12.0).reshape(3, 4, 1)
    plain = wt.Sequences(x, y)
    assert plain.x is x and plain.y is y and plain.lengths is None
    mask = np.array([[1, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 1]])
    masked = wt.Sequences(x, y, mask=mask)
    assert list(masked.lengths) == [3, 4, 1]
    assert np.array_equal(masked.x[0, :3], x[0, [0, 2, 3]]) and np.array_equal(masked.y[2, 0], y[2, 3])
    assert np.array_equal(x, np.arange(24.0).reshape(3, 4, 2))  # the caller's own are as they were
    last = wt.Sequences(x, y[:, -1], rows="last")
    assert np.array_equal(last.y[:, -1], y[:, -1]) and np.isnan(last.y[:, :3]).all()
    part = y.copy()
    part[1, 2] = np.nan
    assert np.isnan(wt.Sequences(x, part, missing="nan").y[1, 2, 0])
    again = pickle.loads(pickle.dumps(masked))
    assert np.array_equal(again.lengths, masked.lengths) and np.array_equal(again.y, masked.y)


def test_a_layer_is_pickled_and_saved(tmp_path):
    layer = wt.teacher(dim=3, bias=True, mask="causal", residual=True, norm="rms", epsilon=1e-3)
    layer.save(tmp_path / "l.safetensors")
    for again in (pickle.loads(pickle.dumps(layer)), wt.Layer.load(tmp_path / "l.safetensors"),
                  wt.Layer(layer.theta, layer.w, layer.u, layer.c, mask="causal", residual=True, norm="rms", epsilon=1e-3)):
        assert again.form == layer.form == "bias, causal, residual, rms norm" and again.epsilon == 1e-3
        assert np.array_equal(again.theta, layer.theta) and np.array_equal(again.c, layer.c)
        assert again.to_dict() == layer.to_dict()
    assert "form " in repr(layer) and "<table>" in layer._repr_html_()
    theta = wt.teacher(dim=3).theta
    assert np.isfinite(theta).all()  # the layer is gone, its numbers are not


ONES = np.ones((3, 2, 4))


@pytest.mark.parametrize("call,kind,words", [
    (lambda: wt.Layer(np.ones((1, 2, 3)), np.ones((1, 2, 2))), wt.UsageError, r"theta: the shape \(1, 2, 3\) is not \(1, 2, 2\)"),
    (lambda: wt.Layer(np.ones((1, 2, 2)), np.ones((1, 2, 2)), u=np.ones((1, 2))), wt.UsageError, "both u and c"),
    (lambda: wt.Layer(np.full((1, 2, 2), np.nan), np.ones((1, 2, 2))), wt.DataError, "theta: not all"),
    (lambda: wt.Layer(np.ones((1, 2, 2)), np.ones((1, 2, 2)), mask="cusal"), wt.UsageError, "mask: 'cusal' is none of"),
    (lambda: wt.Layer(np.ones((1, 2, 2)), np.ones((1, 2, 3)), residual=True), wt.UsageError, "residual"),
    (lambda: wt.Sequences(np.ones((2, 3))), wt.UsageError, r"x: the shape \(2, 3\) is not \(n, k, d\)"),
    (lambda: wt.Sequences(ONES, np.ones((3, 3, 1))), wt.UsageError, r"y: the shape \(3, 3, 1\) is not \(3, 2, p\)"),
    (lambda: wt.Sequences(np.full((1, 1, 1), np.inf)), wt.DataError, r"x\[0,0,0\] is inf"),
    (lambda: wt.Sequences(ONES, np.full((3, 2, 1), np.nan)), wt.DataError, r"y\[0,0,0\] is nan"),
    (lambda: wt.Sequences(ONES, np.full((3, 2, 1), np.nan), missing="nan"), wt.DataError, "every row of y"),
    (lambda: wt.Sequences(np.ones((0, 1, 1))), wt.DataError, "0 sequences"),
    (lambda: wt.Sequences(ONES, lengths=[1, 2, 3]), wt.DataError, r"lengths\[2\] is 3"),
    (lambda: wt.Sequences(ONES, lengths=[1, 2, 2], mask=np.ones((3, 2))), wt.DataError, "one is enough"),
    (lambda: wt.Sequences(ONES, mask=np.zeros((3, 2))), wt.DataError, "no token of sequence 0"),
    (lambda: wt.Sequences(ONES, rows="some"), wt.UsageError, "rows: 'some' is neither"),
    (lambda: wt.Sequences("x"), TypeError, "x: real numbers"),
    (lambda: wt.teacher(heads=1, zero_sum=True), wt.UsageError, "zero_sum"),
    (lambda: wt.teacher(parity=3, heads=4), wt.UsageError, "parity and heads"),
    (lambda: wt.teacher(dim=10**9, heads=10**9), MemoryError, ""),
    (lambda: wt.teacher(dim=4).draw(n=0), wt.UsageError, "n: must be"),
    (lambda: wt.teacher(dim=4).draw(shortest=5), wt.UsageError, "shortest"),
    (lambda: wt.teacher(dim=4).draw(norm_from="x:y"), wt.UsageError, "need tokens_from"),
    (lambda: wt.teacher(dim=4).draw(tokens_from=np.ones((2, 3))), wt.UsageError, r"tokens_from: the shape \(2, 3\)"),
    (lambda: wt.teacher(dim=4).draw(tokens_from=(np.ones((2, 4)), 2)), wt.UsageError, "2 rows, no row 2"),
    (lambda: wt.teacher(dim=4).draw(tokens_from="words"), wt.UsageError, "FILE:NAME"),
    (lambda: wt.teacher(dim=4).draw(tokens_from=np.ones((2, 4)), add=np.ones((3, 4))), wt.DataError, "3 rows for"),
    (lambda: wt.teacher(dim=4)(np.ones((2, 3))), wt.UsageError, "tokens of 3 dimensions"),
    (lambda: wt.teacher(dim=4)([[1, 2, 3, np.nan]]), wt.DataError, "nan"),
    (lambda: wt.apply(wt.teacher(dim=4), np.ones((2, 2, 3))), wt.DataError, "tokens of 3 dimensions"),
    (lambda: wt.apply(wt.teacher(dim=4), ONES, np.ones((3, 2, 2))), wt.DataError, "y has 2 columns"),
    (lambda: wt.apply(7, ONES), TypeError, "layer: a layer or a file"),
    (lambda: wt.compare(wt.teacher(dim=4), wt.teacher(dim=5)), wt.Error, "5"),
    (lambda: wt.compare("nowhere", "nowhere"), FileNotFoundError, "nowhere"),
    (lambda: wt.export(wt.teacher(dim=4), "out", as_="jax"), wt.UsageError, "as_: 'jax'"),
    (lambda: wt.export(wt.teacher(heads=2, dim=4), "out"), wt.DataError, "rank"),
    (lambda: wt.teacher().keep([0, 2]), wt.UsageError, "no head 2"),
    (lambda: wt.teacher().keep([]), wt.UsageError, ""),
    (lambda: wt.inspect("nowhere"), FileNotFoundError, "nowhere"),
    (lambda: wt.inspect(wt.teacher(), only=[9]), wt.Error, "9"),
    (lambda: wt.Layer.load("nowhere", rope="on"), wt.UsageError, "rope"),
    (lambda: wt.teacher().loss, AttributeError, "loss"),
])
def test_what_is_wrong_is_told(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
