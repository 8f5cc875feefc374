"""Finding: operations, names, operands, shapes and lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, bar, shown, stepper
from tui.time.cursor import StepCursor
from tui.time.search import found_nodes, matches


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


SHAPES = st.lists(st.lists(st.sampled_from([2, 3, 22, 23]), max_size=4).map(tuple), min_size=1, max_size=4)


@given(SHAPES, st.lists(st.sampled_from([2, 3, 22, 23]), min_size=1, max_size=3), st.sampled_from(["x", "×", " x "]))
def test_sizes_are_found_anywhere_in_a_shape_and_a_shape_in_brackets_only_as_a_whole(shapes, sizes, sign):
    with mt.record() as recorder:
        leaves = [mt.ones(shape, requires_grad=True) for shape in shapes]
        sum(one.sum() for one in leaves).backward()
    cursor = StepCursor.open(recorder.recording)

    def has(shape):
        return any(list(shape[i : i + len(sizes)]) == sizes for i in range(len(shape)))

    def found(text):
        nodes = [cursor.timeline.node(one) for one in found_nodes(cursor, text)]
        tensors = [recorder.recording.tensors[one.variable].shape for one in nodes if one.variable is not None]
        return sorted(tensors)

    if len(sizes) > 1:  # a number alone may occur in a name
        assert found(sign.join(map(str, sizes))) == sorted(filter(has, shapes))
    assert found(str(tuple(sizes))) == sorted(one for one in shapes if one == tuple(sizes))


def test_a_number_alone_is_a_size_if_no_text_has_it():
    with mt.record() as recorder:
        fc22, other = mt.ones(3, 40, requires_grad=True), mt.ones(22, requires_grad=True)
        (fc22.sum() + other.sum()).backward()
    cursor = StepCursor.open(recorder.recording)
    by_name, by_size = (
        {cursor.timeline.node(one).variable for one in found_nodes(cursor, text)} for text in ("22", "40")
    )
    first, second = (
        next(one.id for one in recorder.recording.tensors if one.name == name) for name in ("fc22", "other")
    )
    assert by_name >= {first}
    assert second not in by_name
    assert by_size == {first}


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
