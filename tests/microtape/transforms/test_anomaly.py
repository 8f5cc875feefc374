"""Anomaly mode names the forward operation behind an error or a NaN in backward."""

import contextlib
import threading
import warnings

import numpy as np
import pytest

import microtape as mt
from microtape.errors import NanGradientError


@pytest.fixture(autouse=True)
def _off_again():
    yield
    assert not mt.is_anomaly_enabled()


def leaf(data):
    return mt.tensor(data, requires_grad=True)


def nan_in_backward():
    """0 · inf: the forward pass is fine, the gradient of the root is not."""
    x = leaf([0.0, 1.0])
    return ((x - x) ** 2).sqrt()


class Failing(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("cannot go on")


def warned(function):
    """The warnings of a call that may raise."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(RuntimeError, ValueError, ZeroDivisionError):
            function()
    return [one for one in caught if one.category is UserWarning]


def test_a_nan_raises_and_names_the_node_the_output_and_the_line():
    root = nan_in_backward()
    with (
        mt.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in PowBackward0"),
        pytest.raises(NanGradientError) as error,
    ):
        root.sum().backward()
    assert error.value.summary == "Function 'PowBackward0' returned nan values in its 0th output."
    ((role, site),) = error.value.places
    assert (role, site.expression()) == ("forward", "(x - x) ** 2")


def test_nan_is_found_in_tensors_of_a_double_backward_too():
    x = leaf(0.0)
    with mt.autograd.set_detect_anomaly(True):
        root = ((x - x) ** 2).sqrt()
        with (
            pytest.warns(UserWarning, match="Error detected"),
            pytest.raises(RuntimeError, match="returned nan values"),
        ):
            mt.autograd.grad(root, x, create_graph=True)


def test_nan_passes_where_nobody_checks():
    with mt.autograd.set_detect_anomaly(True, check_nan=False):
        root = nan_in_backward()
        root.sum().backward()
    nan_in_backward().sum().backward()


def test_inf_is_no_anomaly():
    x = leaf(0.0)
    with mt.autograd.set_detect_anomaly(True):
        x.sqrt().backward()
    assert np.isinf(x.grad.item())


def test_the_warning_shows_the_stack_of_the_forward_call_down_to_the_expression():
    x = leaf([1.0])

    def forward():
        return Failing.apply(x)

    with mt.autograd.set_detect_anomaly(True):
        y = forward()
        (one,) = warned(lambda: y.backward())
    first, *lines = str(one.message).splitlines()
    assert first == "Error detected in FailingBackward. Traceback of forward call that caused the error:"
    shown = [line.strip() for line in lines if line.strip(" ~^")]  # the underlining depends on the version of Python
    assert shown[-4:-2] == [
        f'File "{__file__}", line {forward.__code__.co_firstlineno + 4}, in {_name()}',
        "y = forward()",
    ]
    assert shown[-1] == "return Failing.apply(x)"
    assert any(set(line.strip()) <= set("~^") for line in lines[-5:])
    assert "microtape/functions/" not in str(one.message)
    assert one.filename == __file__


def _name():
    return "test_the_warning_shows_the_stack_of_the_forward_call_down_to_the_expression"


def test_without_the_mode_in_forward_the_line_is_known_all_the_same():
    y = Failing.apply(leaf([1.0]))
    with mt.autograd.set_detect_anomaly(True):
        (one,) = warned(lambda: y.backward())
    text = str(one.message)
    assert text.startswith(
        "Error detected in FailingBackward. No forward pass information available. Enable detect anomaly during "
        "forward pass for more information.\n  recorded at "
    )
    assert text.endswith("Failing.apply(leaf([1.0]))")


def test_any_exception_is_explained_also_one_out_of_a_hook():
    x = leaf([1.0])
    with mt.autograd.set_detect_anomaly(True):
        y = x.exp()
        y.register_hook(lambda grad: 1 / 0)
        messages = [str(one.message) for one in warned(lambda: y.backward())]
    assert [message.partition(".")[0] for message in messages] == ["Error detected in ExpBackward0"]


def test_a_leafs_own_node_has_a_stack():
    x = leaf([1.0])
    x.register_post_accumulate_grad_hook(lambda tensor: 1 / 0)
    with mt.autograd.set_detect_anomaly(True):
        y = x * 2
        (one,) = warned(lambda: y.backward())
    assert str(one.message).startswith("Error detected in torch::autograd::AccumulateGrad. Traceback of forward call")


def test_the_chain_of_a_double_backward_leads_to_the_first_forward():
    class FailingTwice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return Failing.apply(grad)

    x, seed = leaf(1.0), leaf(1.0)
    with mt.autograd.set_detect_anomaly(True):
        y = FailingTwice.apply(x)
        (first,) = mt.autograd.grad(y, x, seed, create_graph=True)
        messages = [str(one.message) for one in warned(lambda: first.backward())]
    assert len(messages) == 2
    assert messages[0].startswith("Error detected in FailingBackward. ")
    assert "return Failing.apply(grad)" in messages[0]
    assert messages[1].startswith(
        "\n\nPrevious calculation was induced by FailingTwiceBackward. Traceback of forward call that induced the "
        "previous calculation:\n"
    )
    assert "y = FailingTwice.apply(x)" in messages[1]


def test_a_backward_inside_of_a_backward_is_explained_from_the_inside_out():
    class Outer(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            with mt.enable_grad():
                Failing.apply(leaf([1.0])).backward()
            return grad

    with mt.autograd.set_detect_anomaly(True):
        y = Outer.apply(leaf([1.0]))
        messages = [str(one.message) for one in warned(lambda: y.backward())]
    assert [message.split(".")[0].strip() for message in messages] == [
        "Error detected in FailingBackward",
        "Previous calculation was induced by OuterBackward",
        "Error detected in OuterBackward",
    ]


def test_what_was_recorded_is_in_the_nodes_metadata():
    x = leaf([1.0])
    with mt.autograd.set_detect_anomaly(True):
        y = x * 2
        (grad,) = mt.autograd.grad((y * y).sum(), x, create_graph=True)
    assert y.grad_fn.metadata["traceback_"][-1].splitlines()[1].strip() == "y = x * 2"
    assert "parent_" not in y.grad_fn.metadata
    assert grad.grad_fn.metadata["parent_"] is y.grad_fn
    assert (x * 2).grad_fn.metadata == {}


def test_the_switch_acts_at_once_and_the_context_turns_it_back():
    mt.autograd.set_detect_anomaly(True, check_nan=False)
    assert mt.is_anomaly_enabled()
    assert not mt.is_anomaly_check_nan_enabled()
    with mt.autograd.set_detect_anomaly(False):
        assert not mt.is_anomaly_enabled()
    assert mt.is_anomaly_enabled()
    mt.autograd.set_detect_anomaly(False)


def test_detect_anomaly_warns_that_it_is_slow():
    with pytest.warns(
        UserWarning, match="^Anomaly Detection has been enabled. This mode will increase the runtime"
    ) as seen:
        context = mt.autograd.detect_anomaly(check_nan=False)
    assert seen[0].filename == __file__
    assert not mt.is_anomaly_enabled()
    with context:
        assert mt.is_anomaly_enabled()
        assert not mt.is_anomaly_check_nan_enabled()


def test_it_is_on_for_every_thread():
    seen = []
    with mt.autograd.set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append(leaf([1.0]).exp().grad_fn.metadata))
        thread.start()
        thread.join()
    assert "traceback_" in seen[0]


def test_a_recording_shows_the_node_that_returned_nan_as_the_one_that_failed():
    with mt.autograd.set_detect_anomaly(True):
        root = nan_in_backward().sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recording = mt.record(root.backward)
    last = recording.passes[0].steps[-1]
    assert recording.nodes[last.node].name == "PowBackward0"
    assert last.error.type == "NanGradientError"
