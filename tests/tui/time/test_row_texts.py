"""The texts of a tape's rows."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import microtape
from tests.support.recordings import handmade
from tui.time.cursor import StepCursor
from tui.time.row_texts import RowTexts, end_of_path
from tui.time.timeline import Timeline

PATH = "blocks.1.down.weight"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (None, PATH),
        (20, PATH),
        (19, "…1.down.weight"),
        (14, "…1.down.weight"),
        (13, "…down.weight"),
        (11, "down.weight"),
        (9, "down.wei…"),
        (7, "down.w…"),
        (6, "weight"),
        (4, "weight"),
    ],
)
def test_of_the_path_of_a_leaf_the_end_is_shown(width, shown):
    recording = handmade.diamond()
    leaf = next(node for node in recording.nodes if node.variable is not None)
    tensors = list(recording.tensors)
    tensors[leaf.variable] = tensors[leaf.variable]._replace(names=(PATH,))
    rows = RowTexts(Timeline(dataclasses.replace(recording, tensors=tuple(tensors)), 0))
    assert rows.name(leaf, width) == shown


def test_a_leaf_that_is_the_root_has_its_value():
    with microtape.record() as recorder:
        loss = (2 * microtape.ones(3, requires_grad=True)).sum().detach().requires_grad_()
        loss.backward()
    rows = RowTexts(Timeline(recorder.recording, 0))
    leaf = recorder.recording.passes[0].steps[0].node
    assert rows.value(StepCursor(rows.timeline, rows.timeline.last), leaf, 10) == "6"


@given(st.lists(st.text("ab_重み0", min_size=1, max_size=9), min_size=1, max_size=5), st.integers(1, 30))
def test_the_end_of_a_path_fits_or_is_its_last_word(words, width):
    name = ".".join(words)
    text = end_of_path(name, width, "…")
    assert cell_len(text) <= width or text == words[-1]


@pytest.mark.parametrize("width", range(10, 27))
def test_layers_side_by_side_have_different_names_in_a_narrow_column(width):
    texts = {end_of_path(f"layers.0.attn.{one}_proj.weight", width, "…") for one in "qkvo"}
    assert len(texts) == 4


@pytest.mark.parametrize(
    ("constant", "shown"),
    [
        (5.0, "5"),
        ([1.0, 0.5], "[1, 0.5]"),
        ([[1.0, 0.0]], "[[1, 0]]"),
        ([0.125] * 40, "(40,)"),
        ([[0.125] * 4] * 3, "(3×4)"),
    ],
)
def test_a_constant_without_a_name_shows_its_few_numbers_and_else_a_shape_that_is_no_number(constant, shown):
    x = microtape.ones(1, requires_grad=True)
    with microtape.record() as recorder:
        (x * microtape.tensor(constant)).sum().backward()
    rows = RowTexts(Timeline(recorder.recording, 0))
    assert rows.operands(next(node for node in recorder.recording.nodes if node.op == "mul")) == f"x, {shown}"
