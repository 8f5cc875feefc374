"""Saved tensors: their names, hooks that pack them, saving to files, and writing to them."""

import gc
import threading
import weakref

import numpy as np
import pytest

import microtape as mt
from microtape.autograd import graph
from microtape.errors import FreedGraphError, ModifiedInPlaceError


def leaf(data):
    return mt.tensor(data, requires_grad=True)


def keep(tensor):
    return tensor.detach().clone()


def as_it_is(kept):
    return kept


# Names


def test_a_saved_input_is_the_very_tensor():
    x, y = leaf([1.0]), leaf([2.0])
    z = x * y
    assert z.grad_fn._saved_self is x
    assert z.grad_fn._saved_other is y


def test_what_no_formula_needs_is_none():
    x = leaf([1.0])
    assert (x * 2).grad_fn._saved_self is None
    assert not hasattr((x + x).grad_fn, "_saved_self")


def test_a_saved_result_shares_memory_and_history():
    y = leaf([1.0]).exp()
    saved = y.grad_fn._saved_result
    assert saved is not y
    assert saved.grad_fn is y.grad_fn
    assert np.shares_memory(saved.detach().numpy(), y.detach().numpy())


def test_parameters_have_torchs_names():
    x = leaf([[1.0, 2.0]])
    node = x.sum(1, keepdim=True).grad_fn
    assert (node._saved_dim, node._saved_keepdim, node._saved_self_sym_sizes) == ((1,), True, (1, 2))


def test_a_saved_number_is_a_tensor_of_its_own():
    x = leaf([1.0])
    y = x * 2
    first = y.grad_fn._saved_other
    assert first.item() == 2
    first.requires_grad_()
    first.grad = mt.tensor(1.0)
    assert (x * 3).grad_fn._saved_other.grad is None


def test_reading_a_saved_tensor_tells_who_wrote_to_it_and_whether_it_was_freed():
    x = leaf([1.0])
    y = x.exp()
    z = y * y
    y.add_(1)
    with pytest.raises(ModifiedInPlaceError) as error:
        _ = z.grad_fn._saved_self
    assert [site.expression() for _, site in error.value.places] == ["y * y", "y.add_(1)"]
    z = x * x
    z.backward()
    with pytest.raises(FreedGraphError, match="second time"):
        _ = z.grad_fn._saved_self


# Hooks


def test_hooks_decide_what_is_kept():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with graph.saved_tensors_hooks(lambda tensor: tensor.detach().tolist(), lambda kept: mt.tensor(kept) * 10):
        z = (x * y).sum()
    z.backward()
    assert x.grad.tolist() == [30.0, 40.0]
    assert y.grad.tolist() == [10.0, 20.0]


def test_the_graph_lets_go_of_what_was_packed():
    x = leaf([1.0])
    with graph.saved_tensors_hooks(lambda tensor: tensor.detach().tolist(), lambda kept: mt.tensor(kept)):
        middle = x * 2
        out = middle.exp() * middle
    gone = weakref.ref(middle)
    del middle
    gc.collect()
    assert gone() is None
    out.backward()
    assert x.grad.item() == pytest.approx(2 * np.exp(2.0) * (1 + 2.0))


def test_an_unpacked_tensor_has_the_history_of_the_one_that_was_packed():
    x = leaf([2.0])
    with graph.saved_tensors_hooks(keep, as_it_is):
        y = x * 3
        z = y * y
    assert z.grad_fn._saved_self.grad_fn is y.grad_fn
    first = mt.autograd.grad(z, x, create_graph=True)[0]
    assert mt.autograd.grad(first, x)[0].item() == 18.0


def test_an_unpacked_leaf_leads_to_the_leaf():
    x = leaf([2.0])
    with graph.saved_tensors_hooks(keep, as_it_is):
        z = x * x
    saved = z.grad_fn._saved_self
    assert saved is not x
    assert saved.is_leaf
    (saved * 5).backward()
    assert x.grad.item() == 5.0


def test_the_result_of_a_write_into_a_view_leads_through_the_base():
    x = leaf([1.0, 2.0])
    with graph.saved_tensors_hooks(keep, as_it_is):
        y = x * 1
        y[0:1].exp_()
    out = y.sum()
    first = mt.autograd.grad(out, x, create_graph=True)[0]
    assert first.tolist() == pytest.approx([np.e, 1.0])
    assert mt.autograd.grad(first.sum(), x)[0].tolist() == pytest.approx([np.e, 0.0])


def test_hooks_belong_to_their_thread():
    packed = []
    x = leaf([1.0])
    with graph.saved_tensors_hooks(lambda tensor: packed.append(tensor) or tensor.detach(), as_it_is):
        thread = threading.Thread(target=lambda: x * x)
        thread.start()
        thread.join()
        assert packed == []
        _ = x * x
    assert len(packed) == 2


def test_numbers_are_not_packed():
    packed = []
    with graph.saved_tensors_hooks(lambda tensor: packed.append(tensor) or tensor.detach(), as_it_is):
        _ = 2 * leaf([1.0]) / 3
        mt.where(leaf([1.0]) > 0, leaf([1.0]), 0.0)
    assert [tensor.dtype for tensor in packed] == [mt.bool]


def test_one_context_may_be_entered_again():
    packed = []
    hooks = graph.saved_tensors_hooks(lambda tensor: packed.append(tensor) or tensor.detach(), as_it_is)
    with hooks, hooks:
        _ = leaf([1.0]).exp()
    with hooks:
        _ = leaf([1.0]).exp()
    _ = leaf([1.0]).exp()
    assert len(packed) == 2


def test_hooks_must_be_functions():
    with pytest.raises(TypeError, match="must be callable"), graph.saved_tensors_hooks(1, 2):
        pass
    raw = leaf([1.0]).exp().grad_fn._raw_saved_result
    with pytest.raises(TypeError, match="must be callable"):
        raw.register_hooks(1, 2)


def test_what_was_packed_is_recorded_as_it_was_and_the_hook_runs_once():
    unpacked = []
    x = leaf([2.0])
    with graph.saved_tensors_hooks(keep, lambda kept: unpacked.append(kept) or kept), mt.record() as recorder:
        y = x.exp()
        y.backward()
    (use,) = recorder.recording.passes[0].steps[0].saved
    np.testing.assert_allclose(use.value, [np.exp(2.0)], rtol=1e-6)
    assert use.version_now == use.ref.version
    assert len(unpacked) == 1


def test_a_recording_that_begins_later_knows_nothing_of_what_was_packed():
    x = leaf([2.0])
    with graph.saved_tensors_hooks(keep, as_it_is):
        y = x * x.exp()
    recording = mt.record(y.backward)
    assert recording.passes[0].error is None
    assert all(step.saved == () for step in recording.passes[0].steps)


# On disk


def test_saved_tensors_spill_to_files_that_go_with_the_graph(tmp_path):
    x = leaf([1.0, 2.0])
    with graph.save_on_disk(tmp_path):
        y = (x * x).exp()
    assert len(list(tmp_path.glob("*.npy"))) == 3
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([2 * np.e, 4 * np.exp(4.0)])
    assert list(tmp_path.iterdir()) == []


def test_files_go_too_if_backward_never_runs(tmp_path):
    with graph.save_on_disk(tmp_path):
        y = leaf([1.0]).exp()
    del y
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), graph.save_on_disk(tmp_path / "nowhere"):
        _ = leaf([1.0]).exp()


# Disabled


def test_disabled_hooks_raise_the_given_message():
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match=r"^not here$"), graph.save_on_disk():
            pass
        assert leaf([1.0]).exp().grad_fn._saved_result.requires_grad


# Writing


def test_what_is_saved_is_copied_before_it_is_overwritten():
    x = leaf([1.0, 2.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x * 3
        z = (y * y).sum()
        y[0] = 100.0
        y.detach().zero_()
        z.backward()
    assert x.grad.tolist() == [18.0, 36.0]


def test_what_an_operation_overwrites_itself_is_copied_too():
    x = leaf([3.0])
    with graph.allow_mutation_on_saved_tensors():
        y = x * 1
        y.mul_(y)
        y.backward()
    assert x.grad.item() == 6.0


def test_nothing_is_copied_where_nothing_is_written():
    x = leaf([3.0])
    with graph.allow_mutation_on_saved_tensors():
        z = x * x
        assert z.grad_fn._saved_self.array is x.array
        z.backward()


def test_the_graph_must_be_used_where_it_was_made():
    x = leaf([3.0])
    with graph.allow_mutation_on_saved_tensors():
        z = x * x
    with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors'"):
        z.backward()


def test_without_the_context_an_operation_that_overwrites_what_it_saved_is_an_error():
    y = leaf([3.0]) * 1
    y.mul_(y)
    with pytest.raises(ModifiedInPlaceError) as error:
        y.backward()
    assert [site.expression() for _, site in error.value.places] == ["y.mul_(y)", "y.mul_(y)"]
