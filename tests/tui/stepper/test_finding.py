"""Finding things in a long tape: filtered rows, and what repeats folded."""

import pytest

import microtape
from microtape.recording.script.run import record_script
from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import bar, row, shown, stepper
from tui.shell.demos import EXAMPLES
from tui.time.cursor import StepCursor
from tui.time.listing import FoldedTape, GroupRow, Listing
from tui.time.timeline import Timeline

LARGE = (140, 50)


@pytest.fixture(scope="module")
def rnn(tmp_path_factory):
    tape = str(tmp_path_factory.mktemp("tapes") / "rnn.tape")
    record_script(EXAMPLES / "rnn.py", out=tape)
    return microtape.load(tape)


def rows(app):
    """The lines of the tape below its headings, without those that are empty."""
    return [line for line in shown(app, "#tape").splitlines()[1:] if line.strip()]


async def test_f_shows_only_the_rows_with_a_text_and_says_so():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("f", "m", "u", "l", "enter")
        assert len(rows(pilot.app)) == 2
        assert shown(pilot.app, "#tape").splitlines()[0].strip() == "2 of 5 rows: mul. Esc shows all."


async def test_stepping_goes_on_under_a_filter_and_escape_takes_it_away():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("f", "m", "u", "l", "enter", "right", "right")
        assert bar(pilot.app) == "step 2 of 5"
        await pilot.press("right")
        assert row(pilot.app, 2).startswith("▶")
        await pilot.press("escape")
        assert len(rows(pilot.app)) == 5
        assert bar(pilot.app) == "step 3 of 5"


async def test_a_filter_that_nothing_passes_is_refused():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("f", "q", "enter")
        assert "'q' occurs in no row of this pass" in shown(pilot.app, "#problem")


async def test_another_pass_begins_without_a_filter():
    async with stepper(handmade.twice()).run_test(size=LARGE) as pilot:
        before = len(rows(pilot.app))
        await pilot.press("f", "m", "u", "l", "enter", "right_square_bracket", "left_square_bracket")
        assert len(rows(pilot.app)) == before


async def test_z_folds_what_repeats_and_unfolds_it_again(rnn):
    async with stepper(rnn).run_test(size=LARGE) as pilot:
        await pilot.press("z")
        folded = [line for line in rows(pilot.app) if "▸" in line]
        assert len(folded) == 1
        assert "line 31 ×20" in folded[0]
        assert folded[0].rstrip().endswith("0 of 100 done")
        await pilot.press("z")
        assert not any("▸" in line for line in rows(pilot.app))


async def test_the_cursor_opens_the_repetition_that_it_is_in(rnn):
    async with stepper(rnn).run_test(size=LARGE) as pilot:
        await pilot.press("z", "g", "9", "8", "enter")
        text = shown(pilot.app, "#tape")
        assert "▾ line 31[19]" in text
        assert "▸ line 31[0:19]" in text
        assert row(pilot.app, 98).startswith("▶")
        await pilot.press("home")
        assert "▸ line 31 ×20" in shown(pilot.app, "#tape")


async def test_shift_z_opens_a_fold_that_the_cursor_is_not_in(rnn):
    async with stepper(rnn).run_test(size=LARGE) as pilot:
        await pilot.press("z", "Z")
        assert "▸ line 31[19]" in shown(pilot.app, "#tape")


async def test_a_click_opens_a_fold(rnn):
    async with stepper(rnn).run_test(size=LARGE) as pilot:
        await pilot.press("z")
        at = next(i for i, line in enumerate(shown(pilot.app, "#tape").splitlines()) if "▸" in line)
        await pilot.click("#tape", offset=(20, at + 1))
        await until(pilot, lambda: "▾ line 31 ×20" in shown(pilot.app, "#tape"))


async def test_where_nothing_repeats_z_says_so():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("z")
        assert len(rows(pilot.app)) == 5


def test_every_node_has_a_row_wherever_the_cursor_is(rnn):
    cursor = StepCursor.open(rnn)
    tape = FoldedTape(cursor.timeline)
    for moment in range(cursor.timeline.last + 1):
        focus = cursor.to_moment(moment).focus
        listing = tape.listing((), focus)
        assert set(listing.row_of) == set(cursor.timeline.rows)
        assert focus is None or listing.entries[listing.row_of[focus]] == focus
        for at in range(len(listing.entries)):
            listing.lanes.draw(at, 8)


def test_opening_every_group_shows_every_node_once(rnn):
    timeline = Timeline(rnn)
    tape, opened = FoldedTape(timeline), set()
    while True:
        entries = tape.listing(opened, None).entries
        closed = {one.group for one in entries if isinstance(one, GroupRow) and not one.is_open}
        if not closed:
            break
        opened |= closed
    assert sorted(one for one in entries if isinstance(one, int)) == list(timeline.rows)


def test_lanes_of_a_filtered_tape_join_only_shown_rows():
    timeline = Timeline(handmade.diamond())
    listing = Listing.only(timeline, {2, 4})
    assert [listing.lanes.draw(at)[0] for at in range(2)] == ["●", "●"]
