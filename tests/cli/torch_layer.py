"""Loads a state of torch.nn.MultiheadAttention and compares its outputs with those of a file."""
import json
import struct
import sys

import numpy
import torch

with open(sys.argv[1], "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(size))
    data = file.read()
heads = int(header.pop("__metadata__")["num_attention_heads"])
state = {}
for name, array in header.items():
    begin, end = array["data_offsets"]
    values = numpy.frombuffer(data[begin:end], dtype="<f8").reshape(array["shape"])
    state[name] = torch.tensor(values)
sequences = numpy.load(sys.argv[2])
x, y = torch.tensor(sequences["x"]), torch.tensor(sequences["y"])
# rounding of a few dozen products in either type
for type, most in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
    layer = torch.nn.MultiheadAttention(x.shape[2], heads, batch_first=True, dtype=type)
    layer.load_state_dict(state)
    found = layer(*[x.to(type)] * 3, need_weights=False)[0].detach().double()
    error = float((found - y).norm() / y.norm())
    print(f"torch: {heads} heads in {type}: {error:.1e}")
    if not error < most:
        sys.exit(f"torch: outputs are apart by {error}, more than {most}")
