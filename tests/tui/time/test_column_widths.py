"""How wide the tape's columns are: what stands in them decides."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
import tui
from microtape.recording.file.tape_file import load
from tui.shell.demos import EXAMPLES, file_of, names
from tui.time.column_widths import GAP, NARROW, Need, share_out
from tui.time.cursor import StepCursor
from tui.time.row_texts import RowCells, RowTexts

RECORDINGS = Path(tui.__file__).parent / "recordings"
TEXTS = ("op", "name", "operands", "shape")


def tape(name, width):
    """The rows of a bundled recording's tape at the end of its pass, as they are drawn."""
    timeline = StepCursor.open(load(RECORDINGS / f"{name}.tape")).timeline
    rows = RowTexts(timeline)
    cells, end = RowCells(rows, rows.columns(width)), StepCursor(timeline, timeline.last)
    return rows, ["".join([*cells.texts(node), cells.value(end, node).text, cells.gradient(end, node).text])
                  for node in timeline.rows]  # fmt: skip


@pytest.mark.parametrize(
    "name", [name for name in names() if file_of(name).parent == EXAMPLES]
)  # paths in modules are long
def test_with_the_width_that_is_wanted_nothing_is_cut(name):
    rows, _ = tape(name, 100)
    assert not any("…" in row for row in tape(name, rows.wanted(100))[1])


@pytest.mark.parametrize("name", ["mlp", "rnn", "linear", "gradient_penalty"])
def test_on_a_small_terminal_no_number_is_left_out_for_the_sake_of_a_name(name):
    rows, _ = tape(name, 77)
    cells, end = RowCells(rows, rows.columns(77)), StepCursor(rows.timeline, rows.timeline.last)
    for node in rows.timeline.rows:
        assert "…" not in (cells.value(end, node).text.strip(), cells.gradient(end, node).text.strip())


def test_names_come_before_long_lists_of_numbers():
    rows, drawn = tape("mlp", 97)
    assert any("log_probability scores, log_total" in row for row in drawn)
    assert rows.columns(200).gradient > rows.columns(97).gradient, "lists get what is left"


def test_small_arrays_are_listed_once_the_names_are_whole():
    numbers = "[1, 0.5, 0, 0.25]"
    assert not any(numbers in row for row in tape("several_outputs", 84)[1])
    assert any("clipped, inside x" in row and numbers in row for row in tape("several_outputs", 100)[1])


def test_six_numbers_are_all_listed_if_there_is_room_and_else_the_first():
    x = mt.tensor([[1.25, 2.25, 3.25], [4.25, 5.25, 6.25]], requires_grad=True)
    rows = RowTexts(StepCursor.open(mt.record((x * 2).sum().backward)).timeline)
    whole, begun = (RowCells(rows, rows.columns(width, forward=True)).value(rows_end(rows), 0) for width in (100, 60))
    assert whole.text.rstrip() == "[[1.25, 2.25, 3.25], [4.25, 5.25, 6.25]]"
    assert re.fullmatch(r"\[\[1\.2, [\d., \[\]]*… *", begun.text)


def test_a_write_in_place_shows_what_it_overwrote_if_there_is_room():
    with mt.record() as recorder:
        x = mt.tensor([-4.0, 1.0, 6.0], requires_grad=True)
        y = x * 1
        y += 1
        y.sum().backward()
    rows = RowTexts(StepCursor.open(recorder.recording).timeline)
    end = rows_end(rows)
    assert rows.value(end, 2, 40) == "[-4, 1, 6] → [-3, 2, 7]"
    assert rows.value(end, 2, 20) == "[-3, 2, 7]"
    assert rows.value(end, 1, 40) == "[-4, 1, 6]"


def rows_end(rows):
    return StepCursor(rows.timeline, rows.timeline.last)


def test_numbers_that_are_short_leave_their_room_to_others():
    numbers = {"value": Need(2, 2, 2, 2), "gradient": Need(3, 3, 3, 3)}
    given = share_out(60, {"op": 6, "name": 20, "operands": 20, "shape": 5}, numbers, scalars=False)
    assert given == {"op": 6, "name": 20, "operands": 14, "shape": 5, "value": 2, "gradient": 3, "size": 4}


def test_beside_a_text_the_shapes_of_single_numbers_make_room():
    numbers = {"value": Need(5, 5, 5, 5), "gradient": Need(5, 5, 5, 5)}
    needs = {"op": 4, "name": 6, "operands": 14, "shape": 6}
    assert "shape" not in share_out(NARROW - 10, needs, numbers, scalars=True)
    assert "shape" in share_out(NARROW + 10, needs, numbers, scalars=True)


@given(
    room=st.integers(36, 250),
    texts=st.tuples(*[st.integers(4, 60)] * 4),
    value=st.tuples(*[st.integers(5, 50)] * 4),
    gradient=st.tuples(*[st.integers(5, 50)] * 4),
    scalars=st.booleans(),
)
def test_never_more_is_given_than_there_is(room, texts, value, gradient, scalars):
    numbers = {"value": Need(*sorted(value)), "gradient": Need(*sorted(gradient))}
    given = share_out(room, dict(zip(TEXTS, texts, strict=True)), numbers, scalars=scalars)
    assert sum(given.values()) + GAP * (len(given) - 1) <= room
    assert all(width > 0 for width in given.values())
    assert set(given) >= {"op", "name", "value", "gradient"}
