"""Where NaN and infinity begin, and how far they spread."""

import numpy as np
from hypothesis import HealthCheck, given, settings

import microtape as mt
from tests.support import handmade
from tests.support.random_recordings import recordings
from tui.time.cursor import StepCursor
from tui.time.origins import is_finite, origins


def found(program):
    """The origins of a program's only pass: moment, kind, and the number of moments reached."""
    with mt.record() as recorder:
        program()
    timeline = StepCursor.open(recorder.recording).timeline
    start = len(timeline.forward)
    return [
        (f"step {one.moment - start}" if one.moment > start else f"operation {one.moment}", one.kind, len(one.reached))
        for one in origins(timeline)
    ]


def leaf(value):
    return mt.tensor(value, requires_grad=True)


def test_an_infinite_slope_begins_once_and_reaches_the_leaf():
    x = leaf([0.0, 0.0])
    assert found(lambda: (x * x).sum().sqrt().backward()) == [("step 1", "infinity", 3)]


def test_a_result_that_is_not_finite_is_the_origin_of_the_gradients_that_use_it():
    x = leaf([0.0, 1.0])
    assert found(lambda: x.log().exp().log().sum().backward())[0][:2] == ("operation 1", "infinity")


def test_two_origins_are_told_apart_and_share_what_both_reach():
    x, y = leaf(-1.0), leaf(0.0)
    # x reaches the sum; y also its own gradient: log(0) and its slope 1/0 are one origin
    assert found(lambda: (x.log() + y.log()).backward()) == [("operation 1", "NaN", 1), ("operation 2", "infinity", 3)]


def test_data_with_nan_begins_at_its_first_use_only():
    x = leaf([1.0, 2.0])
    data = mt.tensor([np.nan, 1.0])
    ((moment, kind, reached),) = found(lambda: ((x * data) + (x + data)).sum().backward())
    assert (moment, kind) == ("operation 1", "NaN")
    assert reached >= 4


def test_a_seed_with_nan_begins_at_the_first_step():
    x = leaf([1.0, 2.0])
    assert found(lambda: (x * 2).backward(mt.tensor([np.nan, 1.0]))) == [("step 1", "NaN", 1)]


def test_a_write_through_a_view_passes_its_origin_on_to_the_base():
    x = leaf(0.0)

    def program():
        y = mt.zeros(2)
        y[0].add_(x.log())
        (y * 2).sum().backward()

    assert [(moment, kind) for moment, kind, _ in found(program) if moment.startswith("op")] == [
        ("operation 1", "infinity")
    ]


def test_what_is_repaired_goes_no_further():
    x = leaf([0.0, 1.0])
    assert found(lambda: (x.log().detach().clamp(min=-5.0) * x).sum().backward()) == [("operation 1", "infinity", 0)]


def test_nothing_begins_where_all_is_finite():
    assert origins(StepCursor.open(handmade.diamond()).timeline) == ()


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(recordings())
def test_every_moment_that_is_not_finite_is_an_origin_or_reached_by_one(recording):
    for index in range(max(len(recording.passes), 1)):
        timeline = StepCursor.open(recording, index).timeline
        found = origins(timeline)
        begun, reached = {one.moment for one in found}, {moment for one in found for moment in one.reached}
        assert not begun & reached
        assert begun | reached == set(not_finite(timeline))


def not_finite(timeline):
    """Naively: the moments whose results are not finite."""
    for i, node in enumerate(timeline.forward):
        if not all(is_finite(timeline.recording.value(ref)) for ref in timeline.node(node).outputs):
            yield i + 1
    for i, step in enumerate(timeline.steps):
        is_leaf = timeline.node(step.node).variable is not None
        results = step.grad_outputs if is_leaf else [one.term for one in step.deliveries]
        if not all(map(is_finite, results)):
            yield len(timeline.forward) + i + 1
