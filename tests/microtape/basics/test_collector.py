"""The policy for Python's cyclic garbage collector: whatever it changes, it puts back."""

import gc

import pytest

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
