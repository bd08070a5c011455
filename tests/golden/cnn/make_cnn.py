#!/usr/bin/python3
"""make_cnn.py: ten training steps of a small `cnn` in PyTorch, for tests/unit/test_golden_cnn.

usage: make_cnn.py      writes the arrays beside this script

The model of bench/configs/cnn.yaml with 8x8 images and an eighth of the channels. Arrays: inputs
(40,8,8,1), targets (40), weights and first gradients (all params one after the other, in the order and
layout of mptrain), losses (10), running statistics after ten steps. Made with Debian's python3-torch
1.13; FP32, one thread.
"""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(1)
torch.set_num_threads(1)


def block(i, o):
    return [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU()]


net = nn.Sequential(*block(1, 4), *block(4, 4), nn.MaxPool2d(2), *block(4, 8), *block(8, 8),
                    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10))
CHANNELS_AFTER, SIDE_AFTER = 8, 2  # what the first linear layer reads


def ours(name, p):
    """In the layout of mptrain."""
    p = p.detach().clone()
    if p.ndim == 4:
        return p.permute(2, 3, 1, 0)
    if p.ndim == 2 and p.shape[1] == CHANNELS_AFTER * SIDE_AFTER ** 2:
        return p.view(-1, CHANNELS_AFTER, SIDE_AFTER, SIDE_AFTER).permute(0, 2, 3, 1)
    return p


def flat(tensors):
    return np.concatenate([t.contiguous().numpy().astype(np.float32).ravel() for t in tensors])


def save(name, x):
    np.save(f"{HERE}/{name}.npy", x)


inputs = torch.randn(40, 1, 8, 8)
targets = torch.randint(0, 10, (40,))
save("inputs", inputs.permute(0, 2, 3, 1).contiguous().numpy())
save("targets", targets.numpy())
save("weights", flat(ours(n, p) for n, p in net.named_parameters()))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.01)
losses = []
for step in range(10):
    x, y = inputs[4 * step:4 * step + 4], targets[4 * step:4 * step + 4]
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    if step == 0:
        save("gradients", flat(ours(n, p.grad) for n, p in net.named_parameters()))
    optimizer.step()
    losses.append(loss.item())
save("losses", np.array(losses, dtype=np.float32))
save("statistics", flat(b for n, b in net.named_buffers() if "running" in n))
