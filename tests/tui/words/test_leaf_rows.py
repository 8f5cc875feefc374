"""The rows of the leaves pane: names and values in columns, and no value lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.recordings import handmade
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.words.leaf_rows import LeafRows

NAMES = st.lists(
    st.lists(st.text("ab重み_0", min_size=1, max_size=9), min_size=1, max_size=5).map(".".join),
    min_size=1, max_size=5, unique=True,
)  # fmt: skip
LAYERS = [f"layers.0.attn.{one}_proj.{kind}" for one in "qkvo" for kind in ("weight", "bias")]


def sum_of(names, spread=0.0016):
    """A recording of `(a + b + ...).sum()`; each leaf, and each gradient, has a small mean and a larger spread."""
    tape, value = handmade.Tape("some.py", ""), np.tile([-spread, spread * 0.97], 20)
    ref = tape.tensor(names[0], value)
    for name in names[1:]:
        ref = tape.op("add", "", [ref, tape.tensor(name, value)], value, [lambda g: g, lambda g: g])
    out = tape.op("exp", "", [ref], value, [lambda g: g], name="out")
    tape.backward(out, seed=value)
    return tape.recording()


def rows(recording, width, steps=None, limit=100):
    cursor = StepCursor.open(recording, 0).end() if steps is None else StepCursor.after(recording, steps)
    return [plain(one) for one in LeafRows(cursor, width, limit).lines()]


@pytest.mark.parametrize("width", range(30, 131, 4))
def test_no_gradient_is_lost_and_no_name_is_that_of_another_leaf(width):
    shown = rows(sum_of(LAYERS), width)
    assert not any("…" in row.split(".grad")[1] for row in shown)
    assert len({row.split("=")[0].split(" ")[0] for row in shown}) == len(LAYERS)


@given(NAMES, st.integers(30, 120), st.integers(0, 6))
def test_names_stand_in_a_column_apart_from_what_follows(names, width, steps):
    shown = rows(sum_of(names), width, min(steps, len(names) + 1))
    assert len({cell_len(row.split("  .grad  ")[0]) for row in shown}) == 1
    assert all("  .grad  " in row for row in shown)


def test_a_row_that_fits_is_not_longer_than_the_pane():
    for width in range(64, 131):
        assert all(len(row) <= width for row in rows(sum_of(LAYERS), width))


def test_without_a_limit_names_are_whole():
    assert [row.split()[0] for row in rows(sum_of(LAYERS), 40, limit=None)] == LAYERS
