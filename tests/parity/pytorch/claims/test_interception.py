"""Facts about torch on which its recorder rests: where all backward passes of a Python program can be seen.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import threading

import pytest

from tests.parity.pytorch.watching import OWN_WARNINGS, hooks, ranges, torch_since, walk, watched_engine

pytestmark = pytest.mark.filterwarnings(*OWN_WARNINGS)


def cube(a):
    return (a**3).sum()


def backward(torch, x):
    (x * x).sum().backward()


def backward_of_two_roots(torch, x):
    torch.autograd.backward([(x * x).sum(), (x * 2).sum()])


def grad(torch, x):
    torch.autograd.grad((x * x).sum(), x)


def batched_grad(torch, x):
    torch.autograd.grad(x * x, x, torch.eye(3), is_grads_batched=True)


def jacobian(torch, x):
    torch.autograd.functional.jacobian(lambda a: a * a, x.detach())


def vectorized_jacobian(torch, x):
    torch.autograd.functional.jacobian(lambda a: a * a, x.detach(), vectorize=True)


def hessian(torch, x):
    torch.autograd.functional.hessian(cube, x.detach())


def func_grad(torch, x):
    torch.func.grad(cube)(x.detach())


def jacrev(torch, x):
    torch.func.jacrev(lambda a: a**2)(x.detach())


def vmap_of_grad(torch, x):
    torch.func.vmap(torch.func.grad(lambda a: a**2))(x.detach())


def gradcheck(torch, x):
    assert torch.autograd.gradcheck(lambda a: a * a, x.detach()[:2].double().requires_grad_())


def checkpoint(torch, x):
    from torch.utils.checkpoint import checkpoint

    checkpoint(lambda a: (a * a).sin(), x * 1, use_reentrant=False).sum().backward()


def reentrant_checkpoint(torch, x):
    from torch.utils.checkpoint import checkpoint

    checkpoint(lambda a: (a * a).sin(), x * 1, use_reentrant=True).sum().backward()


def backward_in_a_functions_backward(torch, x):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, gradient):
            (a,) = ctx.saved_tensors
            with torch.enable_grad():
                cube(a.detach().requires_grad_()).backward()
            return gradient * 2

    Doubled.apply(x).sum().backward()


def backward_in_a_hook(torch, x):
    inner = cube(x.detach().requires_grad_())  # made outside of the hook, which runs without grad mode
    y = x * 3
    y.register_hook(lambda gradient: inner.backward())
    y.sum().backward()


def closure_of_an_optimizer(torch, x):
    optimizer = torch.optim.LBFGS([x], max_iter=2)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    optimizer.step(closure)


def without_grad_mode(torch, x):
    loss = (x * x).sum()
    with torch.no_grad():
        loss.backward()


def in_inference_mode(torch, x):
    loss = (x * x).sum()
    with torch.inference_mode():
        loss.backward()


CALLERS = [  # calls of the engine, and how deep the last of them is
    (backward, 1, 0),
    (backward_of_two_roots, 1, 0),
    (grad, 1, 0),
    (batched_grad, 1, 0),
    (jacobian, 3, 0),
    (vectorized_jacobian, 1, 0),
    (hessian, 4, 0),
    (func_grad, 1, 0),
    (jacrev, 1, 0),
    (vmap_of_grad, 1, 0),
    (gradcheck, 6, 0),
    (checkpoint, 1, 0),
    (reentrant_checkpoint, 2, 1),
    (backward_in_a_functions_backward, 2, 1),
    (backward_in_a_hook, 2, 1),
    (closure_of_an_optimizer, 2, 0),
    (without_grad_mode, 1, 0),
    (in_inference_mode, 1, 0),
]


@pytest.mark.parametrize(("caller", "count", "depth"), CALLERS)
def test_the_replaced_engine_sees_every_call_from_python(torch, caller, count, depth):
    with watched_engine() as calls:
        caller(torch, torch.ones(3, requires_grad=True))
    assert (len(calls), calls[-1].depth) == (count, depth)


def test_the_engine_is_seen_again_by_nobody_once_it_is_put_back(torch):
    original = torch.autograd.Variable._execution_engine
    with watched_engine() as calls:
        pass
    backward(torch, torch.ones(3, requires_grad=True))
    assert calls == []
    assert torch.autograd.Variable._execution_engine is original


def test_calls_from_cpp_are_not_seen_by_the_engine(torch):
    @torch.jit.script
    def scripted(loss: torch.Tensor):
        loss.backward()

    x = torch.ones(3, requires_grad=True)
    with watched_engine() as calls:
        torch.ops.aten._backward((x * x).sum(), [x], torch.tensor(1.0))
        scripted((x * x).sum())
    assert calls == []
    assert x.grad.tolist() == [4, 4, 4]


def test_of_calls_from_cpp_a_function_mode_sees_only_those_of_torch_ops(torch):
    @torch.jit.script
    def scripted(loss: torch.Tensor):
        loss.backward()

    x = torch.ones(3, requires_grad=True)
    first, second = (x * x).sum(), (x * x).sum()
    with ranges() as noted:
        torch.ops.aten._backward(first, [x], torch.tensor(1.0))
        scripted(second)
    assert [one for one in noted.seen if "backward" in one] == ["_backward"]


def test_the_engine_is_bound_at_the_same_two_places(torch):
    assert torch.autograd._engine_run_backward is torch.autograd.graph._engine_run_backward


def test_arguments_of_backward(torch):
    x = torch.ones(3, requires_grad=True)
    loss = (x * x).sum()
    with watched_engine() as calls:
        loss.backward(retain_graph=True)
    outputs, gradients, keep_graph, create_graph, inputs = calls[0].arguments
    assert outputs[0] is loss
    assert (keep_graph, create_graph, inputs) == (True, False, ())
    assert [one.tolist() for one in gradients] == [1]  # made by torch, since the user gave none
    assert calls[0].keywords == {"allow_unreachable": True, "accumulate_grad": True}


def test_arguments_of_grad(torch):
    """NB: that inputs may be unused comes without a keyword, unlike in a call of backward."""
    x = torch.ones(3, requires_grad=True)
    y = x * x
    with watched_engine() as calls:
        torch.autograd.grad(y, x, torch.full((3,), 5.0), create_graph=True, allow_unused=True)
    outputs, gradients, keep_graph, create_graph, inputs, allow_unreachable = calls[0].arguments
    assert outputs[0] is y
    assert inputs[0] is x
    assert (keep_graph, create_graph, allow_unreachable) == (True, True, True)
    assert gradients[0].tolist() == [5, 5, 5]
    assert calls[0].keywords == {"accumulate_grad": False}


def test_an_output_without_a_graph_gets_no_seed_and_fails_in_the_engine(torch):
    with watched_engine() as calls, pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        torch.ones(1).backward()
    assert calls[0].arguments[1] == (None,)


def test_outputs_may_be_edges_of_the_graph(torch):
    if not torch_since("2.6"):
        pytest.skip("backward of an edge is new in torch 2.6")
    y = torch.ones(3, requires_grad=True) * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    with watched_engine() as calls:
        torch.autograd.backward([edge], [torch.ones(3)])
    assert calls[0].arguments[0] == (edge,)


def test_the_first_frame_outside_of_torch_is_the_users_call(torch):
    with watched_engine() as calls:
        jacobian(torch, torch.ones(3))
    assert {call.caller for call in calls} == {"jacobian"}


def test_a_subclass_keeps_the_callbacks_of_the_engine(torch):
    """Data-parallel modules register their end of a pass in this way."""
    x, ended = torch.ones(3, requires_grad=True), []
    y = x * 2
    y.register_hook(lambda gradient: torch.autograd.Variable._execution_engine.queue_callback(lambda: ended.append(1)))
    with watched_engine():
        y.sum().backward()
    assert ended == [1]


def test_the_replaced_engine_sees_passes_of_all_threads(torch):
    x = torch.ones(3, requires_grad=True)
    threads = [threading.Thread(target=grad, args=(torch, x)) for _ in range(3)]
    with watched_engine() as calls:
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert {call.thread for call in calls} == {one.ident for one in threads}


def test_workers_of_a_data_loader_are_not_disturbed(torch):
    data = torch.utils.data.TensorDataset(torch.ones(8, 3))
    x = torch.ones(3, requires_grad=True)
    with watched_engine() as calls:
        for (rows,) in torch.utils.data.DataLoader(data, batch_size=2, num_workers=2):
            (rows @ x).sum().backward()
    assert len(calls) == 4
    assert x.grad.tolist() == [8, 8, 8]


def test_hooks_run_in_the_thread_that_called_backward(torch):
    loss, ran_in = (torch.ones(3, requires_grad=True) * 2).sum(), set()
    with hooks(walk(loss.grad_fn)[0], after=lambda *told: ran_in.add(threading.get_ident())):
        loss.backward()
    assert ran_in == {threading.get_ident()}
