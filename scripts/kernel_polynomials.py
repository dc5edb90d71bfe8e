#!/usr/bin/env python3
"""The constants of src/features/model/kernel_rows.c and src/linalg/normal_law.c, from exact series.

G(s) = sqrt(1-s) + sqrt(s) asin sqrt(s) = 1 + sum_n C(2n,n) / (4^n (2n+1) (2n+2)) s^(n+1)
H(u) = (sqrt(u) - sqrt(1-u) asin sqrt(u)) / u^(3/2) = sum_n 4^n n!^2 / ((2n+1)! (2n+3)) u^n

Each is cut to a polynomial on [0, top] by interpolation at Chebyshev points, which is within a
small factor of the best one; everything is done with 60 digits and rounded once at the end.
Prints the coefficients, highest power first, and the largest error found on a grid; then the nodes and
weights of the Gauss-Legendre rule with 20 points on [-1, 1], its positive half.
"""
from decimal import Decimal as D, getcontext

getcontext().prec = 60
TERMS = 400


def pi():
    """Machin: pi = 16 atan(1/5) - 4 atan(1/239)."""

    def atan_inverse(x):
        total, power, n = D(0), D(1) / x, 0
        while abs(power) > D(10) ** -58:
            total += power / (2 * n + 1) * (-1) ** n
            power /= x * x
            n += 1
        return total

    return 16 * atan_inverse(D(5)) - 4 * atan_inverse(D(239))


def cosine(x):
    total, term, n = D(0), D(1), 0
    while abs(term) > D(10) ** -58 or n < 4:
        total += term
        n += 1
        term *= -x * x / ((2 * n - 1) * (2 * n))
    return total


def series_g():
    coefficients, ratio = [D(1)], D(1)
    for n in range(TERMS):
        coefficients.append(ratio / ((2 * n + 1) * (2 * n + 2)))
        ratio *= D(2 * n + 1) / D(2 * n + 2)
    return coefficients


def series_h():
    coefficients, ratio = [], D(1)
    for n in range(TERMS):
        coefficients.append(ratio / (2 * n + 3))
        ratio *= D(2 * n + 2) / D(2 * n + 3)
    return coefficients


def value(coefficients, x):
    total = D(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def interpolate(series, top, degree):
    """Newton's form through the Chebyshev points of [0, top], multiplied out."""
    count = degree + 1
    points = [top / 2 * (1 + cosine(pi() * (2 * k + 1) / (2 * count))) for k in range(count)]
    table = [value(series, x) for x in points]
    for level in range(1, count):
        for k in range(count - 1, level - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (points[k] - points[k - level])
    result = [D(0)] * count
    for k in range(count - 1, -1, -1):
        result = [(result[j - 1] if j > 0 else D(0)) - points[k] * result[j] for j in range(count)]
        result[0] += table[k]
    return result


def show(name, series, top, degree):
    rounded = [float(c) for c in interpolate(series, top, degree)]
    grid = [top * k / 500 for k in range(501)]
    error = max(abs(value([D(c) for c in rounded], x) - value(series, x)) for x in grid)
    print(f"{name} on [0, {top}], degree {degree}, error {error:.1e}")
    for c in reversed(rounded):
        print(f"    {c:.17g}")


def legendre(points):
    print(f"Gauss-Legendre, {points} points: node, weight")
    for k in range(points // 2):
        x = cosine(pi() * (D(k) + D("0.75")) / (points + D("0.5")))
        for _ in range(10):
            before, here = D(1), x
            for n in range(2, points + 1):
                before, here = here, ((2 * n - 1) * x * here - (n - 1) * before) / n
            slope = points * (x * here - before) / (x * x - 1)
            x -= here / slope
        print(f"    {float(x):.17g}, {float(2 / ((1 - x * x) * slope * slope)):.17g}")


if __name__ == "__main__":
    show("G", series_g(), D("0.25"), 10)
    show("G", series_g(), D("0.5"), 15)
    show("H", series_h(), D("0.5"), 17)
    legendre(20)
