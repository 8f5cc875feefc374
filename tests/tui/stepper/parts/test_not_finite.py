"""NaN and infinity as a part of the stepper."""

import microtape as mt
from tests.support import handmade
from tests.tui.stepper.parts.fakes import FakeBackground, FakeStepper
from tui.stepper.parts.not_finite import NotFinite


def made(recording):
    stepper = FakeStepper(recording)
    return stepper, stepper.add(NotFinite(stepper, FakeBackground()))


def with_nan():
    x, y = mt.tensor([0.0, 0.0], requires_grad=True), mt.tensor(0.0, requires_grad=True)
    return mt.record(((x * x).sum().sqrt() + y.log()).backward)


def test_it_looks_after_the_first_paint_and_warns():
    stepper, part = made(with_nan())
    part.next_nan()
    assert stepper.notices == ["The search for NaN and infinity is still running."]
    assert (part.moments, part.warning) == (None, "")
    stepper.timers[0].callback()
    assert part.warning == "NaN or Inf: <next_nan>"


def test_the_key_goes_round():
    stepper, part = made(with_nan())
    stepper.timers[0].callback()
    seen = []
    for _ in range(len(part.moments) + 1):
        part.next_nan()
        seen.append(stepper.cursor.position)
    assert seen == [*part.moments, part.moments[0]]


def test_from_elsewhere_the_first_one_comes_first():
    stepper, part = made(with_nan())
    stepper.timers[0].callback()
    part.next_nan()
    part.next_nan()
    stepper.cursor = stepper.cursor.move(-1).move(1)
    part.next_nan()
    assert stepper.cursor.position == part.moments[0]


def test_the_only_origin_is_said_to_be_the_only_one():
    x = mt.tensor([0.0, 0.0], requires_grad=True)
    stepper, part = made(mt.record((x * x).sum().sqrt().backward))
    stepper.timers[0].callback()
    part.next_nan()
    there = stepper.cursor
    assert (len(part.moments), stepper.notices) == (1, [])
    part.next_nan()
    assert stepper.notices == ["No other NaN or infinity begins in this pass."]
    assert stepper.cursor is there
    stepper.cursor = there.move(-1)
    part.next_nan()
    assert stepper.cursor.position == there.position
    assert len(stepper.notices) == 1


def test_where_all_is_finite_it_says_so():
    stepper, part = made(handmade.diamond())
    stepper.timers[0].callback()
    part.next_nan()
    assert (part.warning, stepper.notices) == ("", ["There is no NaN or infinity in this pass."])


def test_a_pass_is_looked_through_once():
    stepper, part = made(handmade.twice())
    stepper.timers[0].callback()
    first = stepper.cursor
    stepper.cursor = first.to_pass(1)
    assert part.moments is None
    stepper.cursor = first
    assert part.moments == ()
    assert len(stepper.timers) == 2
