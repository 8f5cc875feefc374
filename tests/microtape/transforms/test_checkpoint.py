"""Checkpointing: the same gradients, from recomputed instead of saved tensors."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.errors import ModifiedInPlaceError
from microtape.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_debug_enabled


def leaf(data):
    return mt.tensor(data, requires_grad=True)


def again(function, *args, **options):
    return checkpoint(function, *args, use_reentrant=False, **options)


def changing(first, then):
    """A function that calls `first` in its first run, and `then` in all others."""
    runs = iter([first])
    return lambda *args: next(runs, then)(*args)


def gradients(function, *data):
    leaves = [leaf(one) for one in data]
    function(*leaves).sum().backward()
    return [one.grad.tolist() for one in leaves]


def layer(x, w):
    return (x * w).sin() * w.exp() + x


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_gradients_are_those_without_it(use_reentrant):
    data = [0.5, 1.5], [2.0, -1.0]
    expected = gradients(layer, *data)
    assert gradients(lambda x, w: checkpoint(layer, x, w, use_reentrant=use_reentrant), *data) == expected


STEPS = [
    lambda x, w: x * w,
    lambda x, w: x.sin() + w,
    lambda x, w: (x * x).tanh() * w.exp(),
    lambda x, w: x.reshape(2, 1).reshape(2) * 2 - w,
]


@given(
    steps=st.lists(st.integers(0, len(STEPS) - 1), min_size=1, max_size=6),
    cuts=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), max_size=3),
    early_stop=st.booleans(),
)
def test_any_nesting_of_checkpoints_gives_the_same_gradients(steps, cuts, early_stop):
    def whole(x, w):
        for step in steps:
            x = STEPS[step](x, w)
        return x

    def nested(x, w, parts=tuple(steps), depth=0):
        for i, step in enumerate(parts):
            cut = next((length for begin, length in cuts if begin == i + depth and length + i <= len(parts)), None)
            if cut is not None and depth < 3:
                inner = parts[i : i + cut]
                x = again(lambda x, w, inner=inner: nested(x, w, inner, depth + 1), x, w, early_stop=early_stop)
                return nested(x, w, parts[i + cut :], 3)
            x = STEPS[step](x, w)
        return x

    data = [0.5, 1.5], [2.0, -1.0]
    np.testing.assert_allclose(gradients(nested, *data), gradients(whole, *data), rtol=1e-6)


def test_nothing_inside_is_kept_alive():
    kept = []

    def f(x):
        inside = x.exp()
        kept.append(weakref.ref(inside))
        return inside.sin() * inside

    y = again(f, leaf([1.0]))
    gc.collect()
    assert kept[0]() is None
    y.backward()
    del y
    gc.collect()
    assert [one() for one in kept] == [None, None]


def test_what_was_recomputed_goes_when_backward_ends_even_if_the_graph_stays():
    kept = []

    def f(x):
        inside = x.exp()
        kept.append(weakref.ref(inside.array))
        return inside.sin()

    y = again(f, leaf([1.0]))
    y.backward(retain_graph=True)
    gc.collect()
    assert kept[1]() is None


def test_random_numbers_are_the_same_in_both_runs():
    drawn = []

    def dropout(x):
        mask = mt.rand(*x.shape) > 0.5
        drawn.append(mask.tolist())
        return mt.where(mask, x * x * x, 0.0)

    for use_reentrant in (False, True):
        mt.manual_seed(0)
        y = checkpoint(dropout, leaf(np.ones(20, np.float32)), use_reentrant=use_reentrant)
        before = mt.random.default_generator.get_state()
        y.sum().backward()
        assert drawn[0] == drawn[1]
        drawn.clear()
        np.testing.assert_array_equal(
            mt.random.default_generator.get_state()[0]["state"]["key"], before[0]["state"]["key"]
        )


def test_they_differ_if_nobody_preserves_the_state():
    drawn = []

    def f(x):
        drawn.append(mt.rand(1).item())
        return x.exp()

    again(f, leaf([1.0]), preserve_rng_state=False).backward()
    assert drawn[0] != drawn[1]


def test_an_overwritten_input_is_found_with_both_lines():
    x = leaf([1.0])
    a = x * 1
    y = again(lambda a: a.exp(), a)
    a.add_(1)
    with pytest.raises(ModifiedInPlaceError) as error:
        y.backward()
    assert [role for role, _ in error.value.places] == ["saved", "modified"]
    assert error.value.places[1][1].expression() == "a.add_(1)"


def test_an_exception_in_the_second_run_surfaces_as_it_is():
    def fails(x):
        raise KeyError("second run")

    y = again(changing(lambda x: x.exp(), fails), leaf([1.0]))
    with pytest.raises(KeyError, match="second run"):
        y.backward()


def test_saving_less_or_more_or_something_else_is_an_error_that_says_so():
    x = leaf([1.0, 2.0])
    fewer = again(changing(lambda x: x.exp().sin(), lambda x: x.exp()), x)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        fewer.sum().backward()
    more = again(changing(lambda x: x.exp(), lambda x: x.exp().sin()), x, early_stop=False)
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
        more.sum().backward()
    other = again(changing(lambda x: x.exp(), lambda x: x.reshape(2, 1).exp()), x)
    with pytest.raises(CheckpointError, match="have different metadata") as error:
        other.sum().backward()
    saved = "{'shape': microtape.Size([2]), 'dtype': microtape.float32, 'device': device(type='cpu')}"
    assert f"tensor at position 0:\nsaved metadata: {saved}\n" in str(error.value)


def test_the_log_names_the_first_operation_that_differs():
    def first(x):
        return x.exp().sin()

    def then(x):
        return x.exp().cos().exp()

    x = leaf([1.0, 2.0])
    with set_checkpoint_debug_enabled(True):
        y = again(changing(first, then), x, early_stop=False)
    with pytest.raises(CheckpointError) as error:
        y.sum().backward()
    text = str(error.value)
    assert "1 of 2: ExpBackward0(float32[2]) -> float32[2]" in text
    assert f"{__file__.rpartition('/')[2]}:{first.__code__.co_firstlineno + 1}" in text
    assert "The first difference is operation 2: SinBackward0(float32[2]) -> float32[2] became CosBackward0" in text


def test_a_sequence_is_cut_into_segments_of_which_the_last_is_kept():
    ran = []

    def step(i):
        def run(x):
            ran.append(i)
            return x.sin() * 2

        return run

    x = leaf([1.0])
    checkpoint_sequential([step(i) for i in range(5)], 2, x, use_reentrant=False).backward()
    assert ran == [0, 1, 2, 3, 4, 0, 1]
    y = leaf([1.0])
    z = y
    for _ in range(5):
        z = z.sin() * 2
    z.backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_the_reentrant_form_cannot_be_used_with_grad():
    x = leaf([1.0])
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\)"):
        mt.autograd.grad(y, x)


def test_a_recording_of_a_checkpointed_function():
    x = leaf([1.0])
    y = again(lambda x: x.exp().sin(), x)
    recording = mt.record(y.backward)
    (one,) = recording.passes
    assert one.error is None
    np.testing.assert_allclose(one.steps[-1].grad_after, x.grad.numpy())
    assert [recording.nodes[step.node].name for step in one.steps] == [
        "SinBackward0",
        "ExpBackward0",
        "AccumulateGrad",
    ]
