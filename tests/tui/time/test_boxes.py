"""Graphs as boxes and lines: every line ends where it must, none runs into another, and the view follows the cursor."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import microtape as mt
from microtape import save
from tests.support.recordings import handmade, in_place
from tests.support.recordings.live import leaf, recorded
from tests.tui.stepper.test_app import LARGE, SMALL, bar, shown, stepper
from tui.commands.cli import main
from tui.time.box_layout import HEIGHT, lay_out
from tui.time.box_picture import NEAR, box_lines, neighbourhood
from tui.time.cursor import StepCursor
from tui.time.lanes import DOWN, LEFT, RIGHT, UP

WAYS = {UP: (-1, 0, DOWN), DOWN: (1, 0, UP), LEFT: (0, -1, RIGHT), RIGHT: (0, 1, LEFT)}


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 14))
    return {n: draw(st.lists(st.integers(0, n - 1), max_size=3, unique=True)) if n else [] for n in range(count)}


def connected(plan):
    """For every box, the boxes that lines lead down to from it; a line is followed straight through a crossing."""
    below = {}
    ports = {(box.y - 1, x): box.node for box in plan.boxes.values() for x in range(box.x, box.x + box.width)}
    for box in plan.boxes.values():
        found, seen = set(), set()
        stack = [(box.y + HEIGHT, x) for x in range(box.x, box.x + box.width)]
        stack = [at for at in stack if at in plan.cells and plan.cells[at].arms & UP]
        while stack:
            y, x = at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            arms = plan.cells[at].arms
            if at in ports and arms & DOWN:
                found.add(ports[at])
            for way, (dy, dx, back) in WAYS.items():
                beyond = (y + dy, x + dx)
                if arms & way and beyond in plan.cells and plan.cells[beyond].arms & back:
                    stack.append(beyond)
        below[box.node] = found
    return below


@given(graphs())
def test_boxes_do_not_overlap_and_operands_stand_above(graph):
    plan = lay_out(graph, dict.fromkeys(graph, 12))
    taken = set()
    for box in plan.boxes.values():
        here = {(y, x) for y in range(box.y, box.y + HEIGHT) for x in range(box.x, box.x + box.width)}
        assert not here & taken
        assert not here & plan.cells.keys()
        taken |= here
        assert box.x >= 0
        assert box.x + box.width <= plan.width
    for node, used in graph.items():
        assert all(plan.boxes[one].y < plan.boxes[node].y for one in used)


@given(graphs())
def test_every_use_is_a_line_from_box_to_box(graph):
    plan = lay_out(graph, dict.fromkeys(graph, 12))
    below = connected(plan)
    for node, used in graph.items():
        for one in used:
            assert node in below[one]


@given(graphs())
def test_no_line_has_a_loose_end(graph):
    plan = lay_out(graph, dict.fromkeys(graph, 12))
    edges = {(y, x) for box in plan.boxes.values() for x in range(box.x, box.x + box.width) for y in (box.y, box.y + 3)}
    for (y, x), cell in plan.cells.items():
        for way, (dy, dx, back) in WAYS.items():
            if cell.arms & way:
                beyond = (y + dy, x + dx)
                assert beyond in edges or plan.cells[beyond].arms & back


def test_a_chain_is_one_straight_line():
    plan = lay_out({0: [], 1: [0], 2: [1], 3: [2]}, {0: 12, 1: 12, 2: 14, 3: 16})
    assert len({x for _, x in plan.cells}) == 1


def test_a_leaf_stands_right_above_its_first_user():
    plan = lay_out({0: [], 1: [0], 2: [], 3: [1, 2]}, dict.fromkeys(range(4), 12))
    assert plan.boxes[2].y == plan.boxes[1].y


def test_the_neighbourhood_has_the_node_what_it_uses_and_what_uses_it():
    timeline = StepCursor.open(handmade.chain(300)).timeline
    near = neighbourhood(timeline, 150)
    assert len(near) == NEAR
    assert 150 in near
    assert {edge.node for edge in timeline.node(150).edges if edge.node is not None} <= set(near)
    assert near == tuple(sorted(near))


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_v_shows_boxes_that_follow_the_cursor(size):
    async with stepper(handmade.diamond()).run_test(size=size) as pilot:
        while pilot.app.screen.query_one("#tape").display:
            await pilot.press("v")
        await pilot.press("right", "right", "right")
        picture = shown(pilot.app, "#boxes")
        assert "┃%2 mul" in picture
        assert "∂ 5" in picture
        assert not pilot.app.screen.query_one("#tape").display
        await pilot.press("v")
        assert pilot.app.screen.query_one("#tape").display
        assert pilot.app.screen.query_one("#boxes").display
        await pilot.press("v")
        assert not pilot.app.screen.query_one("#boxes").display


async def test_in_a_large_graph_the_current_node_is_always_in_the_picture():
    async with stepper(handmade.chain(200)).run_test(size=LARGE) as pilot:
        await pilot.press("v")
        for _ in range(30):
            await pilot.press("right")
            assert f"%{pilot.app.screen.cursor.node} " in shown(pilot.app, "#boxes")


async def test_a_click_on_a_box_goes_there():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        view = pilot.app.screen.query_one("#boxes")
        lines = shown(pilot.app, "#boxes").splitlines()
        y = next(i for i, line in enumerate(lines) if "%3 add" in line)
        await pilot.click(view, offset=(lines[y].index("%3 add") + 2, y + 1))
        assert bar(pilot.app) == "step 2 of 5"


async def test_where_the_tape_leaves_room_the_boxes_are_there_from_the_start():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        assert "%4 mul" in shown(pilot.app, "#boxes")
    async with stepper(handmade.chain(60)).run_test(size=LARGE) as pilot:
        assert not pilot.app.screen.query_one("#boxes").display


async def test_in_the_forward_part_a_box_shows_the_value():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("home", "right")
        assert "= 6" in shown(pilot.app, "#boxes")
        assert "∂" not in shown(pilot.app, "#boxes")


DIAMOND = """\
╭────────────────╮   ╭────────────────╮
│x = 2           │   │y = 3           │
│∂ 21            │   │∂ 16            │
╰────────────────╯   ╰────────────────╯"""


def test_the_trace_draws_the_boxes_too(tmp_path, capfd):
    save(handmade.diamond(), tmp_path / "run.tape")
    assert main(["trace", str(tmp_path / "run.tape"), "--boxes"]) == 0
    out = capfd.readouterr().out
    assert out.startswith(DIAMOND)
    assert main(["trace", str(tmp_path / "run.tape"), "--boxes", "--step", "2", "--ascii"]) == 0
    out = capfd.readouterr().out
    assert out.isascii()
    assert "|d 6 (1/2)" in out
    assert "H%3 add" in out, "the current one in heavy lines"


def test_of_a_large_graph_it_draws_the_neighbourhood_and_says_so():
    lines = list(box_lines(StepCursor.open(handmade.chain(200)).goto("100")))
    assert any("%100 " in line for line in lines)
    assert re.fullmatch(r"\(\d+ of \d+ nodes: around this one\)", lines[-1])


def test_a_write_and_an_output_without_a_gradient_stand_in_the_frame():
    drawn = "\n".join(box_lines(StepCursor.open(in_place.dirty()).end()))
    assert "└─ v0 → v2 ───" in drawn
    assert "└─ × inside ───" in drawn
    drawn = "\n".join(box_lines(StepCursor.open(handmade.failing()).end()))
    assert "└─ v0 → v1, exp lost v0 " in drawn


def test_in_ascii_too_and_only_once_it_has_happened():
    cursor = StepCursor.open(in_place.dirty())
    drawn = "\n".join(box_lines(cursor, ascii=True))
    assert drawn.isascii()
    assert "+- v0 -> v2 ---" in drawn
    assert "v0 -> v2" not in "\n".join(box_lines(cursor.home(), ascii=True))


def test_a_name_of_wide_characters_fits_into_the_frame():
    def program():
        Clip.apply(leaf([1.0, 2.0]))[0].sum().backward()

    class Clip(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            mask = x > 1
            ctx.mark_non_differentiable(mask)
            return x * 1, mask

        @staticmethod
        def backward(ctx, g, g_mask):
            return g

    recording = recorded(program)
    function = next(one for one in recording.nodes if one.kind == "function")
    named = [
        one._replace(names=("幅" * 9,)) if one.id == function.outputs[1].tensor else one for one in recording.tensors
    ]
    lines = list(box_lines(StepCursor.open(dataclasses.replace(recording, tensors=tuple(named))).end()))
    (below,) = [line for line in lines if "×" in line]
    above = next(line for line in reversed(lines[: lines.index(below)]) if "┌" in line)
    assert cell_len(below) == cell_len(above)


def cells(line):
    """The character of each cell of the terminal; a wide one has two."""
    return [one for one in line for _ in range(cell_len(one))]


def boxes_left_open(lines):
    """The boxes whose sides do not stand below their upper corners."""
    for y, line in enumerate(lines):
        for found in re.finditer("[╭┏┌][─━]+[╮┓┐]", line):
            left = cell_len(line[: found.start()])
            corners = left, left + len(found[0]) - 1
            sides = [cells(one)[x : x + 1] for one in lines[y + 1 : y + 3] for x in corners]
            if any(side not in (["│"], ["┃"]) for side in sides):
                yield found[0], sides


def named(*names):
    recording = handmade.diamond()
    tensors = [one._replace(names=(names[i % len(names)],)) for i, one in enumerate(recording.tensors)]
    return dataclasses.replace(recording, tensors=tuple(tensors))


@given(st.lists(st.text("重みab_é", min_size=1, max_size=30), min_size=1, max_size=4), st.integers(0, 5))
def test_boxes_are_closed_whatever_the_names_are(names, steps):
    lines = list(box_lines(StepCursor.after(named(*names), steps)))
    assert sum(line.count("╭") + line.count("┏") + line.count("┌") for line in lines) >= 5
    assert not list(boxes_left_open(lines))


async def test_the_view_closes_boxes_around_wide_characters():
    async with stepper(named("重み", "x")).run_test(size=LARGE) as pilot:
        for key in ("home", "right", "end"):
            await pilot.press(key)
            lines = shown(pilot.app, "#boxes").splitlines()
            assert "重み" in "".join(lines)
            assert not list(boxes_left_open(lines))
