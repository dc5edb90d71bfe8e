"""An attention layer from its examples, as one would write it in PyTorch: W by least squares, damped Gauss-Newton steps
in Theta (or its factors) by conjugate gradients, products with the derivative by forward and reverse differentiation.

usage: recover_torch.py DATA.npz --heads M [--rank R] [--bias] [--limit SECONDS] [--device cuda|cpu]

DATA has x (n, k, d) and y (n, k, p). Prints a JSON object: steps, products, the error on the last 5% of the sequences,
and seconds, all of it in float64 and without reading the file.
"""
import argparse
import json
import time

import numpy
import torch

words = argparse.ArgumentParser()
words.add_argument("data")
words.add_argument("--heads", type=int, required=True)
words.add_argument("--rank", type=int, default=0)
words.add_argument("--bias", action="store_true")
words.add_argument("--limit", type=float, default=180)
words.add_argument("--device", default="cuda")
words = words.parse_args()
device, heads, rank = torch.device(words.device), words.heads, words.rank
with numpy.load(words.data) as file:
    x, y = (torch.tensor(file[name], dtype=torch.float64, device=device) for name in ("x", "y"))
began, products = time.perf_counter(), 0
torch.manual_seed(0)
held = max(1, len(x) // 20)
sketch = torch.linalg.qr(torch.randn(y.shape[2], min(96, y.shape[2]), dtype=x.dtype, device=device))[0]


def attended(unknowns, tokens):
    """H (rows, columns) of all heads, and a one for the bias."""
    asked = torch.cat([tokens, torch.ones_like(tokens[..., :1])], -1) if words.bias else tokens
    e, d = asked.shape[-1], tokens.shape[-1]
    if rank:
        a, b = unknowns[: heads * e * rank].view(heads, e, rank), unknowns[heads * e * rank:].view(heads, d, rank)
        scores = torch.einsum("nqe,mer,ndk,mkr->nmqd", asked, a, tokens, b)
    else:
        scores = torch.einsum("nqe,mek,ndk->nmqd", asked, unknowns.view(heads, e, d), tokens)
    h = torch.einsum("nmqd,ndk->nqmk", scores.softmax(-1), tokens).flatten(2).flatten(0, 1)
    return torch.cat([h, torch.ones_like(h[:, :1])], 1) if words.bias else h


def fitted(h, outputs):
    """W and what it leaves, with the factor of H^T H."""
    factor = torch.linalg.cholesky(h.T @ h)
    w = torch.cholesky_solve(h.T @ outputs, factor)
    left = outputs - h @ w
    w = w + torch.cholesky_solve(h.T @ left, factor)
    return w, outputs - h @ w, factor


def step_from(unknowns, h, w, left, factor, damping, tolerance, tokens):
    """Conjugate gradients on J^T P J + damping s I, W held fast."""
    def outputs(at):
        return attended(at, tokens) @ w

    def normal(v):
        global products
        products += 1
        moved = torch.func.jvp(outputs, (unknowns,), (v,))[1]
        return pull(moved - h @ torch.cholesky_solve(h.T @ moved, factor))[0]

    pull = torch.func.vjp(outputs, unknowns)[1]
    gradient = pull(left)[0]
    signs = torch.randn_like(unknowns).sign()
    shift = damping * (signs @ normal(signs)) / len(signs)
    step, residual, direction = torch.zeros_like(gradient), gradient.clone(), gradient.clone()
    square = residual @ residual
    wanted = tolerance ** 2 * square
    for _ in range(600):
        if square <= wanted:
            break
        product = normal(direction) + shift * direction
        length = square / (direction @ product)
        step, residual = step + length * direction, residual - length * product
        square, before = residual @ residual, square
        direction = residual + square / before * direction
    return step


x_fit, x_held = x[:-held], x[-held:]
y_fit, y_held = y[:-held].flatten(0, 1), y[-held:].flatten(0, 1)
target = y_fit @ sketch if not rank else y_fit
width = x.shape[2]
count = heads * (2 * width + words.bias) * rank if rank else heads * width * (width + words.bias)
spread = (1 / width / rank ** 0.5) ** 0.5 if rank else 0.1 / width
unknowns = spread * torch.randn(count, dtype=x.dtype, device=device) / (1 if rank else x.square().mean())
h = attended(unknowns, x_fit)
w, left, factor = fitted(h, target)
error, damping, steps = left.norm() / target.norm(), 1e-2, 0
while error > 1e-12 and steps < 200 and time.perf_counter() - began < words.limit:
    tolerance = max(1e-4, 0.5 * min(0.4 if rank else 0.1, float(error)))
    trial = unknowns + step_from(unknowns, h, w, left, factor, damping, tolerance, x_fit)
    h_trial = attended(trial, x_fit)
    found = fitted(h_trial, target)
    lower = found[1].norm() / target.norm()
    if lower < error:
        stalled = lower > (1 - 1e-9) * error
        unknowns, h, (w, left, factor), error, damping = trial, h_trial, found, lower, damping / 5
        steps += 1
        if stalled:
            break
    elif error < 1e-11 or damping > 1e6:
        break
    else:
        damping *= 4
w = fitted(attended(unknowns, x_fit), y_fit)[0]
apart = (attended(unknowns, x_held) @ w - y_held).norm() / y_held.norm()
if device.type == "cuda":
    torch.cuda.synchronize()
print(json.dumps({"steps": steps, "products": products, "holdout_error": float(apart),
                  "seconds": time.perf_counter() - began}, indent=1))
