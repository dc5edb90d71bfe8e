"""One repetition of the learning curve of `wattle bench device`, as one would write it in PyTorch: random-feature
attention fitted by ridge on the first n samples, for a grid of n, and judged on fresh ones.

usage: curve_torch.py [cuda|cpu] [float64|float32] [largest n]

Prints a JSON object: the median of five repetitions after a warm-up, in seconds, and the test errors. In float32
torch's Cholesky may fail for want of precision; the sentence is printed then.
"""
import json
import statistics
import sys
import time

import torch

device = torch.device(sys.argv[1] if len(sys.argv) > 1 else "cuda")
dtype = getattr(torch, sys.argv[2] if len(sys.argv) > 2 else "float64")
largest = int(sys.argv[3]) if len(sys.argv) > 3 else 4096
DIM, KEYS, HEADS, TEST, RIDGE = 16, 16, 1000, 1000, 1e-3


def wait():
    if device.type == "cuda":
        torch.cuda.synchronize()


def sphere(*shape):
    tokens = torch.randn(*shape, dtype=dtype, device=device)
    return tokens / tokens.norm(dim=-1, keepdim=True)


def with_one(tokens):
    return torch.cat([tokens, torch.ones_like(tokens[..., :1])], dim=-1)


def repetition(seed):
    torch.manual_seed(seed)
    samples = largest + TEST
    query, keys, direction = sphere(samples, DIM), sphere(samples, KEYS, DIM), sphere(DIM)
    labels = (keys @ direction).square().mean(dim=1)
    weights = torch.randn(HEADS, DIM + 1, DIM + 1, dtype=dtype, device=device) / 2
    query, keys = with_one(query), with_one(keys)
    asked = torch.einsum("sa,mab->smb", query, weights)
    scores = torch.relu(torch.einsum("smb,snb->smn", asked, keys))
    features = torch.einsum("smn,snb->smb", scores, keys).reshape(samples, -1) / KEYS
    train, test = features[:largest], features[largest:]
    kernel = train @ train.T / HEADS
    errors, n = [], 16
    while n <= largest:
        factor = torch.linalg.cholesky(kernel[:n, :n] + RIDGE * torch.eye(n, dtype=dtype, device=device))
        dual = torch.cholesky_solve(labels[:n, None], factor)
        predicted = test @ (train[:n].T @ dual)[:, 0] / HEADS
        errors.append((predicted - labels[largest:]).square().mean() / labels[largest:].var(correction=0))
        n *= 2
    return torch.stack(errors).tolist()


try:
    errors, seconds = repetition(0), []
    for seed in range(1, 6):
        wait()
        began = time.perf_counter()
        errors = repetition(seed)
        wait()
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": statistics.median(seconds), "test_error": errors[-1]}))
except torch.linalg.LinAlgError as failure:
    print(json.dumps({"failed": str(failure).splitlines()[0]}))
