"""Inference mode: tensors made inside can never enter a graph."""

import asyncio
import threading

import pytest

import microtape as mt
from microtape.errors import InferenceTensorError
from microtape.tape.watch import watch


def made_inside():
    with mt.inference_mode():
        return mt.ones(2) * 2


def test_what_is_made_inside_is_marked_whatever_makes_it():
    x = mt.ones(2, 2, requires_grad=True)
    with mt.inference_mode():
        made = {
            "operation": x * 2,
            "unary": x.exp(),
            "several": x.max(1).values,
            "reduction": x.sum(),
            "factory": mt.zeros(3),
            "like": mt.ones_like(x),
            "random": mt.rand(2),
            "from data": mt.tensor([1.0]),
            "comparison": x > 1,
            "index": x.argmax(),
            "join": mt.cat([x, x]),
            "clone": x.clone(),
        }
    assert [name for name, tensor in made.items() if not tensor.is_inference()] == []
    assert not any(tensor.requires_grad for tensor in made.values())


def test_normal_tensors_stay_normal_inside():
    x = mt.ones(2)
    with mt.inference_mode():
        x.add_(1)
        view = x.view(2, 1)
    assert not x.is_inference()
    assert not view.is_inference()
    assert x._version == 1


def test_using_one_in_a_graph_names_the_line():
    x, a = mt.ones(2, requires_grad=True), made_inside()
    with pytest.raises(InferenceTensorError, match="cannot be saved for backward") as error:
        x * a
    assert [(role, site.expression()) for role, site in error.value.places] == [("needed for", "x * a")]
    (x + a).sum().backward()  # nothing has to be saved
    (x * a.clone()).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_it_cannot_be_written_to_outside_nor_require_grad_nor_tell_a_version():
    a = made_inside()
    with pytest.raises(RuntimeError, match="outside InferenceMode is not allowed"):
        a.add_(1)
    assert a.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        a.requires_grad_()
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = a._version
    with mt.inference_mode():
        a.add_(1)
    assert a.tolist() == [3.0, 3.0]


def test_modes_nest_and_are_restored_after_an_error():
    x = mt.ones(1, requires_grad=True)
    with mt.inference_mode(), mt.enable_grad():
        assert mt.is_grad_enabled()
        assert not (x * 2).requires_grad
    with pytest.raises(ZeroDivisionError), mt.inference_mode(), mt.enable_grad():
        _ = 1 / 0
    assert mt.is_grad_enabled()
    assert not mt.is_inference_mode_enabled()
    assert (x * 2).requires_grad


async def test_as_a_decorator_of_a_coroutine():
    @mt.inference_mode()
    async def work():
        before = mt.is_inference_mode_enabled()
        await asyncio.sleep(0)
        return before, mt.is_inference_mode_enabled()

    task = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    assert not mt.is_inference_mode_enabled()
    assert await task == (True, True)


def test_a_graph_can_be_walked_inside():
    x = mt.ones(2, requires_grad=True)
    y = (x * x).sum()
    with mt.inference_mode():
        y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_another_thread_records_meanwhile():
    seen = []

    def work():
        x = mt.ones(1, requires_grad=True)
        (x * x).backward()
        seen.append((x.grad.item(), mt.ones(1).is_inference()))

    with mt.inference_mode():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [(2.0, False)]


def test_a_recording_takes_inference_tensors_as_operands():
    x, a = mt.ones(2, requires_grad=True), made_inside()
    with mt.record() as recorder:
        (x + a).sum().backward()
    node = next(node for node in recorder.recording.nodes if node.name == "AddBackward0")
    assert recorder.recording.value(node.operands[1].ref).tolist() == [2.0, 2.0]


def test_nobody_watches_after_the_outermost_mode_is_left():
    before = watch.watchers
    with mt.inference_mode(), mt.inference_mode(), mt.inference_mode(False), mt.inference_mode():
        assert len(watch.watchers) == len(before) + 1
    assert watch.watchers == before


def test_nested_modes_mark_as_the_innermost_says():
    x = mt.ones(1)
    with mt.inference_mode(False):
        assert not (x * 2).is_inference()
    with mt.inference_mode():
        with mt.inference_mode():
            assert (x * 2).is_inference()
        assert (x * 2).is_inference()
        with mt.inference_mode(False):
            assert not (x * 2).is_inference()
            with mt.inference_mode(False):
                assert not (x * 2).is_inference()
        assert (x * 2).is_inference()
    assert not (x * 2).is_inference()
