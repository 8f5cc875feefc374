"""Several threads at once: each has its own modes and passes, and shared leaves get all gradients."""

import sys
import threading

import pytest

import microtape as mt

THREADS = 4


@pytest.fixture(autouse=True)
def switching_often():
    """Let Python switch between threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work):
    """Run `work(number)` in several threads that start together. Returns the results by number."""
    barrier, results, errors = threading.Barrier(THREADS), {}, []

    def run(number):
        barrier.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[number] for number in range(THREADS)]


def test_a_leaf_that_threads_share_gets_all_their_gradients():
    x = mt.zeros(100_000, dtype=mt.float64, requires_grad=True)  # large, so that adding takes time

    def work(number):
        for _ in range(20):
            (x * (number + 1)).sum().backward()

    at_once(work)
    assert (x.grad == 20.0 * sum(range(1, THREADS + 1))).all()


def test_modes_and_passes_of_threads_are_their_own():
    def work(number):
        seen = set()
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(lambda grad: seen.add((mt._C._current_graph_task_id() >= 0, mt.is_grad_enabled())))
        for _ in range(50):
            with mt.set_grad_enabled(number % 2 == 0):
                assert (x * 2).requires_grad == (number % 2 == 0)
                with mt.enable_grad():
                    y = (x**3).sum()
                (gradient,) = mt.autograd.grad(y, x, create_graph=number % 2 == 0)
                assert gradient.requires_grad == (number % 2 == 0)
                assert gradient.tolist() == [3.0, 12.0]
                assert mt.is_grad_enabled() == (number % 2 == 0)
        return seen

    assert at_once(work) == [{(True, number % 2 == 0)} for number in range(THREADS)]


def test_a_graph_may_be_walked_by_several_threads_at_once():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(30):
        y = (y * 1.1).sin()
    (expected,) = mt.autograd.grad(y.sum(), x, retain_graph=True)
    found = at_once(lambda number: [mt.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() for _ in range(20)])
    assert all(grad == expected.tolist() for grads in found for grad in grads)


def test_hooks_on_saved_tensors_belong_to_their_thread():
    def work(number):
        packed = []

        def pack(tensor):
            packed.append(tensor)
            return tensor

        x = mt.tensor([float(number)], requires_grad=True)
        for _ in range(20):
            with mt.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
                y = x * x
            y.backward()
        return len(packed), x.grad.item()

    assert at_once(work) == [(40, 40.0 * number) for number in range(THREADS)]


def test_forward_mode_and_inference_mode_of_threads_do_not_mix():
    def work(number):
        for _ in range(20):
            if number % 2:
                with mt.inference_mode():
                    assert (mt.ones(2) * 2).is_inference()
            else:
                y = mt.ones(2, requires_grad=True) * 2
                assert y.requires_grad
                assert not y.is_inference()
        return True

    assert all(at_once(work))


def test_an_observer_may_come_and_go_while_other_threads_compute():
    class Double(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    def come_and_go():
        for _ in range(300):
            with mt.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
                pass

    def compute():
        x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
        for _ in range(30):
            y = Double.apply(x).reshape(3, 1).clone()
            y.mul_(2)
            y[0].add_(1)
            largest = y.max(0).values + y.chunk(3)[1] + (y.detach().mul_(2) > 1) + y.sum().item()
            largest.sum().backward()
        return x.grad.tolist()

    results = at_once(lambda number: come_and_go() if number % 2 else compute())
    assert results[0] == results[2] != [0.0, 0.0, 0.0]
