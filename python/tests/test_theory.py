"""Constructions, bounds, and what is in files: the numbers of the command."""
import copy
import pickle

import numpy as np
import pytest

import wattle as wt


def same(ours, theirs, left=()):
    """Every key of the command's object, nested ones too."""
    mine = ours if isinstance(ours, dict) else ours.to_dict()
    keys = [key for key in theirs if key not in {"setting", *left}]
    for key in keys:
        assert mine[key] == theirs[key], key
    assert keys


@pytest.mark.parametrize("options,flags", [
    (dict(length=64, relevant=[5, 20, 30]), ["--length", 64, "--relevant", "5,20,30"]),
    (dict(length=64, positions="random", heads="s", seed=3), ["--length", 64, "--positions", "random", "--heads", "s",
                                                                 "--seed", 3]),
    (dict(length=32, tokens="bag", draws=7), ["--length", 32, "--tokens", "bag", "--draws", 7]),
])
def test_construct_gives_the_numbers_of_the_command(command, tmp_path, options, flags):
    theirs = command("construct", "--function", "majority:3", *flags, "-o", tmp_path / "theirs.safetensors")
    ours = wt.construct("majority:3", **options)
    same(ours, theirs, {"input", "output"})
    ours.save(tmp_path / "ours.safetensors")
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    again = wt.construct(check=tmp_path / "ours.safetensors", draws=options.get("draws", 100), seed=options.get("seed", 0))
    assert {**again.to_dict(), "function": "majority:3"} == ours.to_dict()


def test_results_are_pickled_and_copied():
    built = wt.construct("and:2", length=16)
    bits = np.eye(16)
    for again in (pickle.loads(pickle.dumps(built)), copy.deepcopy(built), copy.copy(built)):
        assert np.array_equal(again.answers(bits)[1], built.answers(bits)[1])
        assert again.to_dict() == built.to_dict()
    for one in (wt.bound("rfa", target="corr:1", measure=20), wt.search("and:1", length=9, samples="4:8:4", trials=2),
                wt.reproduce(scale="tiny", dry_run=True)):
        assert repr(pickle.loads(pickle.dumps(one))) == repr(copy.deepcopy(one)) == repr(one)


def test_a_construction_answers():
    built = wt.construct("parity:2", length=16, relevant=[3, 9])
    bits = np.random.default_rng(0).integers(0, 2, (30, 16))
    heads, out = built.answers(bits)
    assert heads.shape == (30, built.heads)
    assert np.allclose(out, bits[:, 3] ^ bits[:, 9], rtol=0, atol=1e-9)  # the promise of the network
    with pytest.raises(wt.DataError, match="samples of 3 bits do not fit a construction of 16"):
        built.answers(np.zeros((2, 3)))


@pytest.mark.parametrize("given,words", [
    (dict(), "construct needs a function"), (dict(function="and:2", check="x.safetensors"), "not both"),
    (dict(function="table:0010", heads="one", length=9), "symmetric"), (dict(function="and:2", length=1), "1 bits cannot hold"),
    (dict(function="and:2", position_dim=9), "position_dim is of random positions"),
    (dict(function="and:2", relevant=[1.5, 2]), "relevant: a whole number is expected"),
    (dict(check="none.safetensors"), "none.safetensors"), (dict(function="and:2", draws=0), "draws"),
])
def test_bad_arguments_of_construct(given, words):
    with pytest.raises((wt.Error, TypeError)) as caught:
        wt.construct(**given)
    assert words in str(caught.value)


# ---- bounds ---------------------------------------------------------------------------------------


def points(measured):
    return {**measured.to_dict(), "points": measured.points.records()}


@pytest.mark.parametrize("kind,target", [("rfa", "mean-power:2"), ("brfa", "corr-power:3"), ("rfmlp", "mix:0.5:2:1"),
                                         ("rfa", "corr-cos:2")])
def test_bounds_of_features_are_those_of_the_command(command, kind, target):
    theirs = command("bound", kind, "--target", target, "--dim", 6, "--keys", 4, "--n", 100, "--heads", 50, "--measure", 64,
                     "--seed", 2, "--tokens", "gaussian")
    ours = wt.bound(kind, target=target, dim=6, keys=4, n=100, heads=50, measure=64, seed=2, tokens="gaussian")
    same(ours, theirs, {"measured"})
    assert points(ours.measured) == theirs["measured"]


def test_bounds_of_data(command, tmp_path):
    data = wt.draw("corr-power:2", n=40, dim=5, keys=3, seed=1)
    data.save(tmp_path / "data.npz")
    theirs = command("bound", "rfa", "--data", tmp_path / "data.npz", "--model", "brfa-inf", "--bias", 1)
    for given in (data, tmp_path / "data.npz"):
        ours = wt.bound("rfa", data=given, model="brfa-inf", bias=1)
        same(ours, theirs, {"measured"})
        same(points(ours.measured), theirs["measured"], {"labels"})
    assert wt.bound("rfa", data=data, n=10).measured.points.n.tolist() == [2, 5, 10]
    with pytest.raises(wt.UsageError, match="dim is 4, but data has 5"):
        wt.bound("rfa", data=data, dim=4)


@pytest.mark.parametrize("kind,options,flags", [
    ("head", dict(norms="qk21=4,v21=8,v=4,x=1.5,p=0.5", dim=8, length=100), ["--norms", "qk21=4,v21=8,v=4,x=1.5,p=0.5", "--dim", 8,
                                                                           "--length", 100]),
    ("transformer", dict(norms="qk21=1,qk=1,v21=1,v=1,c21=1,c=1/v=0.5", length=9, residual=True, samples=50, heads=2),
     ["--norms", "qk21=1,qk=1,v21=1,v=1,c21=1,c=1/v=0.5", "--length", 9, "--residual", "--samples", 50, "--heads", 2]),
])
def test_capacities_are_those_of_the_command(command, kind, options, flags):
    same(wt.bound(kind, **options), command("bound", kind, *flags))


def test_the_capacity_of_a_construction(command, tmp_path):
    path = tmp_path / "head.safetensors"
    wt.construct("and:2", length=16).save(path)
    theirs = command("bound", "head", "--model", path, "--samples", 200)
    ours = wt.bound("head", model=path, samples=200)
    same(ours, theirs)
    assert ours.outside == ["a network on top of the heads, where the file has one"]


@pytest.mark.parametrize("given,words", [
    (dict(kind="mlp"), "kind: 'mlp' is none of rfa"), (dict(kind="rfa"), "a bound of rfa needs target or data"),
    (dict(kind="rfa", target="mean"), "mean"), (dict(kind="rfa", target="corr:1", norms="v=1"), "norms makes no sense"),
    (dict(kind="head", norms="v=1", target="corr:1", length=9), "target makes no sense for a bound of head"),
    (dict(kind="head"), "needs norms or model"), (dict(kind="head", norms="qk22=1", length=9), "did you mean qk21?"),
    (dict(kind="head", norms="qk21=1,v21=1,v=1"), "needs length"),
    (dict(kind="head", norms="v=1", depth=2, length=9), "are of transformers"),
    (dict(kind="rfa", target="corr:1", model="rfa"), "model: 'rfa' is none of rfa-inf"),
    (dict(kind="rfa", target="corr:1", delta=2), "delta"), (dict(kind="head", model="none.safetensors"), "none.safetensors"),
])
def test_bad_arguments_of_bound(given, words):
    with pytest.raises(wt.Error) as caught:
        wt.bound(**given)
    assert words in str(caught.value)


# ---- files ----------------------------------------------------------------------------------------


def test_info_is_that_of_the_command(command, tmp_path):
    np.savez(tmp_path / "data.npz", a=np.array([[1.0, np.nan], [3, np.inf]]), b=np.asfortranarray(np.eye(3, dtype="f4")))
    wt.construct("and:2", length=16).save(tmp_path / "head.safetensors")
    for name in ("data.npz", "head.safetensors"):
        theirs = command("info", tmp_path / name)["files"][0]
        ours = wt.info(tmp_path / name)
        same(ours, theirs, {"arrays"})
        assert ours.arrays.records() == theirs["arrays"]
        assert theirs["format"] in repr(ours)
    (tmp_path / "bad.npz").write_text("no file")
    with pytest.raises(wt.DataError, match="bad.npz"):
        wt.info(tmp_path / "bad.npz")
