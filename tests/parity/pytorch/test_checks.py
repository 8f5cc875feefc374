"""What finite differences say of the gradients of a PyTorch program, and what they leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microtape.recording.file.integrity import check_integrity
from microtape.recording.findings import findings
from microtape.recording.model.model import FiniteDifferences, JacobianCheck, Recording


def checked(program: Callable[[], Any], check: Any = "all") -> Recording:
    from microtape.recording.pytorch.recorder import TorchRecorder

    with TorchRecorder(check=check) as recorder:
        program()
    recording = recorder.recording
    assert recording.faults == ()
    check_integrity(recording)
    return recording


def of(recording: Recording, op: str) -> list[FiniteDifferences]:
    return [one for one in recording.checks if recording.nodes[one.node].op == op]


def jacobians(recording: Recording, op: str) -> dict[tuple[int, int], JacobianCheck]:
    """By (edge, output)."""
    found = [one for one in recording.jacobians if recording.nodes[one.node].op == op and not one.of_gradient]
    return {(one.edge, one.output): one for one in found}


def cube(torch: Any, factor: float = 3) -> Any:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * factor * x**2

    return Cube


def vector(torch: Any, *numbers: float, **options: Any) -> Any:
    return torch.tensor(numbers or (1.0, -2.0, 3.0), requires_grad=True, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("factor", [3, 2])
def test_a_function_is_right_or_wrong_in_every_dtype(torch: Any, dtype: str, factor: float) -> None:
    x = vector(torch, dtype=getattr(torch, dtype))
    recording = checked(lambda: cube(torch, factor).apply(x).sum().backward(), "functions")
    (found,) = of(recording, "Cube")
    assert (found.agrees, found.problem) == (factor == 3, "")
    assert np.allclose(found.analytical, factor * np.array([1, 4, 9]), rtol=0.02)
    assert np.allclose(found.numerical, [3, 12, 27], rtol=0.02)
    (jacobian,) = jacobians(recording, "Cube").values()
    assert jacobian.wrong[:2] == (() if factor == 3 else (8, 4))
    assert bool(findings(recording)) == (factor != 3)


def test_several_outputs_of_which_some_have_no_gradient(torch: Any) -> None:
    class Polar(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, name: str, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            largest = (x > y).long()
            ctx.mark_non_differentiable(largest)
            return name, largest, x * y, x + 2 * y

        @staticmethod
        def backward(ctx: Any, _name: Any, _largest: Any, product: Any, total: Any) -> Any:
            x, y = ctx.saved_tensors
            return None, product * y + total, product * x + total  # should be 2 * total

    def program() -> None:
        _, _, product, total = Polar.apply("polar", vector(torch, 1.0, 2.0), vector(torch, 4.0, 5.0))
        (product.sum() + total.sum()).backward()

    recording = checked(program, "functions")
    found = jacobians(recording, "Polar")
    assert set(found) == {(0, 2), (1, 2), (0, 3), (1, 3)}
    assert {key for key, one in found.items() if one.wrong} == {(1, 3)}
    assert [one.agrees for one in of(recording, "Polar")] == [True, False]


def test_a_function_under_autocast_is_right_and_nothing_is_found(torch: Any) -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, x: Any, weight: Any) -> Any:
            ctx.save_for_backward(x, weight)
            return x @ weight

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            x, weight = ctx.saved_tensors
            return grad @ weight.t(), x.t() @ grad

    def program() -> None:
        x, weight = (torch.randn(*shape, requires_grad=True) for shape in ((4, 3), (3, 2)))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = Product.apply(x, weight)
        assert y.dtype is torch.bfloat16
        y.float().sum().backward()

    torch.manual_seed(0)
    recording = checked(program, "functions")
    assert [one.agrees for one in of(recording, "Product")] == [True, True] or all(
        "too coarse" in one.problem for one in of(recording, "Product")
    )
    assert [one for one in findings(recording) if one.severity != "notice"] == []


def test_torch_s_own_operations_agree(torch: Any) -> None:
    x, w = vector(torch), torch.tensor([[1.0, 0.5, -1.0], [2.0, 0.0, 3.0]], requires_grad=True)

    def program() -> None:
        h = torch.tanh(w @ x)
        y = h.softmax(0) * x[0] + w.t().sum(0) - torch.where(h > 0, h, 2 * h)
        z = torch.cat([y, h]) / 3 + torch.stack([h, y]).flatten()
        (2**z).mean().backward()
        (x * x + (x / 2) ** 2 + torch.maximum(x, 1 - x) + x.pow(x.abs() + 1).abs()).sum().backward()

    recording = checked(program)
    assert len({recording.nodes[one.node].op for one in recording.checks}) > 12
    assert not [one for one in recording.checks if not one.agrees]
    assert not [one for one in recording.jacobians if one.wrong]
    assert not checked(program, "functions").checks


def test_what_is_random_cannot_be_checked(torch: Any) -> None:
    class Noisy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x + torch.randn(3)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    (found,) = checked(lambda: Noisy.apply(vector(torch)).sum().backward(), "functions").checks
    assert "another result when it is called again" in found.problem


def test_a_forward_that_writes_into_the_program_is_stopped_before_it_writes(torch: Any) -> None:
    counts = torch.zeros(3)
    statistics = torch.nn.BatchNorm1d(3)

    class Counts(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, write: Any) -> Any:
            write(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2, None

    for write in (
        lambda x: counts.add_(1),
        lambda x: counts.view(-1).__setitem__(0, 1),
        lambda x: torch.add(counts, 1, out=counts),
        lambda x: torch.nn.functional.relu(counts, inplace=True),
        lambda x: statistics(x.detach().repeat(2, 1)),
        lambda x: setattr(counts, "data", torch.ones(3)),
    ):

        def program(write: Any = write) -> Any:
            y = Counts.apply(vector(torch), write)
            before = counts._version, counts.tolist(), statistics.running_mean.tolist()
            y.sum().backward()
            assert before == (counts._version, counts.tolist(), statistics.running_mean.tolist())

        (found,) = checked(program, "functions").checks
        assert "it writes into a tensor that is not its own" in found.problem


def test_a_backward_that_adds_to_grad_has_no_jacobian(torch: Any) -> None:
    weight = vector(torch)

    class Adds(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with torch.enable_grad():
                (weight * grad).sum().backward()
            return grad * 2

    recording = checked(lambda: Adds.apply(vector(torch)).sum().backward(), "functions")
    assert weight.grad.tolist() == [1, 1, 1]
    assert [one.agrees for one in of(recording, "Adds")] == [True]
    assert not jacobians(recording, "Adds")


def test_packed_tensors_are_not_unpacked_again(torch: Any) -> None:
    seen: list[str] = []

    def pack(tensor: Any) -> Any:
        seen.append("pack")
        return tensor

    def unpack(tensor: Any) -> Any:
        seen.append("unpack")
        return tensor

    def program() -> None:
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = cube(torch).apply(vector(torch))
            y.sum().backward()

    recording = checked(program)
    assert seen == ["pack", "unpack"]
    assert all(one.agrees for one in recording.checks)


def test_second_derivatives_of_a_function(torch: Any) -> None:
    class Half(torch.autograd.Function):
        """Its backward computes with a number that it has taken out of the graph."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 3 * x * x.detach()

    def program(function: Any) -> None:
        x = vector(torch)
        (slope,) = torch.autograd.grad(function.apply(x).sum(), x, create_graph=True)
        slope.sum().backward()

    seconds = [
        [bool(one.wrong) for one in checked(lambda f=function: program(f), "functions").jacobians if one.of_gradient]
        for function in (cube(torch), Half)
    ]
    assert seconds == [[False], [True]]


def test_only_one_step_is_checked_if_one_is_asked_for(torch: Any) -> None:
    def program() -> None:
        x = vector(torch)
        (x.exp() * x).sum().backward()

    whole = checked(program, None)
    step = next(one for one in whole.passes[0].steps if whole.nodes[one.node].op == "exp")
    alone = checked(program, (0, step.index))
    assert {one.node for one in alone.checks} == {one.node for one in alone.jacobians} == {step.node}
    assert all(one.agrees for one in alone.checks)
    assert not whole.checks


@pytest.mark.parametrize(
    ("write", "why"),
    [(True, "it has overwritten its operand, so"), (False, "may have replaced its gradients")],
)
def test_one_step_that_cannot_be_checked_says_why(torch: Any, write: bool, why: str) -> None:
    def program() -> None:
        y = vector(torch) * 2
        y = y.exp_() if write else y.exp()
        if not write:
            y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
        y.sum().backward()

    whole = checked(program, None)
    step = next(one for one in whole.passes[0].steps if whole.nodes[one.node].op == "exp")
    (found,) = checked(program, (0, step.index)).checks
    assert why in found.problem


def test_large_arrays_are_checked_at_few_elements_the_largest_among_them(torch: Any) -> None:
    x = torch.linspace(0.1, 1, 200_000, requires_grad=True)
    (found,) = of(checked(lambda: cube(torch).apply(x).sum().backward(), "functions"), "Cube")
    assert found.agrees
    assert 4 <= len(found.elements) <= 64
    assert 199_999 in found.elements


def test_arguments_that_are_too_large_are_not_copied(torch: Any) -> None:
    x = torch.ones(3, 1 << 21, requires_grad=True)
    (found,) = checked(lambda: cube(torch).apply(x).sum().backward(), "functions").checks
    assert "so large" in found.problem


def test_segments_share_what_is_remembered(torch: Any) -> None:
    from microtape.recording.pytorch.recorder import TorchRecorder

    with TorchRecorder(check="functions") as recorder:
        y = cube(torch, 2).apply(vector(torch)).sum()
        recorder.begin_segment()
        y.backward()
    (found,) = recorder.recording.checks
    assert not found.agrees


def test_a_call_that_is_forgotten_is_not_kept(torch: Any) -> None:
    import weakref

    from microtape.recording.pytorch.recorder import TorchRecorder

    kept: list[Any] = []
    with TorchRecorder(check="functions") as recorder:
        for _ in range(3):
            y = cube(torch).apply(vector(torch))
            kept.append(weakref.ref(recorder.tensors.node(y.grad_fn).called.called.again))
            del y
        assert [one() for one in kept] == [None] * 3
