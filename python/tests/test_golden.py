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


def with_weights(path, w, v, **setting):
    """A model file with the golden weights: one that was saved, its arrays replaced."""
    data = (GOLDEN["query"], GOLDEN["keys"], GOLDEN["y"])
    wt.fit(data, model="rfa", heads=7, **setting).save(path)
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    body = bytearray(content[8 + length:])
    for name, array in (("W", w), ("v", v)):
        begin, end = header[name]["data_offsets"]
        assert header[name]["shape"] == list(array.shape)
        body[begin:end] = np.ascontiguousarray(array).tobytes()
    path.write_bytes(content[:8 + length] + bytes(body))
    return wt.load(path)


@pytest.mark.parametrize("activation,masked", [("relu", False), ("relu", True), ("softmax", False), ("softmax", True)])
def test_features(tmp_path, activation, masked):
    model = with_weights(tmp_path / "m.safetensors", GOLDEN["W"], GOLDEN["v_relu"], activation=activation)
    phi = GOLDEN[f"phi_{activation}" + ("_mask" if masked else "")]
    wanted = np.einsum("nms,msq->nq", phi, GOLDEN["v_relu"])
    found = model.predict(GOLDEN["query"], GOLDEN["keys"], GOLDEN["mask"] if masked else None)
    assert np.allclose(found, wanted, rtol=0, atol=1e-13 * np.abs(phi).sum())  # sums of a few hundred products
