#!/usr/bin/python3
"""Prints the polynomial coefficients of src/kern/kern_vec_body.h (needs NumPy; not part of a build).

Each is a weighted least-squares fit on Chebyshev nodes, the weights moved towards the largest errors
(Lawson's iteration) until it is close to the best possible; coefficients are rounded to FP32 one by
one, lowest power first, and the rest fitted again. tests/kern/test_vec.c checks what comes out.
"""
from math import atanh, erfc, exp, expm1, log1p, pi, sqrt, tanh

import numpy as np


def fit(f, weight, low, high, degree, fixed=()):
    """Coefficients, lowest power first; error times weight is made small on [low, high]."""
    n = 2000
    x = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(n) + 0.5) / n)
    want = np.array([f(t) for t in x])
    w = np.array([weight(t) for t in x])
    done = list(fixed)
    while len(done) <= degree:
        rest = want - sum(c * x**i for i, c in enumerate(done))
        basis = np.stack([x**i for i in range(len(done), degree + 1)], 1)
        lawson = np.ones(n)
        for _ in range(60):
            scale = w * np.sqrt(lawson)
            c = np.linalg.lstsq(basis * scale[:, None], rest * scale, rcond=None)[0]
            error = np.abs((basis @ c - rest) * w)
            lawson *= error + 1e-30
            lawson /= lawson.mean()
        done.append(float(np.float32(c[0])))
    worst = np.abs((sum(c * x**i for i, c in enumerate(done)) - want) * w).max()
    return done, worst


def show(name, coefficients, worst):
    print(f"{name}: worst error {worst:.2e} (2^{np.log2(worst):.1f})")
    print("    " + ", ".join(f"{c.hex()}f" for c in coefficients))


def exp_rest(r):
    """(exp(r) - 1 - r) / r^2"""
    if abs(r) > 0.02:
        return (expm1(r) - r) / (r * r)
    return 0.5 + r / 6 + r * r / 24 + r**3 / 120 + r**4 / 720 + r**5 / 5040


def log_rest(f):
    """(log(1+f) - f + f^2/2) / f^3"""
    if abs(f) > 0.02:
        return (log1p(f) - f + f * f / 2) / f**3
    return sum((-1) ** k * f**k / (k + 3) for k in range(10))


def tanh_rest(z):
    """(tanh(x)/x - 1) / x^2 with z = x^2"""
    x = sqrt(z)
    if x > 0.05:
        return (tanh(x) / x - 1) / z
    return -1 / 3 + 2 * z / 15 - 17 * z**2 / 315 + 62 * z**3 / 2835


K = 2.5


def tail(u):
    """Phi(-a) exp(a^2/2) (a + K), with u = (a - K) / (a + K); Phi is the normal distribution."""
    if u > 0.99999:
        return 1 / sqrt(2 * pi)
    a = K * (1 + u) / (1 - u)
    if a > 25:  # the asymptotic series
        z = 1 / (a * a)
        return (a + K) / (a * sqrt(2 * pi)) * (1 - z * (1 - 3 * z * (1 - 5 * z)))
    return 0.5 * erfc(a / sqrt(2)) * exp(a * a / 2) * (a + K)


def main():
    h = 0.34657359 + 0.03
    show("exp", *fit(exp_rest, lambda r: r * r / exp(r), -h, h, 4))
    show("log", *fit(log_rest, lambda f: f * f, sqrt(0.5) - 1, sqrt(2) - 1, 8))
    show("tanh", *fit(tanh_rest, lambda z: z, 0.0, 0.625**2, 4))
    top = (14.6 - K) / (14.6 + K)
    for degree in (8, 9, 10, 11):
        show(f"tail, degree {degree}", *fit(tail, lambda u: 1 / tail(u), -1.0, top, degree))


main()
