"""Panes that are too narrow for what they show."""

from tests.tui.stepper.test_app import stepper
from tests.tui.words.test_leaf_rows import LAYERS, sum_of
from tui.widgets.panes import LeavesPane


async def test_what_does_not_fit_into_the_row_of_a_leaf_is_indented():
    async with stepper(sum_of(LAYERS)).run_test(size=(120, 40)) as pilot:
        pane = pilot.app.screen.query_one(LeavesPane)
        rows = ["".join(one.text for one in row) for row in pane._rows]
        assert len(rows) > len(LAYERS)
        assert [row for row in rows if not row.startswith(("layers", "…", "  "))] == []
