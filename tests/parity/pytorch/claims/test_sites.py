"""Facts about torch on which its recorder rests: sequence numbers tell which call of a program made a node.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import threading

import pytest

from tests.parity.pytorch.watching import OWN_WARNINGS, name, outside_of_torch, ranges, torch_since, walk

pytestmark = pytest.mark.filterwarnings(*OWN_WARNINGS)


def added_in_place(torch, w):
    y = w * 2
    y += 1
    return y


def assigned(torch, w):
    y = w * 2
    y[0] = w[1]
    return y


def doubled_function(torch, w):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    return Doubled.apply(w)


def many_functions(torch, w):
    return w.std() + w.norm() + torch.kron(w, w).sum() + torch.linalg.det(w) + torch.trapezoid(w).sum()


def distribution(torch, w):
    return torch.distributions.Normal(w, w.exp()).log_prob(torch.ones(4, 4))


def stft(torch, w):
    return torch.stft(w.view(-1), 8, window=torch.ones(8), return_complex=True).abs()


def interpolated(torch, w):
    functional = torch.nn.functional
    return functional.interpolate(functional.pad(w[None, None], (1, 1)), scale_factor=2)


PROGRAMS = {
    "in place": added_in_place,
    "assigned": assigned,
    "cross entropy": lambda torch, w: torch.nn.functional.cross_entropy(w @ w, torch.tensor([0, 1, 2, 3])),
    "modules": lambda torch, w: torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())(w),
    "attention": lambda torch, w: torch.nn.MultiheadAttention(4, 2)(w, w, w)[0],
    "transformer": lambda torch, w: torch.nn.TransformerEncoderLayer(4, 2, 8)(w),
    "LSTM": lambda torch, w: torch.nn.LSTM(4, 4)(w)[0],
    "GRU cell": lambda torch, w: torch.nn.GRUCell(4, 4)(w),
    "layer norm": lambda torch, w: torch.nn.LayerNorm(4)(w),
    "batch norm": lambda torch, w: torch.nn.BatchNorm1d(4)(w),
    "convolution": lambda torch, w: torch.nn.Conv1d(4, 4, 2)(w),
    "scaled dot product": lambda torch, w: torch.nn.functional.scaled_dot_product_attention(w[None], w[None], w[None]),
    "einsum": lambda torch, w: torch.einsum("ij,jk->ik", w, w),
    "Function": doubled_function,
    "many functions": many_functions,
    "transposed": lambda torch, w: w.T @ w.mT,
    "iteration": lambda torch, w: sum(row.sum() for row in w),
    "distribution": distribution,
    "torch.ops": lambda torch, w: torch.ops.aten.mul(w, w),
    "stft": stft,
    "numbers": lambda torch, w: torch.stack([w[0, 0] * 2, w[1, 1]]),
    "interpolated": interpolated,
    "foreach": lambda torch, w: torch._foreach_mul([w, w * 1], 2.0)[1],
    "parametrized": lambda torch, w: torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 4))(w),
    "binding": lambda torch, w: torch._C._nn.gelu(w),
    "chunk": lambda torch, w: w.chunk(2)[1],
    "operators": lambda torch, w: -(2**w) / (1 - w) % 3,
}


def operations(torch, result):
    return [node for node in walk(result.grad_fn)[0] if not hasattr(node, "variable")]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_node_has_the_call_that_made_it(torch, program):
    w = torch.linspace(0.1, 0.9, 16).reshape(4, 4).requires_grad_()
    with ranges() as noted:
        result = PROGRAMS[program](torch, w)
    nodes = operations(torch, result)
    assert nodes
    assert [name(node) for node in nodes if noted.of(node) is None] == []


def test_nodes_made_by_a_scripted_function_have_no_call(torch):
    @torch.jit.script
    def scripted(a: torch.Tensor):
        return a * a.exp()

    with ranges() as noted:
        result = scripted(torch.ones(2, requires_grad=True))
    assert [noted.of(node) for node in operations(torch, result)] == [None, None]


def test_a_call_that_runs_many_operations_owns_all_of_their_nodes(torch):
    w = torch.ones(4, 4, requires_grad=True)
    attention = torch.nn.MultiheadAttention(4, 2)
    with ranges() as noted:
        result = attention(w, w, w)[0]
    owners = {noted.of(node).called for node in operations(torch, result)}
    assert "multi_head_attention_forward" in owners
    assert noted.of(result.grad_fn).stop - noted.of(result.grad_fn).start > 10


def sub_expressions(w, x):
    return (w * x + w.exp()).sum() - w.sum()


def test_the_instruction_of_a_call_names_its_sub_expression(torch):
    with ranges() as noted:
        sub_expressions(torch.ones(2, requires_grad=True), torch.ones(2))
    line = "    return (w * x + w.exp()).sum() - w.sum()"
    texts = []
    for one in noted.made:
        _, _, start, stop = list(one.code.co_positions())[one.instruction // 2]
        texts.append((one.called, line[start:stop]))
    assert texts == [
        ("mul", "w * x"),
        ("exp", "w.exp()"),
        ("add", "w * x + w.exp()"),
        ("sum", "(w * x + w.exp()).sum()"),
        ("sum", "w.sum()"),
        ("sub", "(w * x + w.exp()).sum() - w.sum()"),
    ]


def test_a_call_in_a_module_of_torch_has_the_users_call_further_out(torch):
    import sys

    from torch.overrides import TorchFunctionMode

    callers = []

    class Callers(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            callers.append((sys._getframe(1).f_code.co_name, outside_of_torch(sys._getframe(1)).f_code.co_name))
            return function(*args, **(kwargs or {}))

    layer, x = torch.nn.Linear(4, 4), torch.ones(4)
    with Callers():
        layer(x)
    assert callers[-1] == ("forward", "test_a_call_in_a_module_of_torch_has_the_users_call_further_out")


def test_a_function_mode_does_not_see_the_call_of_a_function(torch):
    from torch.overrides import TorchFunctionMode

    seen = []

    class Names(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    w = torch.ones(2, requires_grad=True)
    with Names():
        doubled_function(torch, w)
    assert seen == ["mul"]  # of its forward


def test_the_replaced_apply_is_the_call_of_a_function_and_of_nothing_in_its_forward(torch):
    w = torch.ones(2, requires_grad=True)
    with ranges() as noted:
        result = doubled_function(torch, w)
    assert [one.called for one in noted.made] == ["Doubled"]
    assert noted.of(result.grad_fn).code is doubled_function.__code__


def test_a_forward_that_enables_grad_mode_gives_out_numbers_between_those_of_its_function(torch):
    """So the calls of a program nest, and the node of the Function has the first number of its range."""

    class Solver(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            with torch.enable_grad():
                return (a.detach().requires_grad_() * 2).exp().detach()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    w = torch.ones(2, requires_grad=True)
    with ranges() as noted:
        result = Solver.apply(w)
    *inner, outer = noted.made  # calls are noted as they end
    assert [one.called for one in inner] == ["mul", "exp"]
    assert outer.called == "Solver"
    assert result.grad_fn._sequence_nr() == outer.start
    assert outer.start < inner[0].start
    assert inner[-1].stop == outer.stop


def test_a_function_mode_is_called_for_attributes_too_which_take_no_number(torch):
    w = torch.ones(2, requires_grad=True)
    with ranges() as noted:
        _ = w.shape, w.grad_fn, w.requires_grad
    assert noted.seen == ["__get__"] * 3
    assert noted.made == []


def test_a_function_mode_sees_nothing_of_other_threads(torch):
    w = torch.ones(2, requires_grad=True)
    with ranges() as noted:
        thread = threading.Thread(target=lambda: (w * 2).sum())
        thread.start()
        thread.join()
    assert noted.seen == []


def test_a_graph_made_in_another_thread_gets_false_calls(torch):
    """Sequence numbers are per thread: so the thread, or the name of the operation, must be compared as well."""
    w, made = torch.ones(2, requires_grad=True), []
    own, other = [], []

    def in_a_new_thread():
        with ranges() as noted:
            own.extend(w * i for i in range(3))
            made.append(noted)

    def in_another():
        other.extend(w.exp() for _ in range(3))

    for target in (in_a_new_thread, in_another):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    assert [made[0].of(one.grad_fn).called for one in own] == ["mul"] * 3
    assert [made[0].of(one.grad_fn).called for one in other] == ["mul"] * 3


def test_a_function_mode_sees_the_call_of_backward_and_nothing_inside(torch):
    w = torch.ones(2, requires_grad=True)
    y = w * 2
    y.register_hook(lambda gradient: gradient.exp())
    loss = y.sum()
    with ranges() as noted:
        loss.backward()
    assert noted.seen == ["backward"]


def test_before_torch_2_11_a_function_mode_sees_hooks_run_by_autograd_backward(torch):
    w = torch.ones(2, requires_grad=True)
    y = w * 2
    y.register_hook(lambda gradient: gradient.exp())
    loss = y.sum()
    with ranges() as noted:
        torch.autograd.backward([loss])
    assert ("exp" in noted.seen) == (not torch_since("2.11"))


def test_nodes_that_a_pass_makes_belong_to_the_call_that_ran_it(torch):
    w = torch.ones(2, requires_grad=True)
    with ranges() as noted:
        loss = (w**3).sum()
        (gradient,) = torch.autograd.grad(loss, w, create_graph=True)
    called = {noted.of(node).called for node in operations(torch, gradient)}
    assert called == {"grad"}


def test_the_casts_of_autocast_belong_to_the_call_that_needs_them(torch):
    w, x = torch.ones(3, 3, requires_grad=True), torch.ones(3, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16), ranges() as noted:
        result = torch.mm(x, w)
    nodes = operations(torch, result)
    assert sorted(name(node) for node in nodes) == ["MmBackward0", "ToCopyBackward0"]
    assert {noted.of(node).called for node in nodes} == {"mm"}


def test_a_dispatch_mode_is_below_autograd_and_sees_backward(torch):
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Below(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            seen.append((str(function), result.grad_fn))
            return result

    w = torch.ones(2, requires_grad=True)
    with Below():
        loss = w.exp().sum()
        forward = len(seen)
        loss.backward()
    assert seen[0] == ("aten.exp.default", None)
    assert seen[forward - 1] == ("aten.sum.default", None)
    assert "aten.mul.Tensor" in [function for function, _ in seen[forward:]]
