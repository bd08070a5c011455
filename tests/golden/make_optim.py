#!/usr/bin/env python3
"""Writes optim.txt: weights after UPDATES updates by the formulas of torch.optim, in FP64.

tests/unit/test_optim.c makes the same start weights and gradients (all exact in FP32) and compares.
One line a case: optimizer, its keys, lr, weight decay, the weights; tabs between.
Run:  python3 tests/golden/make_optim.py > tests/golden/optim.txt
"""
import math

N, UPDATES = 19, 10


def weight(i):
    return (i - 9) / 4


def gradient(i, k):
    return ((i * 37 + k * 11) % 23 - 11) / 8 if i else 0.0


def sgd(w, g, s, k, lr, wd, momentum=0.0, nesterov=False):
    d = g + wd * w
    if momentum:
        s["v"] = momentum * s["v"] + d if k > 1 else d
        d = d + momentum * s["v"] if nesterov else s["v"]
    return w - lr * d


def adam(w, g, s, k, lr, wd, betas=(0.9, 0.999), eps=1e-8, decoupled=False):
    if decoupled:
        w -= lr * wd * w
    else:
        g = g + wd * w
    s["m"] = s.get("m", 0.0) + (g - s.get("m", 0.0)) * (1 - betas[0])
    s["s"] = s.get("s", 0.0) * betas[1] + (1 - betas[1]) * g * g
    c1, c2 = 1 - betas[0] ** k, 1 - betas[1] ** k
    return w - lr / c1 * s["m"] / (math.sqrt(s["s"]) / math.sqrt(c2) + eps)


def adamw(w, g, s, k, lr, wd, **keys):
    return adam(w, g, s, k, lr, wd, decoupled=True, **keys)


CASES = [
    (sgd, {}, 0.125, 0.0),
    (sgd, {}, 0.1, 0.01),
    (sgd, {"momentum": 0.9}, 0.1, 0.0),
    (sgd, {"momentum": 0.9}, 0.05, 0.1),
    (sgd, {"momentum": 0.8, "nesterov": True}, 0.1, 0.01),
    (adam, {}, 0.01, 0.0),
    (adam, {"betas": [0.8, 0.99], "eps": 1e-3}, 0.1, 0.1),
    (adamw, {}, 0.01, 0.01),
    (adamw, {"betas": [0.95, 0.9]}, 0.02, 0.3),
]


def yaml(keys):
    return "{" + ", ".join(f"{k}: {str(v).lower()}" for k, v in keys.items()) + "}"


for rule, keys, lr, wd in CASES:
    out = []
    for i in range(N):
        w, state = weight(i), {}
        for k in range(1, UPDATES + 1):
            w = rule(w, gradient(i, k), state, k, lr, wd, **keys)
        out.append(repr(w))
    print(rule.__name__, yaml(keys), lr, wd, *out, sep="\t")
