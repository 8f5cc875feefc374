"""`backward(inputs=...)`: the recording shows the gradient that arrived, not the `.grad` that it was added to."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


def leaf_with_a_hook(torch, w):
    w.register_hook(lambda gradient: gradient * 10)
    ((w * w).sum() + (w * 2).sum()).backward(inputs=[w])
    return [w]


def three_deliveries(torch, w):
    y = w * w
    y.grad = torch.ones_like(w)
    ((y * y).sum() + (y * 2).sum() + (y * 3.3).sum()).backward(inputs=[y])
    return [y]


def result_with_a_hook(torch, w):
    y = w * w
    y.grad = torch.ones_like(w)
    y.register_hook(lambda gradient: gradient * 10)
    ((y * y).sum() + (y * 2).sum()).backward(inputs=[y])
    return [y]


def result_on_the_way(torch, w):
    y = w * w
    y.grad = torch.ones_like(w)
    y.register_hook(lambda gradient: gradient * 10)
    ((y * y).sum() + (y * 2).sum()).backward(inputs=[y, w])
    return [y, w]


def root(torch, w):
    loss = (w * w).sum()
    loss.grad = torch.ones_like(loss)
    loss.backward(inputs=[loss])
    return [loss]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("program", [leaf_with_a_hook, three_deliveries, result_with_a_hook, result_on_the_way, root])
def test_a_capture_is_what_arrived(torch, program, dtype):
    from microtape.recording.pytorch.recorder import TorchRecorder

    w = torch.tensor([1.0, 2.0], requires_grad=True, dtype=getattr(torch, dtype))
    w.grad = torch.ones_like(w)
    with TorchRecorder() as recorder:
        asked = program(torch, w)
    captures = recorder.recording.passes[0].captures
    assert len(captures) == len(asked)
    for capture, tensor in zip(captures, asked, strict=True):
        assert capture.value.tolist() == (tensor.grad - 1).float().tolist()
