"""Every operation with every kind of argument can be recorded, saved, printed, stepped through and drawn."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import microtape as mt
from microtape.nn import functional as F  # noqa: N812 - as users write it
from microtape.recording import Recorder
from tests.parity_ops.rows import operands
from tests.parity_ops.table import ROWS
from tests.parity_ops.test_coverage import EXEMPT, mentioned, public
from tests.support.every_view import drawn, every_pane, printed, stepped, through_a_file
from tests.support.recorded_rules import contradictions
from tests.support.recordings.live import leaf

pytestmark = pytest.mark.filterwarnings("ignore")


def ran(row):
    """What a row's program computes: its outputs and gradients, and the error that ends it."""
    found, xs = [], operands(row, mt)
    try:
        mt.manual_seed(0)
        result = row.call(mt, *xs)
        zs = list(result) if isinstance(result, tuple | list) else [result]
        found += zs
        roots = [z for z in zs if z.requires_grad]
        if roots:
            mt.autograd.backward(roots, [mt.ones_like(z) for z in roots])
    except Exception as error:
        found.append(repr(error))
    return found + [x.grad for x in xs]


def same(a, b):
    if not isinstance(a, mt.Tensor):
        return a is None and b is None if a is None or b is None else str(a) == str(b)
    return isinstance(b, mt.Tensor) and np.array_equal(a.detach().numpy(), b.detach().numpy(), equal_nan=True)


def test_every_public_operation_is_in_the_table():
    names = mentioned()
    tested = {id(function) for name, function in public() if name in names}
    assert sorted({name for name, function in public() if id(function) not in tested} - set(EXEMPT)) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", range(30))
def test_recording_changes_no_result_and_misses_nothing(part):
    for row in ROWS[part::30]:
        expected = ran(row)
        with mt.record() as recorder:
            found = ran(row)
        assert recorder.recording.faults == (), row.name
        assert all(same(a, b) for a, b in zip(found, expected, strict=True)), row.name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", range(6))
def test_no_rule_contradicts_the_gradient_that_was_sent(part):
    assert contradictions(mt, Recorder, slice(part, None, 6)) == []


@pytest.mark.sampled(12)
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_row_can_be_shown(row, tmp_path):
    with mt.record() as recorder:
        ran(row)
    recording = through_a_file(recorder.recording, tmp_path)
    printed(recording)
    stepped(recording)
    drawn(recording)


@pytest.mark.sampled(97)
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_every_pane_of_a_row_can_be_shown(row):
    with mt.record() as recorder:
        ran(row)
    every_pane(recorder.recording)


class Colour(enum.IntEnum):
    RED = 1


class Hostile:
    """Whatever is asked of it raises."""

    def _no(self, *anything):
        raise RuntimeError("hostile")

    __eq__ = __repr__ = __str__ = __bool__ = __len__ = __iter__ = __format__ = __getattr__ = _no
    __hash__ = None


class Proxy(Hostile):
    """Even its class cannot be asked for."""

    __getattribute__ = Hostile._no


class HostileList(list):
    __len__ = __iter__ = __getitem__ = __bool__ = Hostile._no


class HostileDict(dict):
    __len__ = __iter__ = items = keys = Hostile._no


class Unhashable(type):
    __hash__ = None
    __eq__ = Hostile._no


class OfUnhashable(metaclass=Unhashable):
    pass


class HostileError(Exception):
    __str__ = Hostile._no


class Keep(mt.autograd.Function):
    """Doubles a tensor, whatever it is given besides."""

    @staticmethod
    def forward(ctx, x, *others):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, *[None] * (len(ctx.needs_input_grad) - 1)


ARGUMENTS = [
    1, True, 2.5, 1j, 10**5000, float("nan"), float("inf"), None, ..., slice(None), slice(1, 9, 2), "text", b"bytes",
    "x" * 100_000, np.arange(3.0), np.float16(1), np.longdouble(1), np.array(["a", object()], object), np.dtype("int8"),
    mt.float32, mt.tensor([1.0, 2.0]), [mt.tensor(1.0), [np.ones(2)]], (slice(None), ..., None), {"a": np.ones(3)},
    (np.ones(2), 3), (1,), mt.Size([2, 3]), mt.device("cpu"), np.random.default_rng(0), len, int, Keep, Colour.RED,
    lambda: 0, (i for i in "abc"), {1, 2}, range(3), slice(np.arange(2), None, np.arange(2)), Hostile(),
    HostileList([1]), HostileDict({1: 2}), OfUnhashable(), OfUnhashable, float("-inf"), {(1, 2): [{}]}, [[[[[[1]]]]]],
    "\ud800\n\x1b",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ARGUMENTS)))
def test_a_function_may_be_given_anything(number, tmp_path):
    argument = ARGUMENTS[number]
    x = leaf([1.0, 2.0])
    with mt.record() as recorder:
        Keep.apply(x, argument).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    recording = recorder.recording
    assert recording.faults == ()
    (node,) = [node for node in recording.nodes if node.kind == "function"]
    assert len(node.operands) == 2
    assert " at 0x" not in node.operands[1].text
    shown(recording, tmp_path)


def shown(recording, folder):
    recording = through_a_file(recording, folder)
    return "\n".join([printed(recording), *stepped(recording), drawn(recording)])


def normalised():
    x, w, b = leaf([[1.0, 2.0, 4.0], [3.0, 1.0, 0.0]]), leaf([1.0, 2.0, 3.0]), leaf([0.0, 1.0, 0.0])
    y = F.layer_norm(x, (3,), w, b) + F.batch_norm(x, None, None, w, b, training=True)
    (y + F.group_norm(x, 3, w, b)).square().sum().backward()
    return [x.grad, w.grad, b.grad]


def indexed():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    parts = [
        x[0],
        x[..., 1],
        x[:, None],
        x[[0, 0]],
        x[np.array([1, 0])],
        x[mt.tensor([True, False])],
        x[x > 2],
        x[-1, :1],
    ]
    sum(part.sum() for part in parts).backward()
    return [x.grad]


def written():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    y[0].mul_(2)
    y[:, 1] = np.array([5.0, 6.0])
    y.add_(x.detach(), alpha=3).clamp_(min=-1)
    y.data.mul_(0.5)
    y.sum(dim=-1, keepdim=True).mean().backward()
    return [x.grad]


def of_each_dtype():
    made = []
    for dtype in (mt.float16, mt.float32, mt.float64, mt.complex64, mt.complex128):
        x = mt.tensor([1, 2], dtype=dtype, requires_grad=True)
        (x * mt.tensor([2, 3]) + x * mt.tensor([True, False]) + 1).abs().sum().backward()
        made.append(x.grad)
    empty, zero = mt.zeros(0, 3, requires_grad=True), leaf(2.0)
    ((empty * 2).sum() + zero**2 + (zero * 2).to(mt.float16)).backward()
    return [*made, empty.grad, zero.grad]


PROGRAMS = [normalised, indexed, written, of_each_dtype]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_many_arguments(program, tmp_path):
    expected = program()
    with mt.record() as recorder:
        found = program()
    assert recorder.recording.faults == ()
    assert all(same(a, b) for a, b in zip(found, expected, strict=True))
    shown(recorder.recording, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_pane_of_a_program_of_many_arguments(program):
    with mt.record() as recorder:
        program()
    every_pane(recorder.recording)


def test_variables_and_hooks_may_be_hostile(tmp_path):
    hostile, proxy, listed, mapped, of_type = Hostile(), Proxy(), HostileList([1]), HostileDict({1: 2}), OfUnhashable()
    objects = [hostile, proxy, listed, mapped, of_type]

    class Hook:
        __getattribute__ = Hostile._no

        def __call__(self, gradient):
            return gradient * 2

    x = leaf([1.0, 2.0])
    x.register_hook(Hook())
    with mt.record() as recorder:
        (x * x).sum().backward()
    assert len(objects) == 5
    assert x.grad.tolist() == [4.0, 8.0]
    assert recorder.recording.faults == ()
    shown(recorder.recording, tmp_path)


@pytest.mark.parametrize("file", ["", "<made>", "/nowhere/x.py", "x\ud800.py", "é" * 300])
def test_code_may_come_from_any_file(file, tmp_path):
    space = {"x": leaf([1.0, 2.0])}
    with mt.record() as recorder:
        exec(compile("y = x * x; z = y.sum(); z.backward()", file, "exec"), space)
    assert recorder.recording.faults == ()
    assert space["x"].grad.tolist() == [2.0, 4.0]
    printed(recorder.recording)
    stepped(recorder.recording)
    drawn(recorder.recording)


def test_an_error_without_a_text_stays_the_users():
    def fail(gradient):
        raise HostileError

    x = leaf(1.0)
    x.register_hook(fail)
    with mt.record() as recorder, pytest.raises(HostileError):
        (x * 2).backward()
    (one,) = recorder.recording.passes
    assert one.error.type == "HostileError"
    assert recorder.recording.faults == ()
    assert "HostileError" in printed(recorder.recording)
