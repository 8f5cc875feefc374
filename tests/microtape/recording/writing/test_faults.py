"""A fault of the recorder's: the program runs on, with the same results, and the recording says what is missing."""

from __future__ import annotations

import contextlib
import importlib
import signal

import numpy as np
import pytest

import microtape as mt
from microtape.recording.engines import ProgramRecorder
from microtape.recording.model.model import FAULT
from microtape.recording.script.run import record_script
from microtape.recording.writing import open_pass, tape
from microtape.recording.writing.aliases import Aliases
from microtape.recording.writing.calls import call
from microtape.recording.writing.calls.call_stack import CallStack
from microtape.recording.writing.faults import shielded
from microtape.recording.writing.recorder import Recorder
from microtape.tape.watch import Watcher
from tests.support.every_view import drawn, open_everywhere, printed, stepped, through_a_file
from tests.support.recordings.live import leaf

pytestmark = pytest.mark.faults

EVENTS = [name for name in vars(Watcher) if not name.startswith("_") and name in vars(Recorder)]


class Twice(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        return x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 + 0 * x, None


def network():
    w, v = leaf([1.0, 2.0, 3.0]), leaf(2.0)
    w.register_hook(lambda g: g * 2)
    h = Twice.apply(w, 2) * v
    target = h.detach() + 1
    with mt.no_grad():
        scale = h * 2
    h[0].mul_(3)
    number = h.sum().item()
    loss = ((h - target) * scale).sum() + mt.tensor(number)
    loss.backward()
    kept = w.detach()
    mt.optim.SGD([w, v], lr=0.1).step()
    mt.equal(kept, w)
    v.data = v.data * 2
    return [w.grad, v.grad]


def second_order():
    x = leaf([1.0, 2.0])
    (g,) = mt.autograd.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()
    with mt.no_grad():
        x -= 0.1 * x.grad
    (x * x).sum().backward()
    return [x.grad, g]


def nested():
    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.detach() ** 2

        @staticmethod
        def backward(ctx, g):
            with mt.enable_grad():
                copy = ctx.saved_tensors[0].detach().requires_grad_()
                (d,) = mt.autograd.grad(copy**2, copy)
            return g * d

    x = leaf(3.0)
    (Inner.apply(x) * 2).backward()
    return [x.grad]


PROGRAMS = [network, second_order, nested]


class PlantedError(Exception):
    """A fault of ours."""


def failing(function, at, *, after=False):
    """The function, which raises at its call number `at`, before or after it has done its work."""
    calls = 0

    def call(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == at and not after:
            raise PlantedError(f"call {at}")
        result = function(*args, **kwargs)
        if calls == at:
            raise PlantedError(f"call {at}")
        return result

    call.__name__ = function.__name__
    call.count = lambda: calls
    return call


def calls_of(monkeypatch, owner, name, program):
    """How often a method is called while a program is recorded."""
    wrapped = getattr(owner, name)
    counting = failing(getattr(wrapped, "__wrapped__", wrapped), 0)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, shielded(counting) if hasattr(wrapped, "__wrapped__") else counting)
        with mt.record() as recorder:
            program()
        assert recorder.recording
    return counting.count()


def check(monkeypatch, tmp_path, owner, name, program, at, *, after=False, everywhere=False):
    """Plant a fault, run the program, and look at what is left."""
    expected = program()
    wrapped = getattr(owner, name)
    planted = failing(getattr(wrapped, "__wrapped__", wrapped), at, after=after)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, shielded(planted) if hasattr(wrapped, "__wrapped__") else planted)
        with mt.record() as recorder:
            found = program()
        recording = recorder.recording
    for a, b in zip(found, expected, strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())
    assert recording.faults, (name, at)
    assert all(fault.startswith(FAULT) and "\n" not in fault for fault in recording.faults)
    assert "PlantedError: call" in recording.faults[0]
    shown = through_a_file(recording, tmp_path)
    texts = [printed(shown), *stepped(shown), drawn(shown)] if not everywhere else [open_everywhere(shown, tmp_path)]
    assert recording.faults[0] in texts[0]
    return recording


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("event", EVENTS)
def test_a_fault_in_any_event(event, program, monkeypatch, tmp_path):
    count = calls_of(monkeypatch, Recorder, event, program)
    for at in sorted({1, count // 2, count} & set(range(1, count + 1))):
        check(monkeypatch, tmp_path, Recorder, event, program, at)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("event", EVENTS)
def test_a_fault_in_every_call_of_an_event(event, program, after, monkeypatch, tmp_path):
    for at in range(1, calls_of(monkeypatch, Recorder, event, program) + 1):
        check(monkeypatch, tmp_path, Recorder, event, program, at, after=after, everywhere=at == 1)


INSIDE = [
    *[(tape.Tape, name) for name in ("add", "adopt", "ref", "_append", "_saved", "_entry", "operand", "find_names")],
    *[(open_pass.OpenPass, name) for name in ("__init__", "start", "deliver", "end", "copy", "finish")],
    *[(call.Call, name) for name in ("__init__", "add", "entered", "leaving", "returned", "record", "complete")],
    *[(CallStack, name) for name in ("function_called", "arguments_of", "_as_they_are", "_end")],
    *[(Aliases, name) for name in ("made", "writing", "used")],
    (tape, "frozen"), (open_pass, "copied"), (tape, "NodeEntry"), (tape, "TensorEntry"),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("owner", "name"), INSIDE)
def test_a_fault_in_the_middle_of_an_event(owner, name, program, monkeypatch, tmp_path):
    count = calls_of(monkeypatch, owner, name, program)
    for at in range(1, count + 1, max(count // 8, 1)):
        check(monkeypatch, tmp_path, owner, name, program, at)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("event", EVENTS)
def test_what_is_meant_for_the_program_comes_through(event, error, monkeypatch):
    def interrupt(*details):
        raise error

    interrupt.__name__ = event
    monkeypatch.setattr(Recorder, event, shielded(interrupt))
    with mt.record(), pytest.raises(error):
        network()


def test_what_a_signal_handler_raises_comes_through(monkeypatch):
    class TooLongError(Exception):
        pass

    def handler(number, frame):
        raise TooLongError

    def slow(*details):
        signal.raise_signal(signal.SIGTERM)

    slow.__name__ = "operation"
    monkeypatch.setattr(Recorder, "operation", shielded(slow))
    before = signal.signal(signal.SIGTERM, handler)
    try:
        with mt.record(), pytest.raises(TooLongError):
            leaf(1.0) * 2
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_users_error_stays_the_users_in_a_pass_that_was_cut_short(monkeypatch):
    def fail(gradient):
        raise ValueError("mine")

    x = leaf(1.0)
    x.register_hook(fail)
    monkeypatch.setattr(Recorder, "node_started", shielded(failing(Recorder.node_started.__wrapped__, 1)))
    with mt.record() as recorder, pytest.raises(ValueError, match="mine"):
        (x * 2).backward()
    (one,) = recorder.recording.passes
    assert (one.error.type, one.has_failed) == ("ValueError", True)
    assert recorder.recording.faults


def test_a_pass_is_kept_up_to_its_last_whole_step(monkeypatch, tmp_path):
    recording = check(monkeypatch, tmp_path, Recorder, "node_started", network, 3)
    (one,) = recording.passes
    assert len(one.steps) == 2
    assert one.is_cut_short
    assert recording.faults[0].startswith("not recorded: pass 1 from step 3 on. This is a fault of microtape")
    assert "recorded up to step 2" in printed(recording)
    assert "The recording of this pass ends here" in stepped(recording)[-1]
    assert "where the recording of this pass ends" in drawn(recording)


def test_a_recorder_that_joins_in_the_middle_of_a_pass_leaves_it_alone():
    recorders = []

    def join(gradient):
        recorders.append(Recorder().__enter__())

    x = leaf(2.0)
    y = x * x
    y.register_hook(join)
    (y * 3).backward()
    recorders[0].__exit__(None, None, None)
    assert x.grad == 12.0
    assert recorders[0].recording.passes == ()
    assert recorders[0].recording.faults == ()


@contextlib.contextmanager
def planted(argument):
    """In the process of a script: the event `argument` fails at its second call."""
    event = Recorder.__dict__[argument]
    setattr(Recorder, argument, shielded(failing(event.__wrapped__, 2)))
    try:
        yield
    finally:
        setattr(Recorder, argument, event)


SCRIPT = (
    "import microtape as mt\nx = mt.tensor(2.0, requires_grad=True)\ny = x * x * x\n{}y.backward()\nprint(x.grad)\n"
)


@pytest.mark.parametrize("event", ["operation", "node_started", "delivered"])
def test_a_script_runs_to_its_end(event, tmp_path):
    script, out, printed_to = tmp_path / "s.py", tmp_path / "s.tape", tmp_path / "printed"
    script.write_text(SCRIPT.format(""))
    with open(printed_to, "wb") as output:
        ended = record_script(script, out=out, passes="all", output=output, within=f"{__name__}:planted:{event}")
    assert printed_to.read_text() == "tensor(12.)\n"
    assert ended.exit_code == 7
    assert ended.message.startswith("not recorded: ")
    assert "PlantedError: call 2" in ended.message
    assert ended.recording == str(out)


def test_a_script_that_fails_itself_has_its_own_exit_code(tmp_path):
    script, out = tmp_path / "s.py", tmp_path / "s.tape"
    script.write_text(SCRIPT.format("1 / 0\n"))
    with open(tmp_path / "printed", "wb") as output:
        ended = record_script(script, out=out, output=output, within=f"{__name__}:planted:operation")
    assert ended.exit_code == 1
    assert "ZeroDivisionError" in ended.message
    assert "not recorded: " in ended.message


@pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
@pytest.mark.parametrize("asleep", [False, True])
def test_what_follows_a_pass_is_no_part_of_the_program(engine, asleep):
    def fails(index):
        raise KeyError("on purpose")

    module = importlib.import_module(engine)
    recorder = ProgramRecorder(after_pass=fails, engine=engine)
    with recorder:
        if asleep:
            recorder.sleep()
        w = module.tensor([2.0], requires_grad=True)
        (w * w).sum().backward()
    assert w.grad.tolist() == [4.0]
    assert [line for line in recorder.fault_lines if "what follows a pass" in line]
