"""Programs that write in place, with their recordings."""

import contextlib

import microtape as mt
from microtape.errors import AutogradError


class AddOne(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Clip(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        mask = (x > low) & (x < high)
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        return x.clamp(low, high), mask

    @staticmethod
    def backward(ctx, g, _):
        (mask,) = ctx.saved_tensors
        return g * mask, None, None


def missed():
    """`x += 1` overwrites what sin has saved; then backward fails."""
    with mt.record() as recorder:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        x = w * 2
        y = x.sin()
        x += 1
        with contextlib.suppress(AutogradError):
            (x + y).sum().backward()
    return recorder.recording


def dirty():
    """A Function writes into its argument, another one returns a mask."""
    with mt.record() as recorder:
        x = mt.tensor([-2.0, 0.5, 3.0], requires_grad=True)
        y = x * 2
        y = AddOne.apply(y)
        z, inside = Clip.apply(y, -1.0, 4.0)
        best = z.argmax()
        (z * inside).sum().backward()
    assert best == 2
    return recorder.recording


def through_a_view():
    """Two writes into views of x."""
    with mt.record() as recorder:
        w = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
        x = w * 1
        v = x[1:]
        v.mul_(2)
        x[0] = 7
        x.sum().backward()
    return recorder.recording


def update():
    """Gradient descent: the leaf is overwritten between two passes, first by hand and then through a detached alias."""
    with mt.record() as recorder:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        (w * w).sum().backward()
        with mt.no_grad():
            w -= 0.5 * w.grad
        bare = w.detach()
        bare.add_(3)
        (w * w).sum().backward()
    return recorder.recording
