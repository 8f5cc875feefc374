"""Finding: operations, names, operands, shapes and lines."""

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, bar, shown, stepper
from tui.time.cursor import StepCursor
from tui.time.search import matches


@pytest.mark.parametrize(
    ("text", "moments"),
    [
        ("mul", (4, 6)),
        ("MulBack", (4, 6)),
        ("z", (4,)),
        ("x", (5, 6, 8)),
        (":5", (4, 5, 6)),
        ("%3", (4,)),
        ("nope", ()),
        ("", ()),
    ],
)
def test_matches_in_the_backward_part(text, moments):
    assert matches(StepCursor.open(handmade.diamond()), text) == moments


def test_matches_in_the_forward_part_while_there():
    assert matches(StepCursor.open(handmade.diamond()).move(-1), "mul") == (1, 3)


def test_shapes():
    cursor = StepCursor.open(handmade.chain(4))
    found = matches(cursor, "(3,)")
    assert found
    shapes = {cursor.recording.value(cursor.timeline.node(cursor.to_moment(m).node).outputs[0]).shape
              for m in found if cursor.timeline.node(cursor.to_moment(m).node).outputs}  # fmt: skip
    assert shapes == {(3,)}


async def test_slash_finds_n_goes_on_and_capital_n_back():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("slash", *"mul", "enter")
        assert bar(pilot.app) == "step 1 of 5"
        await pilot.press("n")
        assert bar(pilot.app) == "step 3 of 5"
        await pilot.press("n")
        assert bar(pilot.app) == "step 1 of 5", "around the end"
        await pilot.press("N")
        assert bar(pilot.app) == "step 3 of 5"


async def test_the_heading_says_which_match_this_is():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("slash", *"mul", "enter")
        assert shown(pilot.app, "Heading").endswith("mul: 1 of 2   step 1 of 5")
        await pilot.press("N")
        assert shown(pilot.app, "Heading").endswith("mul: 2 of 2   step 3 of 5")
        await pilot.press("right")
        assert "mul" not in shown(pilot.app, "Heading")


async def test_a_search_without_a_match_says_so():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("slash", *"conv", "enter")
        assert "'conv' does not occur in this pass" in shown(pilot.app, "#problem")
