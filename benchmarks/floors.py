"""The floors: forward and backward written by hand in numpy, as fast as we know how.

Each takes parameters and constants and returns a function that computes the loss and returns all gradients. They write
in place, keep only the arrays that backward needs, hoist loop-invariant work out of loops, and call ufuncs where array
methods would only wrap them. Arrays are allocated anew in each run, as in an engine: reusing them between runs was
measured and is not faster.

NB: they do not process large arrays in blocks that fit the caches. On 1e6 floats that gains another 13 %, but it is a
compiler's work (loop fusion) and not a faster way to write the same program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

Array = npt.NDArray[Any]
Run = Callable[[], Sequence[Array]]

total = np.add.reduce  # np.sum ends up calling it
largest = np.maximum.reduce


def chain(parameters: Sequence[Array], constants: Sequence[Any]) -> Run:
    """`y · a + b`, repeated: backward needs every y that was multiplied."""
    x, a, b = parameters
    steps = range(constants[0] // 2)
    ones = np.ones(x.shape, x.dtype)

    def run() -> Sequence[Array]:
        y, kept = x, []
        for _ in steps:
            kept.append(y)
            y = y * a
            y += b
        total(y, None)
        g = ones
        grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
        for y in reversed(kept):
            grad_b += g
            grad_a += g * y
            g = g * a
        return g, grad_a, grad_b

    return run


def _logits_gradient(z: Array, target: Array, rows: Array) -> tuple[Any, Array]:
    """The mean cross-entropy of logits `z` (n, classes), and its gradient, which is written into `z`."""
    z -= largest(z.T.copy(), 0)[:, None]  # reducing along short rows takes several times as long
    picked = total(z[rows, target])
    np.exp(z, out=z)
    sums = total(z.T.copy(), 0)[:, None]
    loss = (total(np.log(sums), None) - picked) / len(rows)
    z /= sums
    z[rows, target] -= 1
    z /= len(rows)
    return loss, z


def mlp(parameters: Sequence[Array], constants: Sequence[Any]) -> Run:
    """Linear layers with relu between them, softmax cross-entropy."""
    x, target = constants
    layers = list(zip(parameters[::2], parameters[1::2], strict=True))
    rows = np.arange(len(target))

    def run() -> Sequence[Array]:
        h, inputs = x, []
        for i, (w, b) in enumerate(layers):
            inputs.append(h)
            h = h @ w
            h += b
            if i < len(layers) - 1:
                h.clip(0, np.inf, out=h)  # np.maximum takes three times as long
        _, g = _logits_gradient(h, target, rows)
        gradients = []
        for (w, _), h in zip(reversed(layers), reversed(inputs), strict=True):
            gradients += [total(g, 0), h.T @ g]
            if h is not x:
                g = g @ w.T
                g *= (h > 0).astype(g.dtype)
        return gradients[::-1]

    return run


def penalty(parameters: Sequence[Array], constants: Sequence[Any]) -> Run:
    """The Hessian times 2 g, with g the gradient: the tangent of the MLP's gradient in the direction 2 g."""
    w1, b1, w2, b2 = parameters
    x, target = constants
    rows = np.arange(len(target))

    def run() -> Sequence[Array]:
        h = x @ w1
        h += b1
        active = (h > 0).astype(h.dtype)
        h *= active
        z = h @ w2
        z += b2
        _, g = _logits_gradient(z, target, rows)
        g_w2, g_b2 = h.T @ g, total(g, 0)
        g_h = g @ w2.T
        g_h *= active
        g_w1, g_b1 = x.T @ g_h, total(g_h, 0)
        np.vdot(g_w1, g_w1) + np.vdot(g_b1, g_b1) + np.vdot(g_w2, g_w2) + np.vdot(g_b2, g_b2)
        for one in (g_w1, g_b1, g_w2, g_b2):
            one += one
        t_h = x @ g_w1  # t_: tangents
        t_h += g_b1
        t_h *= active
        t_g = t_h @ w2
        t_g += h @ g_w2
        t_g += g_b2
        p = g * len(rows)  # the softmax, recovered from its gradient
        p[rows, target] += 1
        t_g -= total((p * t_g).T.copy(), 0)[:, None]
        t_g *= p
        t_g /= len(rows)
        t_w2 = h.T @ t_g
        t_w2 += t_h.T @ g
        t_gh = t_g @ w2.T
        t_gh += g @ g_w2.T
        t_gh *= active
        return x.T @ t_gh, total(t_gh, 0), t_w2, total(t_g, 0)

    return run


def rnn(parameters: Sequence[Array], constants: Sequence[Any]) -> Run:
    """Work that is independent of the previous step is done for all steps at once: x W, the gradients of W, U and b."""
    w, u, b, first = parameters
    *inputs, weights = constants
    x = np.concatenate(inputs)
    n, hidden = first.shape
    steps = len(inputs)

    def run() -> Sequence[Array]:
        z = (x @ w).reshape(steps, n, hidden)
        z += b
        states = np.empty((steps + 1, n, hidden), first.dtype)
        states[0] = h = first
        for now, into in zip(z, states[1:], strict=True):
            now += h @ u
            h = np.tanh(now, out=into)
        np.vdot(h, weights)
        derivatives = np.multiply(states[1:], states[1:], out=z)  # z is no longer needed
        np.subtract(1, derivatives, out=derivatives)
        g, back = weights, np.ascontiguousarray(u.T)
        for derivative in derivatives[::-1]:
            derivative *= g  # they become the gradients of z
            g = derivative @ back
        gz = derivatives.reshape(-1, hidden)
        return x.T @ gz, states[:-1].reshape(-1, hidden).T @ gz, total(gz, 0), g

    return run


def elementwise(parameters: Sequence[Array], constants: Sequence[Any]) -> Run:
    """Each round of five operations keeps two arrays for backward."""
    x, a, b = parameters
    (c,) = constants

    def run() -> Sequence[Array]:
        y, kept = x, []
        for _ in range(4):
            z = y * a
            z += b
            np.tanh(z, out=z)
            kept.append((y, z))
            y = z * z
            y -= c
        total(y)
        scratch = np.empty_like(x)
        y, z = kept.pop()
        g = through(z + z, z, scratch)
        grad_b, grad_a = g.copy(), g * y
        g *= a
        while kept:
            y, z = kept.pop()
            g *= z
            g += g
            g = through(g, z, scratch)
            grad_b += g
            grad_a += np.multiply(g, y, out=scratch)
            g *= a
        return g, grad_a, grad_b

    def through(g: Array, z: Array, scratch: Array) -> Array:
        np.multiply(z, z, out=scratch)
        np.subtract(1, scratch, out=scratch)
        g *= scratch
        return g

    return run


def conv2d(parameters: Sequence[Array], constants: Sequence[Any]) -> Run:
    """im2col: the windows of each image are the columns of a matrix, which is multiplied by the filters."""
    x, w, b = parameters
    (g,) = constants
    images, channels, height, width = x.shape
    filters, _, kh, kw = w.shape
    oh, ow = height - kh + 1, width - kw + 1
    rows, flat_g = w.reshape(filters, -1), g.reshape(images, filters, oh * ow)

    def run() -> Sequence[Array]:
        windows = sliding_window_view(x, (kh, kw), (2, 3)).transpose(0, 1, 4, 5, 2, 3)
        columns = windows.reshape(images, -1, oh * ow)
        y = rows @ columns
        y += b[:, None]
        np.vdot(y, flat_g)
        grad_w = total(flat_g @ columns.transpose(0, 2, 1), 0).reshape(w.shape)
        spread = np.matmul(rows.T, flat_g, out=columns).reshape(images, channels, kh, kw, oh, ow)
        grad_x = np.zeros_like(x)
        for i in range(kh):
            for j in range(kw):
                grad_x[:, :, i : i + oh, j : j + ow] += spread[:, :, i, j]
        return grad_x, grad_w, total(flat_g, (0, 2))

    return run


def gathers(parameters: Sequence[Array], indices: Sequence[Any]) -> Run:
    """All gathers as one; its gradient is added to one table two floats at a time, as complex numbers."""
    (table,) = parameters
    half = table.shape[1] // 2
    pairs = half // 2
    left, right = np.arange(pairs), np.arange(pairs, half)

    def run() -> Sequence[Array]:
        index = np.concatenate(indices)
        rows = table.take(index, 0)  # a fourth of the time of table[index]
        x, y = rows[::2, :half], rows[1::2, half:]
        total(x * y, None)
        grad = np.zeros_like(table)
        flat, starts = grad.reshape(-1).view(np.complex64), (index * half)[:, None]
        np.add.at(flat, (starts[::2] + left).reshape(-1), np.ascontiguousarray(y).view(np.complex64).reshape(-1))
        np.add.at(flat, (starts[1::2] + right).reshape(-1), np.ascontiguousarray(x).view(np.complex64).reshape(-1))
        return (grad,)

    return run
