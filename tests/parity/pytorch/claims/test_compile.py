"""Facts about torch on which its recorder rests: what may be done around a compiled function.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import os
import shutil

import pytest

from tests.parity.pytorch.watching import hooks, name, ranges, torch_since, walk

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # compilers warn of themselves

needs_compiler = pytest.mark.skipif(
    not os.environ.get("MICROTAPE_NO_SKIP") and not any(map(shutil.which, ("g++", "clang++", "cl"))),
    reason="no C++ compiler is installed",
)
BACKENDS = ["eager", "aot_eager", pytest.param("inductor", marks=needs_compiler)]


def graphs():
    """How many graphs were compiled so far."""
    from torch._dynamo.utils import counters

    return counters["stats"].get("unique_graphs", 0)


@pytest.fixture
def program(torch):
    """A function that makes a compiled function, its arguments, and the gradient of the first, uncompiled."""
    import torch._dynamo
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    w, x = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)

    def body(w, x):
        return (torch.tanh(x @ w) * x).sum()

    body(w, x).backward()
    expected, w.grad = w.grad, None
    yield lambda backend: torch.compile(body, backend=backend), (w, x), expected
    torch._dynamo.reset()
    torch.set_flush_denormal(False)  # torch 2.5 links what it compiles with code that turns this on for the thread


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_mode_that_steps_aside_while_compiling_leaves_the_gradients_right(torch, program, backend):
    compiled, (w, x), expected = program
    function = compiled(backend)
    function(w, x).backward()
    plain, before = w.grad, graphs()
    assert torch.allclose(plain, expected)
    for _ in range(3):
        w.grad = None
        with ranges():
            loss = function(w, x)
        loss.backward()
        assert torch.equal(w.grad, plain)
    assert graphs() <= before + 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_compiled_function_called_outside_of_the_mode_compiles_no_more_graphs(torch, program, backend):
    """The mode is taken off around the call, which then is noted as a whole."""
    compiled, (w, x), _ = program
    function, number = compiled(backend), torch._C._autograd._get_sequence_nr
    function(w, x).backward()
    plain, before = w.grad, graphs()
    for _ in range(2):
        w.grad = None
        with ranges() as noted:
            mode = torch._C._pop_torch_function_stack()
            start = number()
            try:
                loss = function(w, x)
            finally:
                stop = number()
                torch._C._push_on_torch_function_stack(mode)
        assert noted.made == []
        assert start <= loss.grad_fn._sequence_nr() < stop
        loss.backward()
        assert torch.equal(w.grad, plain)
    assert graphs() == before


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=needs_compiler)])
def test_a_compiled_function_is_one_node_whose_hooks_compile_nothing_again(torch, program, backend):
    compiled, (w, x), expected = program
    function, ran = compiled(backend), []
    function(w, x).backward()
    w.grad, before = None, graphs()
    loss = function(w, x)
    with hooks(walk(loss.grad_fn)[0], after=lambda node, made, got: ran.append(name(node))):
        loss.backward()
    assert ran == ["CompiledFunctionBackward", "AccumulateGrad"]
    assert torch.allclose(w.grad, expected)
    assert graphs() == before


def test_while_compiling_the_engine_is_called_with_tensors_that_have_no_elements(torch, program):
    """NB: only their type tells in all versions; that something is being compiled is told since torch 2.13."""
    from torch.autograd import Variable

    compiled, (w, x), _ = program
    original, seen = Variable._execution_engine, []

    class Engine(type(original)):
        def run_backward(self, outputs, *arguments, **keywords):
            seen.append(({type(one).__name__ for one in outputs}, torch.compiler.is_compiling()))
            return super().run_backward(outputs, *arguments, **keywords)

    Variable._execution_engine = Engine()
    try:
        compiled("aot_eager")(w, x).backward()
    finally:
        Variable._execution_engine = original
    assert seen == [({"FunctionalTensor"}, torch_since("2.13")), ({"Tensor"}, False)]


def test_compiled_autograd_runs_node_hooks_and_gives_the_right_gradients(torch):
    from torch._dynamo import compiled_autograd

    enable = compiled_autograd._enable if torch_since("2.6") else compiled_autograd.enable
    w, ran = torch.ones(3, requires_grad=True), []
    with enable(torch.compile(backend="eager")):
        loss = (w * w).sum()
        with hooks(walk(loss.grad_fn)[0], after=lambda node, made, got: ran.append(name(node))):
            loss.backward()
    assert w.grad.tolist() == [2, 2, 2]
    assert ran
