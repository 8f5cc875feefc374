"""A deep nesting of backward passes continues on new threads, and nothing but the stack differs."""

import contextvars
import signal
import sys
import threading
import time
import traceback

import pytest

import microtape as mt
from microtape.basics.fresh_stack import run_on_fresh_stack, stack_ident
from microtape.recording import record
from microtape.tape.watch import watch

depth = contextvars.ContextVar("depth", default=0)


def nested(left, end):
    """A tensor whose backward runs this many more backward passes, each inside the one before, and then `end`."""
    x = mt.ones(1, requires_grad=True)
    y = x * 2

    def hook(grad):
        if not left:
            end()
            return
        depth.set(depth.get() + 1)
        with mt.enable_grad():
            nested(left - 1, end).backward()

    y.register_hook(hook)
    return y


def test_one_thread_waits_for_the_other():
    idents = []
    nested(100, lambda: idents.append((threading.get_ident(), stack_ident()))).backward()
    assert idents[0][0] != threading.get_ident()
    assert idents[0][1] == stack_ident() == threading.get_ident()


def test_a_shallow_nesting_stays_on_its_thread():
    idents = []
    nested(3, lambda: idents.append(threading.get_ident())).backward()
    assert idents == [threading.get_ident()]


def test_context_variables_go_in_and_out():
    depth.set(0)
    seen = []
    nested(100, lambda: seen.append(depth.get())).backward()
    assert seen == [depth.get()] == [100]


def test_an_error_keeps_the_whole_traceback():
    def fail():
        raise KeyError("at the end")

    with pytest.raises(KeyError) as caught:
        nested(100, fail).backward()
    functions = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert functions.count("hook") == 101
    assert functions[-1] == "fail"


def test_the_thread_state_is_that_of_the_caller_and_then_as_before():
    states = []

    def end():
        states.append(mt.is_grad_enabled())
        mt.set_grad_enabled(True)
        mt.ones(1, requires_grad=True).exp()

    with mt.autograd.graph.saved_tensors_hooks(lambda tensor: states.append("packed"), lambda packed: packed):
        nested(100, end).backward()
    assert states == [False, "packed"]
    assert mt.is_grad_enabled()
    assert not watch.watchers


def test_an_operation_recorded_by_a_deep_pass_has_the_call_site_of_the_caller():
    gradients = []

    def end():
        with mt.enable_grad():
            x = mt.ones(1, requires_grad=True)
            run_on_fresh_stack(lambda: gradients.extend(mt.autograd.grad(x * x, x, create_graph=True)))

    nested(1, end).backward()
    assert gradients[0].grad_fn.call_site.file == __file__


def test_deep_passes_are_recorded():
    assert len(record(nested(60, lambda: None).backward).passes) == 61


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends a signal")
def test_an_exception_of_a_signal_handler_ends_the_deep_pass():
    class TimeIsUpError(Exception):
        pass

    def handle(*_):
        raise TimeIsUpError("time is up")

    def wait():
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        for _ in range(1000):
            time.sleep(0.01)
        raise AssertionError("was not interrupted")

    before = signal.signal(signal.SIGALRM, handle)
    try:
        with pytest.raises(TimeIsUpError, match="time is up"):
            nested(100, wait).backward()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_low_recursion_limit_is_enough():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        nested(300, lambda: None).backward()
    finally:
        sys.setrecursionlimit(before)
