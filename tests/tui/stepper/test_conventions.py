"""What one expects of a terminal program: help where one is, every action by its words, the mouse, resizing."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
from textual.color import Color
from textual.widgets import Input

import tui
from microtape import load
from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, SMALL, bar, row, shown, stepper
from tests.tui.stepper.test_copy_export import notices
from tui.shell.key_names import key_name
from tui.shell.user_keys import actions_of
from tui.stepper.parts.arrangement import SMALLEST
from tui.stepper.parts.key_declarations import help_rows
from tui.stepper.stepper import KEYS, StepperScreen
from tui.widgets.help import HelpScreen
from tui.widgets.lines.line_view import LineView
from tui.widgets.palette import LEFT_OUT, commands_of
from tui.widgets.tabs import Tabs
from tui.widgets.themes import THEMES


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("keys", "about"), [((), "tape"), (("1",), "node"), (("4",), "engine"), (("5",), "watch")])
async def test_f1_explains_what_has_the_focus(keys, about):
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press(*keys, "f1")
        assert isinstance(pilot.app.screen, HelpScreen)
        assert pilot.app.screen.query_one("VerticalScroll").border_title == about
        await pilot.press("f1")
        assert bar(pilot.app) == "step 0 of 5"


async def test_every_view_and_pane_is_explained():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        views = pilot.app.screen.query(LineView)
        assert {one.id for one in views} == {"tape", "boxes", "node", "source", "leaves", "engine", "watch", "sentence"}
        assert all(one.EXPLAINED for one in views)


async def test_the_palette_has_every_action_of_every_key():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        screen = pilot.app.screen
        found = {command.title: command for command in commands_of(screen)}
        actions = {one.binding.action for one in screen.active_bindings.values() if one.node is screen}
        nameless = {one.binding.action for one in screen.active_bindings.values() if not one.binding.description}
        assert len(found) >= len(actions - nameless - set(LEFT_OUT))
        assert found["To the end of the pass"].help == "key End"
        await found["To the end of the pass"].callback()
        assert bar(pilot.app) == "step 5 of 5"


async def test_a_command_is_found_by_its_words():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("ctrl+p", *"end", "space", *"of", "space", *"the")
        await until(pilot, lambda: "To the end of the pass" in everything(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, StepperScreen) and bar(pilot.app) == "step 5 of 5")


async def test_a_click_on_a_row_a_box_and_the_line_of_time_goes_there():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        assert pilot.app.screen.arrangement.view == "both"
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


async def test_a_click_on_a_key_of_the_footer_does_what_the_key_does():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        footer = pilot.app.screen.query_one("Footer")
        await until(pilot, lambda: footer.keys)
        await pilot.click(footer, offset=(footer.render().plain.index("step"), 0))
        await until(pilot, lambda: bar(pilot.app) == "step 1 of 5")


async def test_the_prompt_lies_over_the_footer_and_moves_nothing():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        screen = pilot.app.screen
        places = {widget: widget.region for widget in screen.query("#tape, #panes > *, #sentence, Footer")}
        await pilot.press("g")
        await until(pilot, lambda: screen.query_one("Prompt").region == screen.query_one("Footer").region)
        assert all(widget.region == place for widget, place in places.items())


@pytest.mark.parametrize("width", [SMALLEST[0], 80, 115, 116, 120, 130, 142, 160, 200])
async def test_every_tab_is_whole_at_every_width(width):
    async with stepper(handmade.diamond()).run_test(size=(width, 24)) as pilot:
        tabs = pilot.app.screen.query_one(Tabs)
        line = tabs.render()
        assert line.cell_length <= tabs.size.width
        assert line.plain.split()[-1] == "watch"
        await pilot.click(tabs, offset=(line.plain.index("leaves"), 0))
        assert pilot.app.screen.panes.chosen == tabs.chosen == "leaves"


async def test_the_tabs_name_the_users_keys():
    keymap = {"show_pane('node')": ("f6",), "show_pane('source')": ()}
    async with stepper(handmade.diamond(), keymap=keymap).run_test(size=SMALL) as pilot:
        assert shown(pilot.app, "Tabs").split() == ["F6", "node", "source", "3", "leaves", "4", "engine", "5", "watch"]


async def test_no_footer_has_too_many_keys():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        assert len(pilot.app.screen.query_one("Footer").keys) <= 9


async def test_on_the_smallest_terminal_the_footer_keeps_its_ends():
    async with stepper(handmade.diamond()).run_test(size=SMALLEST) as pilot:
        footer = shown(pilot.app, "Footer")
        assert footer.startswith(" → step")
        assert footer.rstrip().endswith("^p menu ? help q quit")
        assert "Enter why" in footer


EVERYWHERE = {
    "the stepper": (),
    "the boxes": ("v",),
    "inside": ("L",),
    "forward": ("home",),
    "the end": ("end",),
    "F1": ("f1",),
    "help": ("question_mark",),
    "the array": ("a",),
    "its map": ("a", "m"),
    "why": ("enter",),
    "further back": ("enter", "enter"),
    "a question": ("P", "right"),
    "its answer": ("P", "right", "enter"),
    "a prompt": ("b",),
    "a refusal": ("g", "y", "y", "enter"),
    "a breakpoint": ("b", "enter"),
    "breakpoints": ("b", "enter", "B"),
    "a watch": ("w", "x", "enter"),
    "copying": ("y",),
    "exporting": ("o",),
    "passes": ("s",),
    "two passes": ("s", "down", "c"),
    "commands": ("ctrl+p",),
    "themes": ("ctrl+p", *"theme", "enter"),
    "folding": ("z",),
    "a filter": ("f", *"sum", "enter"),
}


def everything(app):
    """What is on the screen, notices included."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "size"), [*((one, SMALL) for one in EVERYWHERE), ("the stepper", LARGE), ("why", LARGE), ("help", LARGE)]
)
async def test_in_ascii_mode_everything_is_ascii(name, size):
    async with stepper(handmade.twice(), ascii=True).run_test(size=size) as pilot:
        await pilot.press("right", *EVERYWHERE[name])
        await pilot.pause()
        text = everything(pilot.app)
        strange = {one for one in text if not one.isascii()}
        assert not strange, (strange, text)


async def test_in_ascii_mode_long_titles_and_columns_keep_their_places():
    recording = load(Path(tui.__file__).parent / "recordings" / "gradient_penalty.tape")
    async with stepper(replace(recording, title="a very " * 9 + "long.py"), ascii=True).run_test(size=SMALL) as pilot:
        assert shown(pilot.app, "Heading").isascii()
        assert "... step 0 of 4" in shown(pilot.app, "Heading")
        await pilot.press("s", "down", "c")
        at = shown(pilot.app, "#columns").index("difference")
        rows = [line for line in shown(pilot.app, "OptionList").splitlines() if line.strip()]
        assert len(rows) == 17
        assert all(line[at - 1] == " " != line[at] for line in rows)


OWN = {"move(1)": ("j", "ctrl+n"), "help": ("t",), "ask('why of')": ("u",), "edit": (), "faster(1)": ("shift+up",)}


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_help_and_footer_name_the_users_keys(size):
    async with stepper(handmade.diamond(), keymap=OWN).run_test(size=size) as pilot:
        await pilot.pause()
        footer = everything(pilot.app).splitlines()[-1]
        assert " j step " in footer
        assert " ← back " in footer
        assert " t help" in footer
        await pilot.press("t")
        lines = [str(one.render()) for one in pilot.app.screen.query("Static")][1].splitlines()
        assert "j ^n       one step forward" in lines
        assert any(line.startswith("← h        one step back: shows an earlier") for line in lines)
        assert any("or none; u explains any" in line for line in lines)
        assert any(line.startswith("no key     edit this line") for line in lines)
        assert any("⇧↑ and - change the speed" in line for line in lines)


def test_every_action_of_a_key_is_in_the_help():
    rows = help_rows(KEYS)
    told = {action for actions, _ in rows for action in actions}
    told |= {action for _, words in rows for action in re.findall(r"\{(.+?)\}", words)}
    assert set(actions_of(StepperScreen(handmade.diamond()))) - told == {"screen.copy_text", "help"}


async def test_what_f1_and_the_notices_say_follows_the_keys_too():
    async with stepper(handmade.diamond(), keymap={"stops": ("n",), "find_next(1)": ("B",)}).run_test() as pilot:
        await pilot.press("5", "f1")
        assert "n lists them all" in everything(pilot.app)
    async with stepper(handmade.diamond(), keymap={"run(1)": ("f7",), "ask('break at')": ("f8",)}).run_test() as pilot:
        await pilot.press("f7")
        assert "No breakpoint is set: F8 sets one" in notices(pilot.app)
        await pilot.press("f8", "enter")
        assert "F7 runs forward, C back" in notices(pilot.app)


@pytest.mark.parametrize(
    ("keymap", "key"),
    [({}, "q"), ({"leave": ("f9",)}, "F9"), ({"leave": ()}, "^q")],
)
async def test_ctrl_c_names_the_key_of_the_footer(keymap, key):
    async with stepper(handmade.diamond(), keymap=keymap).run_test(size=SMALL) as pilot:
        await pilot.press("ctrl+c")
        assert f"Ctrl+C does not quit here: {key} quits." in notices(pilot.app)


@pytest.mark.parametrize(
    ("key", "name", "in_ascii"),
    [
        ("right", "→", "->"),
        ("shift+right", "⇧→", "Shift+->"),
        ("ctrl+n", "^n", "^n"),
        ("alt+up", "alt+↑", "alt+Up"),
        ("question_mark", "?", "?"),
        ("plus", "+", "+"),
        ("f5", "F5", "F5"),
        ("f", "f", "f"),
        ("enter", "Enter", "Enter"),
    ],
)
def test_keys_are_called_what_people_call_them(key, name, in_ascii):
    assert (key_name(key), key_name(key, ascii=True)) == (name, in_ascii)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("keys", [("right", "enter"), ("b", "enter", "B"), ("y",), ("s",), ("s", "down", "c"), ("o",)])
async def test_the_highlight_of_a_list_is_soft_and_legible(theme, keys):
    async with stepper(handmade.twice(), theme=theme).run_test(size=LARGE) as pilot:
        await pilot.press(*keys)
        chosen = pilot.app.screen.query_one("OptionList")
        soft = pilot.app.theme_variables["accent-muted"]
        assert chosen.get_component_styles("option-list--option-highlighted").background == Color.parse(soft)


async def test_without_colours_glyphs_say_the_same(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("right", "b", "enter", "right", "right")
        assert pilot.app.no_color
        assert (row(pilot.app, 2)[0], row(pilot.app, 0)[0], row(pilot.app, 4)[1]) == ("▶", "+", "◆")
        await pilot.press("enter")
        await until(pilot, lambda: "Enter follows" in everything(pilot.app))
        styles = [segment.style for strip in pilot.app.screen._compositor.render_strips() for segment in strip]
        assert all(one is None or one.color is None or one.color.triplet is None or
                   len(set(one.color.triplet)) == 1 for one in styles)  # fmt: skip


async def test_nothing_moves_by_itself():
    async with stepper(handmade.chain(60)).run_test(size=SMALL) as pilot:
        assert pilot.app.animation_level == "none"
        await pilot.press("end")
        tape = pilot.app.screen.query_one("#tape")
        assert tape.scroll_offset.y == tape.scroll_target_y


@pytest.mark.sampled(4)
@pytest.mark.parametrize("theme", ["light", "colourblind", "ansi", "ansi-light"])
async def test_a_theme_is_chosen_from_the_palette_and_steps_on(theme):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("ctrl+p", *"theme")
        await until(pilot, lambda: "Theme" in everything(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: "the name of a theme" in everything(pilot.app))
        name = THEMES[theme].name
        await pilot.press(*({"-": "minus"}.get(one, one) for one in name))
        await until(pilot, lambda: name in everything(pilot.app).split())
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.theme == name and isinstance(pilot.app.screen, StepperScreen))
        await pilot.press("right")
        assert bar(pilot.app) == "step 1 of 5"


async def test_resizing_lays_a_page_out_anew_with_the_same_row_chosen():
    async with stepper(handmade.twice()).run_test(size=LARGE) as pilot:
        await pilot.press("y", "down", "down")
        rows = pilot.app.screen.query_one("OptionList")
        chosen, wide = rows.highlighted, shown(pilot.app, "OptionList")
        await pilot.resize_terminal(*SMALL)
        await until(pilot, lambda: shown(pilot.app, "OptionList") != wide)
        lines = shown(pilot.app, "OptionList").splitlines()
        assert len([line for line in lines if line.strip()]) == pilot.app.screen.query_one("OptionList").option_count
        assert pilot.app.screen.query_one("OptionList").highlighted == chosen
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, StepperScreen)


async def test_the_graph_is_there_where_there_is_room_until_a_view_is_chosen():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        screen = pilot.app.screen
        assert screen.arrangement.view == "both"
        await pilot.resize_terminal(*SMALL)
        await until(pilot, lambda: screen.arrangement.view == "tape")
        await pilot.resize_terminal(*LARGE)
        await until(pilot, lambda: screen.arrangement.view == "both")
        await pilot.press("v")
        await pilot.resize_terminal(*SMALL)
        await pilot.pause()
        await pilot.resize_terminal(*LARGE)
        await pilot.pause()
        assert screen.arrangement.view == "tape"


@pytest.mark.parametrize("key", ["g", "slash", "f", "b", "w", "x"])
async def test_a_prompt_has_room_for_its_example(key):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press(key)
        assert pilot.app.screen.query_one("Prompt Input", Input).placeholder in everything(pilot.app)


async def test_f1_explains_the_words_that_the_node_pane_shows():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("right")
        words = re.findall(r"[:.] ([a-z ]+): ", pilot.app.screen.query_one("#node", LineView).EXPLAINED)
        assert "received" in words
        assert [word for word in words if word not in shown(pilot.app, "#node")] == []


@pytest.mark.parametrize(
    "path", sorted((Path(tui.__file__).parent / "stepper").rglob("*.py")), ids=lambda path: path.stem
)
def test_every_action_whose_key_a_text_names_exists(path):
    calls = [one for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Call)]
    named = [one.args[0].value for one in calls
             if isinstance(one.func, ast.Attribute) and one.func.attr == "key" and one.args
             and isinstance(one.args[0], ast.Constant)]  # fmt: skip
    assert set(named) <= {one.action for one in KEYS}
