"""The versions of a tensor in a recording: made-up programs, compared with what the engine counts and says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.errors import AutogradError
from microtape.recording.model.model import TensorRef
from microtape.recording.model.versions import Versions


class Bump(mt.autograd.Function):
    """Writes twice and marks once: three versions in one call."""

    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


def unrecorded(x):
    with mt.no_grad():
        x.sub_(1)


def of_a_view(x):
    x[1:].mul_(3)


def of_a_detached(x):
    x.detach().add_(5)


WRITES = {  # what writes, the same in numpy, how many versions that counts
    "add_": (lambda x: x.add_(1), lambda a: a + 1, 1),
    "set": (lambda x: x.__setitem__(0, 7), lambda a: np.array([7, *a[1:]]), 1),
    "view": (of_a_view, lambda a: np.array([a[0], *(a[1:] * 3)]), 1),
    "no_grad": (unrecorded, lambda a: a - 1, 1),
    "detached": (of_a_detached, lambda a: a + 5, 1),
    "function": (Bump.apply, lambda a: (a + 1) * 2, 3),
    "copy_": (lambda x: x.copy_(mt.tensor([3.0, 2.0, 1.0])), lambda a: np.array([3.0, 2.0, 1.0]), 1),
}
READS = {  # what reads, and whether it saves what it read for backward
    "sin": (lambda x: x.sin(), True),
    "square": (lambda x: x * x, True),
    "sin of a view": (lambda x: x[:2].sin(), True),
    "sum": (lambda x: x.sum(), False),
    "plus": (lambda x: x + 1, False),
}


def run(actions):
    """Runs the actions on one tensor and calls backward; returns what happened, by the engine and by numpy."""
    w = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    failed = False
    with mt.record() as recorded:
        x = w * 1
        twin, version = {0: np.array([1.0, 2.0, 3.0])}, 0
        results, read = [x.sum()], {0: 1}
        for action in actions:
            if action in WRITES:
                write, same, count = WRITES[action]
                write(x)
                twin[version + count] = same(twin[version])
                version += count
            else:
                results.append(READS[action][0](x).sum())
                read[version] = read.get(version, 0) + (action != "sin of a view")
        assert x._version == version
        try:
            sum(results, x.sum()).backward()
        except AutogradError:
            failed = True
    return recorded.recording, twin, read, failed


def tensor_named(recording, name):
    return next(one.id for one in recording.tensors if one.name == name)


@given(st.lists(st.sampled_from([*WRITES, *READS]), max_size=7))
def test_versions_and_values_are_those_that_numpy_computes_and_a_saver_is_lost_where_backward_fails(actions):
    recording, twin, read, failed = run(actions)
    versions = Versions(recording)
    x = tensor_named(recording, "x")
    found = {one.number: one for one in versions.of(x)}
    assert set(found) == set(twin)
    for number, one in found.items():
        assert np.allclose(versions.value(x, number), twin[number])
        if number:
            before, after = versions.change(one.write)
            assert one.write.after == number
            assert np.allclose(before, twin[one.write.before])
            assert np.allclose(after, twin[number])
        assert len(
            [reader for reader in one.readers if recording.nodes[reader].op in ("sin", "mul", "sum", "add")]
        ) >= (read.get(number, 0))
    lost = [saver for one in found.values() for saver in one.savers if saver.fate == "lost"]
    assert bool(lost) == failed


@given(st.lists(st.sampled_from([*WRITES, *READS]), max_size=7))
def test_what_a_write_overwrote_was_saved_by_the_savers_of_that_version(actions):
    recording, *_ = run(actions)
    versions = Versions(recording)
    of_x = versions.of(tensor_named(recording, "x"))
    for one in of_x:
        if one.write is not None:
            earlier = [
                saver for other in of_x if one.write.before <= other.number < one.number for saver in other.savers
            ]
            assert list(versions.overwritten(one.write)) == earlier
            node, border = one.write.node, one.write.border
            assert one.write == (versions.by_border[border] if node is None else versions.by_node[node][0])


def recorded(run):
    with mt.record() as recorder:
        run()
    return recorder.recording


def test_a_function_counts_from_the_version_before_its_call():
    recording, *_ = run(["add_", "function"])
    write = Versions(recording).of(tensor_named(recording, "x"))[-1].write
    assert (write.op, write.before, write.after) == ("Bump", 1, 4)
    node = recording.nodes[write.node]
    assert node.operands[0].ref == TensorRef(write.tensor, 1)


def test_a_function_that_marks_its_second_argument_is_found_too():
    class Second(mt.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            b.mul_(3)
            ctx.mark_dirty(b)
            return a * 2, b

        @staticmethod
        def backward(ctx, ga, gb):
            return 2 * ga, 3 * gb

    def run():
        w = mt.tensor(2.0, requires_grad=True)
        b = w * 1
        a, b = Second.apply(w, b)
        (a + b).backward()

    recording = recorded(run)
    write = Versions(recording).by_node[2][0]
    assert (write.before, write.after) == (0, 2)
    assert [float(one) for one in Versions(recording).change(write)] == [2.0, 6.0]


def test_the_memory_of_a_view_and_of_a_detached_tensor_is_that_of_its_owner():
    recording, *_ = run(["view", "detached", "sin"])
    versions = Versions(recording)
    x = tensor_named(recording, "x")
    others = [one.id for one in recording.tensors if one.base == x] + [
        border.outputs[0].tensor for border in recording.borders if border.op == "detach"
    ]
    assert len(others) >= 2
    assert {versions.owner(one) for one in others} == {x}
    assert all(versions.of(one) == versions.of(x) for one in others)


def test_a_write_to_a_buffer_without_history_is_seen_if_a_node_has_saved_it():
    def run():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        buffer = mt.tensor([3.0, 4.0])
        loss = (w * buffer).sum()
        buffer.zero_()
        with pytest.raises(AutogradError):
            loss.backward()

    recording = recorded(run)
    first, second = Versions(recording).of(tensor_named(recording, "buffer"))
    assert [one.fate for one in first.savers] == ["lost"]
    assert second.write.op == "zero"
    assert [one.tolist() for one in Versions(recording).change(second.write)] == [[3, 4], [0, 0]]


def test_a_saver_that_backward_does_not_reach_loses_nothing():
    def run():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        x = w * 1
        x.exp()  # saves its result only
        x.sin()  # saves x, and is not part of the loss
        x.add_(1)
        x.sum().backward()

    recording = recorded(run)
    write = next(iter(Versions(recording).by_node.values()))[0]
    assert [one.fate for one in Versions(recording).overwritten(write)] == ["unused"]


def test_an_update_after_the_pass_comes_too_late_to_harm_it():
    def run():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        (w * w).sum().backward()
        with mt.no_grad():
            w -= 0.1 * w.grad
        (w * w).sum().backward()

    recording = recorded(run)
    first, second = Versions(recording).of(tensor_named(recording, "w"))
    assert [one.fate for one in (*first.savers, *second.savers)] == ["intact", "intact"]
    assert recording.borders[second.write.border].kind == "no_grad"
    assert Versions(recording).uncounted(tensor_named(recording, "w")) == ()


def test_detaching_in_place_writes_nothing_but_whoever_saved_the_tensor_as_an_operand_lost_it():
    def run():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        h = w.exp()
        loss = h.sin().sum()
        h.detach_()
        with pytest.raises(AutogradError):
            loss.backward()

    recording = recorded(run)
    versions = Versions(recording)
    (write,) = versions.by_border.values()
    assert (write.before, write.after) == (0, 0)
    assert [recording.nodes[one.node].op for one in versions.overwritten(write)] == ["exp", "sin"]
    assert [one.fate for one in versions.overwritten(write)] == ["intact", "lost"]


def test_without_a_pass_a_saver_is_lost_if_the_tensor_was_written_to():
    def run():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        x = w * 1
        (y,) = (x.sin(),)
        x.add_(1)
        assert y is not None

    versions = Versions(recorded(run))
    assert [one.fate for one in versions.overwritten(versions.by_node[3][0])] == ["lost"]


def test_a_view_that_was_written_through_is_named():
    def run():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        x = w * 1
        v = x[1:]
        v.mul_(2)
        x.sum().backward()

    recording = recorded(run)
    (node,) = [one.id for one in recording.nodes if one.kind == "copy_slices"]
    assert Versions(recording).view_written(node) == tensor_named(recording, "v")
    assert Versions(recording).view_written(0) is None


def test_a_write_through_data_is_an_update_that_no_version_counts():
    def run():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2):
            (w * w).sum().backward()
            w.data -= 0.1 * w.grad
            with mt.no_grad():
                w -= 1
        (w * w).sum().backward()

    recording = recorded(run)
    versions = Versions(recording)
    w = tensor_named(recording, "w")
    assert [one.number for one in versions.of(w)] == [0, 1, 2]
    assert [one.passes for one in versions.uncounted(w)] == [1, 2]
    assert [one.is_counted for one in recording.updates] == [False, False]
