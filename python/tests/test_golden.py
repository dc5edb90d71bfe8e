"""The golden values of the C tests, through the package."""
import json
import struct

import numpy as np
import pytest
from conftest import ROOT

import wattle as wt

GOLDEN = np.load(ROOT / "tests" / "golden" / "random_features.npz")


@pytest.mark.parametrize("model,bias,name,n,tolerance", [
    ("rfa-inf", 4, "k_rfa", 12, 1e-12), ("rfmlp-inf", 4, "k_rfmlp", 12, 1e-12),
    ("brfa-inf", 1, "k_brfa1", 4, 1e-8), ("brfa-inf", 4, "k_brfa4", 4, 1e-8)])  # brfa: as the values were made
def test_kernels(model, bias, name, n, tolerance):
    query, keys, y = GOLDEN["query"][:n], GOLDEN["keys"][:n], GOLDEN["y"][:n]
    kernel, penalty = GOLDEN[name], float(GOLDEN["lam"])
    wanted = kernel @ np.linalg.solve(kernel + penalty * np.eye(n), y)
    found = wt.fit((query, keys, y), model=model, bias=bias, penalty=penalty).predict(query, keys)
    # the system multiplies errors of the kernel by at most |y| / penalty
    assert np.abs(found - wanted).max() <= tolerance * np.abs(y).max() / penalty


def replace(path, arrays):
    """Puts arrays in the place of those of a .safetensors file, in its types."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    body = bytearray(content[8 + length:])
    for name, array in arrays.items():
        begin, end = header[name]["data_offsets"]
        assert header[name]["shape"] == list(array.shape)
        body[begin:end] = array.astype({"F64": "<f8", "F32": "<f4"}[header[name]["dtype"]]).tobytes()
    path.write_bytes(content[:8 + length] + bytes(body))


def with_weights(path, w, v, **setting):
    """A model with the golden weights."""
    data = (GOLDEN["query"], GOLDEN["keys"], GOLDEN["y"])
    wt.fit(data, model="rfa", heads=7, **setting).save(path)
    replace(path, dict(W=w, v=v))
    return wt.load(path)


def test_transformer(tmp_path):
    golden, path = np.load(ROOT / "tests" / "golden" / "transformer.npz"), tmp_path / "network.safetensors"
    with pytest.warns(wt.MissedWarning):
        wt.train("and:2", length=12, dim=8, heads=2, samples=20, steps=1, validation_samples=10).save(path)
    names = [name for name in golden.files if name not in ("bits", "labels", "logits", "loss", "attention")]
    replace(path, {name: golden[name] for name in names if not name.startswith("grad_")})
    network = wt.Network.load(path)
    logits = golden["logits"]
    wanted = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
    # the network computes in float32, whose rounding the few layers multiply by less than ten
    assert np.allclose(network.probabilities(golden["bits"]), wanted, rtol=0, atol=1e-6)
    assert np.allclose(network.attention_weights(golden["bits"]), golden["attention"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("activation,masked", [("relu", False), ("relu", True), ("softmax", False), ("softmax", True)])
def test_features(tmp_path, activation, masked):
    model = with_weights(tmp_path / "m.safetensors", GOLDEN["W"], GOLDEN["v_relu"], activation=activation)
    phi = GOLDEN[f"phi_{activation}" + ("_mask" if masked else "")]
    wanted = np.einsum("nms,msq->nq", phi, GOLDEN["v_relu"])
    found = model.predict(GOLDEN["query"], GOLDEN["keys"], GOLDEN["mask"] if masked else None)
    assert np.allclose(found, wanted, rtol=0, atol=1e-13 * np.abs(phi).sum())  # sums of a few hundred products
