"""The policy for Python's cyclic garbage collector: whatever it changes, it puts back."""

import gc
import subprocess
import sys
import weakref
from time import perf_counter

import pytest

import microtape
from microtape.basics import collector


@pytest.fixture(autouse=True)
def untouched():
    """The collector as it was, afterwards."""
    was_on, threshold = gc.isenabled(), gc.get_threshold()
    yield
    assert (gc.isenabled(), gc.get_threshold()) == (was_on, threshold)


@pytest.mark.parametrize("policy", [collector.paused, collector.permanent])
def test_nothing_is_collected_inside(policy):
    with policy():
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.parametrize("policy", [collector.paused, collector.permanent])
def test_a_collector_that_was_off_stays_off(policy):
    gc.disable()
    try:
        with policy():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("policy", [collector.paused, collector.permanent, collector.often])
def test_an_error_inside_puts_it_back_too(policy):
    with pytest.raises(ZeroDivisionError), policy():
        raise ZeroDivisionError


def test_what_is_permanent_is_not_looked_through_again():
    with collector.permanent():
        kept = [object()]
    assert gc.get_freeze_count() > 0
    assert not any(one is kept for one in gc.get_objects())
    gc.unfreeze()


def test_often_lasts_as_long_as_its_block():
    with collector.often():
        assert gc.get_threshold() == collector.OFTEN


def test_a_threshold_that_the_user_sets_meanwhile_stays():
    before = gc.get_threshold()
    with collector.often():
        gc.set_threshold(123)
    assert gc.get_threshold()[0] == 123
    gc.set_threshold(*before)


class Step:
    """Something that is in a cycle."""


def test_the_cycles_of_a_program_whose_passes_are_recorded_do_not_pile_up(monkeypatch):
    monkeypatch.setattr("microtape.basics.collector.SELDOM", (10**9, 10, 10))  # never by Python itself
    alive, rounds, end = weakref.WeakSet(), 0, perf_counter() + 30
    weight = microtape.tensor([2.0], requires_grad=True)
    with microtape.record(until="nan"):
        while len(alive) == rounds and perf_counter() < end:
            step = Step()
            step.itself, step.loss = step, (weight * 3).sum()
            step.loss.backward()
            alive.add(step)
            rounds += 1
    assert len(alive) < rounds
    assert gc.get_freeze_count() == 0


EACH_BY_ITSELF = """\
import weakref
import microtape

class Step:
    pass

alive, rounds = weakref.WeakSet(), 0
weight = microtape.tensor([2.0], requires_grad=True)
while len(alive) == rounds < 3_000:
    with microtape.record() as recorder:
        step = Step()
        step.itself, step.loss = step, (weight * 3).sum()
        step.loss.backward()
    alive.add(step)
    rounds += 1
    assert recorder.recording.passes
    del step, recorder
assert len(alive) < rounds
"""


def test_where_each_pass_is_recorded_by_itself_python_collects_as_always():
    """In a process of its own: Python waits for a quarter more objects than there are, and pytest has a million."""
    ran = subprocess.run([sys.executable, "-c", EACH_BY_ITSELF], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_what_the_user_has_frozen_stays_and_is_counted_once(monkeypatch):
    asked = []
    monkeypatch.setattr(collector, "_has_frozen", False)
    monkeypatch.setattr(gc, "get_count", lambda: (10**6, 0, 0))
    monkeypatch.setattr(gc, "get_freeze_count", lambda: asked.append(1) or 5)
    monkeypatch.setattr(gc, "unfreeze", lambda: pytest.fail("the user's objects thaw"))
    for _ in range(3):
        with collector.paused():
            pass
    assert len(asked) == 1
