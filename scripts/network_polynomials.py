#!/usr/bin/env python3
"""The constants of src/network/model/network_lanes.h, and the errors they leave.

exp(r) on |r| <= log(2)/2, and Q(t) with P(X <= -a) = exp(-a^2/2) Q(1 / (1 + 0.3 a)) on 0 <= a <= 14,
X normal: least squares on Chebyshev points with relative weights, rounded to float. Needs NumPy.
"""
import math

import numpy as np

SLOPE = 0.3


def mills(t):
    z = (1 / t - 1) / SLOPE / math.sqrt(2)
    return 0.5 * math.erfc(z) * math.exp(z * z)


def fit(name, f, low, high, degree):
    k = np.arange(4000)
    x = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (2 * k + 1) / 8000)
    y = np.array([f(v) for v in x])
    series = np.polynomial.chebyshev.Chebyshev.fit(x, y, degree, domain=[low, high], w=1 / y)
    rounded = series.convert(kind=np.polynomial.Polynomial).coef.astype(np.float32)[::-1]
    error = np.abs(np.polyval(rounded.astype(float), x) / y - 1).max()
    print(f"{name}: relative error {error:.1e}")
    for c in rounded:
        print(f"    {c:.9g}f")


fit("exp", math.exp, -math.log(2) / 2 * 1.001, math.log(2) / 2 * 1.001, 6)
fit("Q", mills, 1 / (1 + SLOPE * 14), 1.0, 8)
