"""Notices: one at a time, in the line of the keys, until the next key."""

import pytest

from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, SMALL, stepper
from tui.widgets.footer import Footer
from tui.widgets.prompt import Prompt


def messages(app):
    return [one.message for one in app._notifications]


async def place(pilot):
    """Where the notice is, once there is one."""
    await until(pilot, lambda: any(one.region.area for one in pilot.app.screen.query("Toast")))
    return pilot.app.screen.query("Toast").first().region


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_a_notice_covers_the_keys_alone(size):
    async with stepper(handmade.diamond()).run_test(size=size, notifications=True) as pilot:
        await pilot.press("n")
        assert await place(pilot) == pilot.app.screen.query_one(Footer).region


async def test_a_notice_of_two_lines_ends_in_the_last_line():
    async with stepper(handmade.diamond()).run_test(size=SMALL, notifications=True) as pilot:
        pilot.app.notify("words " * 20)
        notice = await place(pilot)
        assert (notice.height, notice.bottom) == (2, 24)


async def test_a_notice_leaves_the_line_to_a_prompt():
    async with stepper(handmade.diamond()).run_test(size=SMALL, notifications=True) as pilot:
        await pilot.press("b")
        pilot.app.notify("news", severity="warning")
        assert not (await place(pilot)).overlaps(pilot.app.screen.query_one(Prompt).region)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen.query("Toast").first().region.bottom == 24)


async def test_a_notice_replaces_those_that_are_not_more_severe():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        for severity in ("information", "warning", "information", "information"):
            pilot.app.notify(severity, severity=severity)
            await pilot.pause()
        assert messages(pilot.app) == ["warning", "information"]


async def test_a_notice_that_is_no_warning_ends_with_the_next_key():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        pilot.app.notify("news", severity="warning")
        await pilot.press("n")
        assert messages(pilot.app) == ["news", "There is no search yet: / searches."]
        await pilot.press("right")
        assert messages(pilot.app) == ["news"]
