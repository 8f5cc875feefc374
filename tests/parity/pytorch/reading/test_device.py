"""Values of tensors on a device are reduced there and fetched together.

Here, tensors of the processor are taken for such. Their values must be those that are recorded directly.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from microtape.recording.model.model import Summary
from tests.parity.pytorch.reading.test_values import tensors

LARGE = 20_000


def through_device(tensor, budget=None):
    """The value of a tensor that is fetched as from a device."""
    from microtape.recording.pytorch.reading.device import settled
    from microtape.recording.pytorch.reading.values import Budget, Values

    values = Values(Budget(*budget or ()), lambda tensor: True)
    pending = values.of(tensor)
    values.fetch()
    return settled(pending)


def assert_same(value, expected):
    """Whether two values agree: copies to the bit; means and deviations as far as float32 is exact."""
    if not isinstance(expected, Summary):
        assert isinstance(value, np.ndarray)
        assert not value.flags.writeable
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
        assert value.tobytes() == expected.tobytes()
        return
    exact = ("shape", "dtype", "min", "max", "zeros", "nans", "infs", "negative_infs")
    assert [getattr(value, name) for name in exact] == [getattr(expected, name) for name in exact]
    scale = max(abs(expected.min or 0), abs(expected.max or 0))
    assert value.mean == pytest.approx(expected.mean, rel=1e-4, abs=1e-5 * scale)
    assert value.std == pytest.approx(expected.std, rel=1e-4, abs=1e-5 * scale)
    assert sum(value.histogram) == sum(expected.histogram)
    if not (expected.nans or expected.infs):
        assert value.histogram == expected.histogram
    means, expected_means = (np.array(one.thumbnail, float) for one in (value, expected))
    np.testing.assert_allclose(means, expected_means, rtol=2e-3, atol=1e-5 * scale)


@given(tensors())
def test_a_small_tensor_is_copied(pair):
    from microtape.recording.pytorch.reading.values import value_of

    assert_same(through_device(pair[0]), value_of(pair[0]))


def large_tensors(torch):
    torch.manual_seed(0)
    plain = torch.randn(150, 200)
    broken = plain.clone()
    broken[3, 5:9], broken[7], broken[9, :3] = torch.nan, torch.inf, -torch.inf
    return {
        "plain": plain,
        "vector": torch.randn(LARGE),
        "transposed": plain.t(),
        "permuted": torch.randn(20, 30, 40).permute(2, 0, 1),
        "sliced": torch.randn(300, 300)[::2, 1::2],
        "expanded": torch.randn(1000).expand(50, 1000),
        "a number for each row": torch.randn(300, 1).expand(300, 100),
        "with zeros": plain.relu(),
        "constant": torch.full((200, 200), 3.0),
        "with NaN and infinity": broken,
        "all NaN": torch.full((200, 100), torch.nan),
        "float64": plain.double(),
        "huge": plain.double() * 1e300,
        "tiny": plain.double() * 1e-300,
        "float16": plain.half(),
        "bfloat16": plain.bfloat16(),
        "int64": torch.randint(-5, 5, (150, 200)),
        "int8": torch.randint(-5, 5, (150, 200), dtype=torch.int8),
        "bool": plain > 0,
        "complex": torch.randn(150, 200, dtype=torch.complex64),
        "conjugated": torch.randn(150, 200, dtype=torch.complex64).conj(),
        "negative": torch.randn(150, 200, dtype=torch.complex64).conj().imag,
        "leaf": plain.clone().requires_grad_(),
    }


@pytest.mark.parametrize("budget", [(), (0,)])
def test_the_summary_of_a_tensor_is_that_of_the_processor(torch, budget):
    from microtape.recording.pytorch.reading.values import ALWAYS_COPIED, COPIED, value_of

    for tensor in large_tensors(torch).values():
        assert_same(through_device(tensor, budget), value_of(tensor))
    few = torch.randn(40, 50)
    assert_same(through_device(few, budget), value_of(few, COPIED if not budget else ALWAYS_COPIED))


@pytest.mark.filterwarnings("ignore")
def test_what_has_no_elements_has_no_value(torch):
    for tensor in (torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), None):
        assert through_device(tensor) is None
    assert through_device(torch.empty(0, 3)).shape == (0, 3)
    assert_same(through_device(torch.eye(3).to_sparse()), np.eye(3, dtype=np.float32))


@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (1, 2), (3, 1)])
def test_the_sizes_of_a_thumbnail_are_those_of_the_processor(torch, rows, columns):
    from microtape.recording.pytorch.reading.values import value_of

    tensor = torch.randn(8 * rows + 5, 16 * columns + 3, 100)
    assert_same(through_device(tensor, (0,)), value_of(tensor, 1024))


def training(torch):
    """The parameters after three training steps, with double backward, a view that is written to, and an embedding.

    Hold them: an update is recorded only of a parameter that still exists.
    """
    from torch import nn

    torch.manual_seed(0)
    table, model = nn.Embedding(50, 40), nn.Sequential(nn.Linear(40, 500), nn.ReLU(), nn.Linear(500, 60))
    parameters = [*table.parameters(), *model.parameters()]
    optimizer = torch.optim.SGD(parameters, 0.1)
    table.weight.register_hook(lambda gradient: gradient * 2)
    for _ in range(3):
        optimizer.zero_grad()
        hidden = model(table(torch.arange(50)))
        hidden = hidden * 1
        hidden[0].mul_(2)
        loss = hidden.square().mean()
        (first,) = torch.autograd.grad(loss, model[0].weight, create_graph=True)
        (loss + first.square().sum()).backward()
        optimizer.step()
    return parameters


def test_a_recording_through_a_device_is_that_of_the_processor(torch, monkeypatch):
    from microtape.recording.comparing import compare
    from microtape.recording.pytorch.reading import device
    from microtape.recording.pytorch.recorder import TorchRecorder

    fetched = []
    to_host = device.to_host
    monkeypatch.setattr(device, "to_host", lambda raw: fetched.append(len(raw)) or to_host(raw))
    alone = training(torch)
    with TorchRecorder() as direct:
        held = training(torch)
    assert fetched == []
    with TorchRecorder(on_device=lambda tensor: True) as remote:
        recorded = training(torch)
    assert all(torch.equal(a, b) and torch.equal(a, c) for a, b, c in zip(alone, held, recorded, strict=True))
    passes = len(remote.passes)
    assert passes == 6
    assert len(fetched) == passes  # one copy for each pass
    one, other = direct.recording, remote.recording
    assert one.faults == other.faults == ()
    found = compare(one, other, rtol=0, atol=1e-5)
    assert found.is_equal
    assert not found.counts.unknown
    assert [(a.tensor, a.passes, a.norm, a.change) for a in one.updates] == [
        (b.tensor, b.passes, b.norm, b.change) for b in other.updates
    ]
    assert one.updates


@pytest.mark.parametrize("size", [10, 200_000])
def test_a_nan_on_a_device_is_noticed_when_the_values_are_fetched(torch, size):
    from microtape.recording.pytorch.recorder import TorchRecorder

    for last in (1.0, float("nan")):
        x = torch.ones(size, requires_grad=True)
        factor = torch.ones(size)
        factor[-1] = last
        with TorchRecorder(on_device=lambda tensor: True) as recorder:
            (x * factor).sum().backward()
        assert recorder.segments[-1].has_nan() == (last != last)


def test_a_training_step_on_a_gpu_waits_once_for_each_pass():
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    model = torch.nn.Sequential(torch.nn.Linear(200, 200), torch.nn.ReLU(), torch.nn.Linear(200, 200)).cuda()
    x = torch.randn(200, 200, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def steps():
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

    def waits(run):
        with torch.profiler.profile() as profile:
            run()
        return sum("Synchronize" in one.name or "DtoH" in one.name for one in profile.events())

    steps()
    plain = waits(steps)
    with TorchRecorder() as recorder:
        recorded = waits(steps)
    assert recorded <= plain + 2 * 3  # a copy, and the synchronisation with it
    values = [one for each in recorder.recording.passes for step in each.steps for one in step.grad_outputs]
    assert all(value.min is not None if isinstance(value, Summary) else value.size for value in values)
