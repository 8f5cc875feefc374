"""Lanes: a column for every live value, with a line from where the value is made to where it is used."""

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.model.model import EdgeRecord
from tests.support.recordings import handmade
from tui.time.lane_allocation import Rows
from tui.time.lanes import CONNECTORS, DOWN, LEFT, RIGHT, TO_ASCII, UP, Lanes

ARMS = {text: arms for arms, text in CONNECTORS.items() if bin(arms).count("1") != 1}


@dataclass
class Node:
    """As much of a node as lanes look at."""

    id: int
    edges: list[EdgeRecord] = field(default_factory=list)
    kind: str = "operation"


def drawing(nodes, limit=None, ascii=False):
    lanes = Lanes.of(nodes, Rows.single([node.id for node in nodes]))
    return [lanes.draw(row, limit, ascii=ascii)[0].rstrip() for row in range(len(nodes))]


def program(*operands):
    """Node i uses the nodes in operands[i]."""
    return [Node(i, [EdgeRecord(node, 0) for node in used]) for i, used in enumerate(operands)]


def test_a_chain_is_one_straight_line():
    assert drawing(program([], [0], [1], [2])) == ["●", "●", "●", "●"]


def test_a_value_used_later_passes_by_and_joins_from_the_right():
    assert drawing(program([], [], [0, 1])) == ["●", "│ ●", "●─╯"]


def test_a_value_used_again_is_tapped():
    assert drawing(program([], [0], [0, 1])) == ["●", "├─●", "●─╯"]


def test_a_line_in_the_way_is_passed_behind():
    assert drawing(program([], [], [], [0, 2], [1, 3])) == ["●", "│ ●", "│ │ ●", "●─│─╯", "●─╯"]


def test_several_operands_join_at_once():
    assert drawing(program([], [], [], [0, 1, 2])) == ["●", "│ ●", "│ │ ●", "●─┴─╯"]


def test_both_operands_the_same_are_one_line():
    assert drawing(program([], [0, 0])) == ["●", "●"]


def test_further_outputs_start_lanes_of_their_own():
    nodes = [Node(0), Node(1, [EdgeRecord(0, 0)]), Node(2, [EdgeRecord(1, 0), EdgeRecord(0, 1)])]
    assert drawing(nodes) == ["●─╮", "● │", "●─╯"]


def test_leaves_are_marked_and_have_no_lanes():
    nodes = [Node(0, kind="accumulate"), Node(1, [EdgeRecord(0, 0)]), Node(2, [EdgeRecord(1, 0), EdgeRecord(0, 0)])]
    assert drawing(nodes) == ["○", "●", "●"]


def test_a_freed_lane_is_used_again():
    assert Lanes.of(program([], [0], [], [1, 2], [], [3, 4]), Rows.single(range(6))).count == 2


def test_ascii_has_the_same_shape():
    nodes = program([], [], [0], [0, 1], [2, 3])
    assert drawing(nodes, ascii=True) == [row.translate(TO_ASCII) for row in drawing(nodes)]
    assert all(row.isascii() for row in drawing(nodes, ascii=True))


def test_too_many_lanes_share_the_last_column():
    nodes = program([], [], [], [], [], [0, 1, 2, 3, 4])
    assert drawing(nodes, limit=3) == ["●", "│ ●", "│ │ ●", "│ │ ●", "│ │ ●", "●─┴─╯"]


def test_the_diamond():
    assert drawing(handmade.diamond().nodes) == ["○", "○", "●", "│ ●", "●─╯"]


@st.composite
def programs(draw):
    size = draw(st.integers(1, 25))
    return program(
        *(draw(st.lists(st.integers(0, i - 1), max_size=4)) if i else [] for i in range(size)),
    )


@given(programs())
def test_every_line_is_whole(nodes):
    """Whatever leaves a row downwards arrives in the row below, and whatever leaves sideways arrives beside."""
    lanes = Lanes.of(nodes, Rows.single([node.id for node in nodes]))
    width = max(lanes.width(), 1)
    grid = [lanes.draw(row)[0].ljust(width) for row in range(len(nodes))]
    for above, below in itertools.pairwise(grid):
        for a, b in zip(above, below, strict=True):
            if "●" not in (a, b):
                assert bool(ARMS[a] & DOWN) == bool(ARMS[b] & UP), (above, below)
    for row in grid:
        for a, b in itertools.pairwise(row):
            if "●" not in (a, b) and "│" not in (a, b):
                assert bool(ARMS[a] & RIGHT) == bool(ARMS[b] & LEFT), row


@given(programs())
def test_no_two_live_values_share_a_lane(nodes):
    lanes = Lanes.of(nodes, Rows.single([node.id for node in nodes]))
    for first, last in lanes.spans:
        for end, start in zip(last, first[1:], strict=False):
            assert end <= start


@given(programs())
def test_each_row_joins_exactly_the_values_it_uses(nodes):
    lanes = Lanes.of(nodes, Rows.single([node.id for node in nodes]))
    last_use = {edge.node: node.id for node in nodes for edge in node.edges}
    for node in nodes:
        row = lanes.row(node.id)
        used = {edge.node for edge in node.edges}
        assert len(row.ends) == sum(last_use[value] == node.id for value in used)
        assert len(row.taps) == sum(last_use[value] != node.id for value in used)


@pytest.mark.parametrize("limit", [1, 2, 3, None])
def test_any_row_of_a_long_tape_is_drawn_within_the_width(limit):
    recording = handmade.chain(300, width=7)
    lanes = Lanes.of(recording.nodes, Rows.single(range(len(recording.nodes))))
    for row in range(0, 300, 7):
        text, glyph = lanes.draw(row, limit)
        assert len(text) == lanes.width(limit)
        assert text[glyph] in "●○"
