"""A two-layer network with its backward pass written out, checked against autograd after every step."""

import math

import torch

torch.manual_seed(5)

n, d_in, d_hidden = 64, 2, 16
X = torch.rand(n, d_in) * 2 - 1
y = ((X[:, 0] * X[:, 1]) > 0).float().unsqueeze(1)

W1 = torch.randn(d_in, d_hidden) * math.sqrt(2 / d_in)
b1 = torch.zeros(d_hidden)
W2 = torch.randn(d_hidden, 1) * math.sqrt(2 / d_hidden)
b2 = torch.zeros(1)
params = [W1, b1, W2, b2]
for p in params:
    p.requires_grad_(True)


def relu(x):
    return torch.max(x, torch.zeros_like(x))


def forward(X):
    z1 = X @ W1 + b1
    a1 = relu(z1)
    z2 = a1 @ W2 + b2
    return z1, a1, torch.sigmoid(z2)


def manual_backward(X, y, z1, a1, out):
    dz2 = (out - y) / len(y)
    dW2 = a1.T @ dz2
    db2 = dz2.sum(dim=0)
    da1 = dz2 @ W2.T
    dz1 = da1 * (z1 > 0)
    dW1 = X.T @ dz1
    db1 = dz1.sum(0)
    return dW1, db1, dW2, db2


def cmp(name, dt, t):
    approximate = torch.allclose(dt, t.grad, atol=1e-6)
    maxdiff = (dt - t.grad).abs().max().item()
    print(f"{name:3s} | shape {tuple(dt.shape)!s:8} | approximate: {approximate!s:5s} | small: {maxdiff < 1e-6}")


for step in range(60):
    z1, a1, out = forward(X)
    loss = -(y * out.log() + (1 - y) * (1 - out).log()).mean()
    for p in params:
        p.grad = None
    loss.backward()
    with torch.no_grad():
        grads = manual_backward(X, y, z1, a1, out)
    if step == 0:
        for name, dt, t in zip(["W1", "b1", "W2", "b2"], grads, params):
            cmp(name, dt, t)
    for p in params:
        p.data -= 0.5 * p.grad
    if step % 20 == 0:
        print(step, round(loss.item(), 4))

with torch.no_grad():
    accuracy = ((forward(X)[2] > 0.5) == y.bool()).float().mean()
print(f"accuracy {accuracy.item():.2%}, largest weight {max(p.abs().max() for p in params):.3f}")
