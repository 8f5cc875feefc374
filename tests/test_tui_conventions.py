"""What one expects of a terminal program: help where one is, every action by its words, the mouse, resizing."""

import handmade
import pytest
from test_tui_app import LARGE, SMALL, bar, row, stepper

from tui.explained import EXPLAINED
from tui.help import HelpScreen
from tui.palette import commands_of


@pytest.mark.parametrize(("keys", "about"), [((), "tape"), (("1",), "node"), (("4",), "engine"), (("5",), "watch")])
async def test_f1_explains_what_has_the_focus(keys, about):
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press(*keys, "f1")
        assert isinstance(pilot.app.screen, HelpScreen)
        assert pilot.app.screen.query_one("VerticalScroll").border_title == about
        await pilot.press("f1")
        assert bar(pilot.app) == "step 0 of 5"


def test_every_view_and_pane_is_explained():
    assert set(EXPLAINED) == {"tape", "boxes", "node", "source", "leaves", "engine", "watch", "sentence"}


async def test_the_palette_has_every_action_of_every_key():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        screen = pilot.app.screen
        found = {command.title: command for command in commands_of(screen)}
        actions = {one.binding.action for one in screen.active_bindings.values() if one.node is screen}
        nameless = {one.binding.action for one in screen.active_bindings.values() if not one.binding.description}
        assert len(found) >= len(actions - nameless)
        assert found["To the end of the pass"].help == "key End"
        await found["To the end of the pass"].callback()
        assert bar(pilot.app) == "step 5 of 5"


async def test_a_command_is_found_by_its_words():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("ctrl+p", *"end", "space", *"of", "space", *"the")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert bar(pilot.app) == "step 5 of 5"


async def test_a_click_on_a_row_a_box_and_the_line_of_time_goes_there():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        assert pilot.app.screen.view == "both"
        await pilot.click("#tape", offset=(20, 4))
        await pilot.pause()
        assert row(pilot.app, 2).startswith("▶")
        boxes = pilot.app.screen.query_one("#boxes")
        box = boxes._plan.boxes[4]
        x, y = box.x + 3 + boxes._margin - boxes.scroll_offset.x, box.y + 1 - boxes.scroll_offset.y
        await pilot.click("#boxes", offset=(x + boxes.gutter.left, y + boxes.gutter.top))
        await pilot.pause()
        assert row(pilot.app, 4).startswith("▶")
        await pilot.click("TimeBar", offset=(LARGE[0] - 2, 0))
        await pilot.pause()
        assert bar(pilot.app) == "step 5 of 5"


async def test_resizing_keeps_the_place_and_the_pane():
    async with stepper(handmade.chain(60)).run_test(size=LARGE) as pilot:
        await pilot.press(*["right"] * 7, "3")
        at = pilot.app.screen.cursor.focus
        for size in (SMALL, (200, 60), (90, 40), LARGE):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert row(pilot.app, at).startswith("▶")
            assert pilot.app.focused.id == "leaves"
            assert bar(pilot.app).startswith("step 7 ")


async def test_no_footer_has_more_keys_than_one_can_take_in():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        assert len([one for one in pilot.app.screen.active_bindings.values() if one.binding.show]) <= 10


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("keys", [(), ("f1",), ("right", "a"), ("P", "right")])
async def test_in_ascii_mode_everything_is_ascii(size, keys):
    async with stepper(handmade.diamond(), ascii=True).run_test(size=size) as pilot:
        await pilot.press("right", *keys)
        await pilot.pause()
        text = "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())
        strange = {one for one in text if not one.isascii()} - set("→←⏎ ")
        assert not strange, strange
