"""`Recording.jacobians`: the derivatives of small nodes, from their backward and from differences of their forward."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import microtape as mt
from microtape import load, save
from microtape.recording.file.integrity import check_integrity
from microtape.recording.file.json_records import Damaged
from microtape.recording.findings import findings
from microtape.recording.writing.recorder import Recorder


def checked(program, check="all"):
    with Recorder(check=check) as recorder:
        program()
    return recorder.recording


def of(recording, op):
    """The Jacobians of the nodes of an operation, by (edge, output)."""
    found = [one for one in recording.jacobians if recording.nodes[one.node].op == op and not one.of_gradient]
    return {(one.edge, one.output): one for one in found}


class Straight(mt.autograd.Function):
    """Passes the gradient on where its forward clips."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(-1.0, 1.0)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Polar(mt.autograd.Function):
    """Several outputs, one of them an index, and a constant argument in front."""

    @staticmethod
    def forward(ctx, name, x, y):
        ctx.save_for_backward(x, y)
        largest = (x > y).to(mt.int64)
        ctx.mark_non_differentiable(largest)
        return name, largest, x * y, x + 2 * y

    @staticmethod
    def backward(ctx, _name, _largest, product, total):
        x, y = ctx.saved_tensors
        return None, product * y + total, product * x + total  # should be 2 * total


ARRAYS = npst.arrays(np.float64, npst.array_shapes(max_dims=2, max_side=3), elements=st.floats(-3, 3, width=16))


@given(ARRAYS)
def test_the_jacobian_of_a_product_is_the_other_factor_on_the_diagonal(array):
    x, y = mt.tensor(array, requires_grad=True), mt.tensor(array + 1, requires_grad=True)
    (one, other) = (of(checked(lambda: (x * y).sum().backward()), "mul")[edge, 0] for edge in (0, 1))
    for found, factor in ((one, array + 1), (other, array)):
        assert np.allclose(found.analytical, np.diag(factor.ravel()))
        assert np.allclose(found.numerical, found.analytical, atol=1e-6)
        assert found.wrong == ()


def test_a_broadcast_operand_has_a_column_for_each_of_its_own_elements():
    x = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    b = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    found = of(checked(lambda: (x * b).sum().backward()), "mul")[1, 0]
    assert found.analytical.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3], [4, 0, 0], [0, 5, 0], [0, 0, 6]]
    assert found.wrong == ()


def test_wrong_entries_come_with_the_most_different_first():
    x = mt.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    found = of(checked(lambda: (Straight.apply(x) * mt.tensor([1.0, 2.0, 0.0])).sum().backward()), "Straight")[0, 0]
    assert found.analytical.tolist() == np.eye(3).tolist()
    assert np.allclose(found.numerical, np.diag([0, 1, 0]))
    assert found.wrong == (0, 8), "also the last, where the gradient that arrived was 0"


def test_several_outputs_of_which_some_have_no_gradient():
    x, y = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([4.0, 5.0], requires_grad=True)

    def program():
        _, _, product, total = Polar.apply("polar", x, y)
        (product.sum() + total.sum()).backward()

    recording = checked(program)
    found = of(recording, "Polar")
    assert set(found) == {(0, 2), (1, 2), (0, 3), (1, 3)}
    assert {key for key, one in found.items() if one.wrong} == {(1, 3)}
    assert found[1, 3].analytical.tolist() == [[1, 0], [0, 1]]
    assert np.allclose(found[1, 3].numerical, [[2, 0], [0, 2]])
    assert [one.agrees for one in recording.checks if recording.nodes[one.node].op == "Polar"] == [True, False]


@pytest.mark.parametrize("size", [16, 17])
def test_only_small_nodes_have_one(size):
    x = mt.tensor(np.linspace(0, 1, size), requires_grad=True)
    assert bool(of(checked(lambda: x.exp().sum().backward()), "exp")) == (size == 16)


def test_a_graph_that_was_freed_and_a_leaf_that_was_updated_afterwards_change_nothing():
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def program():
        y = x.exp()
        y.sum().backward()
        with mt.no_grad():
            x.mul_(0)

    assert np.allclose(of(checked(program), "exp")[0, 0].analytical, np.diag(np.exp([1.0, 2.0])))


def test_saved_tensors_with_hooks_are_not_unpacked_again():
    unpacked = []
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def program():
        with mt.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(t) or t):
            y = x * x
        y.sum().backward()

    recording = checked(program)
    assert len(unpacked) == 2, "once for each factor"
    assert not of(recording, "mul")
    assert all(one.agrees for one in recording.checks)


def test_a_function_that_raises_at_another_gradient_has_none():
    class Particular(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            if float(grad.sum()) != 2:
                raise ValueError("only ones")
            return grad * 2

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    recording = checked(lambda: Particular.apply(x).sum().backward())
    assert not of(recording, "Particular")
    assert not recording.notes
    assert all(one.agrees for one in recording.checks)


def test_one_step_alone_also_of_the_second_derivative():
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def program():
        (slope,) = mt.autograd.grad((x**3).sum(), x, create_graph=True)
        slope.sum().backward()

    whole = mt.record(program)
    second = whole.passes[1]
    step = next(one for one in second.steps if whole.nodes[one.node].made_by is not None)
    alone = checked(program, (second.index, step.index))
    assert {(one.pass_, one.node) for one in alone.checks} == {(second.index, step.node)}
    assert {(one.pass_, one.node) for one in alone.jacobians} == {(second.index, step.node)}
    assert all(one.agrees for one in alone.checks)


@pytest.mark.parametrize(
    ("write", "why"),
    [(True, "it has overwritten its operand, so"), (False, "may have replaced its gradients")],
)
def test_one_step_that_cannot_be_checked_says_why(write, why):
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def program():
        y = x * 2
        y = y.exp_() if write else y.exp()
        if not write:
            y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
        y.sum().backward()

    whole = mt.record(program)
    step = next(one for one in whole.passes[0].steps if "exp" in whole.nodes[one.node].op)
    (found,) = checked(program, (0, step.index)).checks
    assert why in found.problem


def test_they_are_kept_in_the_file(tmp_path):
    x = mt.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    recording = checked(lambda: Straight.apply(x).sum().backward())
    save(recording, tmp_path / "run.tape")
    again = load(tmp_path / "run.tape").jacobians
    assert len(again) == len(recording.jacobians) == 2
    for one, other in zip(again, recording.jacobians, strict=True):
        assert np.array_equal(one.analytical, other.analytical)
        assert np.array_equal(one.numerical, other.numerical)
        assert (one.node, one.edge, one.output, one.wrong) == (other.node, other.edge, other.output, other.wrong)


class Shift(mt.autograd.Function):
    """Adds to its argument in place, and to what it saved before."""

    slope = 2.0

    @staticmethod
    def forward(ctx, x, by):
        ctx.save_for_backward(x.clone())
        x.add_(x * x * by)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (1 + Shift.slope * x * 3.0), None


@pytest.mark.parametrize(("slope", "wrong"), [(2.0, 0), (1.0, 2)])
def test_a_function_that_writes_to_its_argument_runs_again_on_the_old_value(slope, wrong, monkeypatch):
    monkeypatch.setattr(Shift, "slope", slope)
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def program():
        y = x * 1
        Shift.apply(y, 3.0).sum().backward()

    recording = checked(program)
    found = of(recording, "Shift")[0, 0]
    assert len(found.wrong) == wrong
    assert np.allclose(found.numerical, np.diag([7.0, 13.0]))
    assert [one.agrees for one in recording.checks if recording.nodes[one.node].op == "Shift"] == [not wrong]


@pytest.mark.parametrize(
    "change", [{"node": 9}, {"edge": 1}, {"output": 1}, {"wrong": (9,)}, {"wrong": (-1,)}, {"analytical": np.zeros(9)}]
)
def test_in_a_file_they_have_to_fit_the_node(change):
    x = mt.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    recording = checked(lambda: x.exp().backward(mt.ones(3)))
    (one,) = recording.jacobians
    check_integrity(recording)
    with pytest.raises(Damaged):
        check_integrity(dataclasses.replace(recording, jacobians=(one._replace(**change),)))


class Cube(mt.autograd.Function):
    history = True

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x**3 * y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return 3 * grad * (x if Cube.history else x.detach()) ** 2 * y, grad * x**3


@pytest.mark.parametrize("history", [True, False])
def test_double_backward_is_checked_where_a_graph_of_the_gradients_is_made(history, monkeypatch):
    monkeypatch.setattr(Cube, "history", history)
    x, y = mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([4.0, 5.0], requires_grad=True)
    recording = checked(lambda: mt.autograd.grad(Cube.apply(x, y).sum(), [x, y], create_graph=True))
    second = {(one.output, one.edge): one for one in recording.jacobians if one.of_gradient}
    assert set(second) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert np.allclose(second[0, 0].numerical, np.diag([24, 60]), rtol=1e-5)
    assert {key for key, one in second.items() if one.wrong} == (set() if history else {(0, 0)})
    assert [one.severity for one in findings(recording)] == ([] if history else ["error"])


def test_a_backward_that_cannot_be_differentiated_has_no_second_derivatives():
    class Once(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @mt.autograd.function.once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * grad * x

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    recording = checked(lambda: mt.autograd.grad(Once.apply(x).sum(), x, create_graph=True))
    assert of(recording, "Once")[0, 0].wrong == ()
    assert not [one for one in recording.jacobians if one.of_gradient]
