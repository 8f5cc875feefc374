"""The stepper, by keystrokes: what is on the screen after each."""

import gc
import re

import pytest

import microtape
from microtape.basics import collector
from tests.support.recordings import handmade
from tests.support.waiting import until
from tui.stepper.app import StepperApp
from tui.stepper.parts.arrangement import SMALLEST
from tui.stepper.stepper import StepperScreen
from tui.widgets.panes import SentencePane
from tui.widgets.tape import TapeView

SMALL, LARGE = (80, 24), (140, 50)


def shown(app, selector):
    """What a widget shows, line by line, as a person sees it."""
    widget = app.screen.query_one(selector)
    return "\n".join(widget.render_line(y).text.rstrip() for y in range(widget.size.height)).rstrip()


def row(app, node):
    """The tape's row of a node."""
    lines = shown(app, "#tape").splitlines()
    return next(line for line in lines if line[2:].split()[:1] == [str(node)])


def sentence(app):
    return " ".join(shown(app, "#sentence").split())


def bar(app):
    return re.search(r"(step|operation) [\d,]+ of [\d,]+$", shown(app, "Heading"))[0]


def stepper(recording, **options):
    return StepperApp(recording, **options)


async def test_it_opens_where_backward_was_called():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        assert bar(pilot.app) == "step 0 of 5"
        assert row(pilot.app, 4).startswith("▷")
        assert sentence(pilot.app) == (
            "z (%4) = 30. backward() computes ∂z/∂x and ∂z/∂y, through 3 operations. "
            "The first step (→) visits the last of them: z (%4), with ∂z/∂z = 1."
        )


@pytest.mark.parametrize("size", [SMALL, LARGE, (84, 60), (120, 30)])
async def test_right_steps_and_the_tape_the_node_and_the_sentence_follow(size):
    async with stepper(handmade.diamond()).run_test(size=size) as pilot:
        await pilot.press("right", "right", "right")
        assert bar(pilot.app) == "step 3 of 5"
        assert row(pilot.app, 2).startswith("▶")
        assert row(pilot.app, 0).startswith("+")
        assert row(pilot.app, 1).startswith("+")
        assert "sends → x g · y = 5 · 3 = 15, 6 + 15 = 21 ready" in " ".join(shown(pilot.app, "#node").split())
        assert "x has 6 + 15 = 21" in sentence(pilot.app)


async def test_on_the_smallest_terminal_a_long_sentence_is_scrolled():
    async with stepper(handmade.chain(30, 5)).run_test(size=SMALLEST) as pilot:
        while not pilot.app.screen.query_one(SentencePane).overflows:
            await pilot.press("right")
        begin = sentence(pilot.app)
        await pilot.press("shift+tab", "pagedown")
        assert pilot.app.focused.id == "sentence"
        assert sentence(pilot.app) != begin
        assert "Next: " in sentence(pilot.app)


async def test_left_steps_back_and_the_gradient_is_partial_again():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "right")
        assert " 21 " in row(pilot.app, 0)
        await pilot.press("left")
        assert " 6 (1/2) " in row(pilot.app, 0)
        await pilot.press("left", "left")
        assert row(pilot.app, 0).endswith("·")


async def test_h_and_l_are_left_and_right():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("l", "l", "h")
        assert bar(pilot.app) == "step 1 of 5"


async def test_end_home_and_home_again():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("end")
        assert bar(pilot.app) == "step 5 of 5"
        await pilot.press("home")
        assert bar(pilot.app) == "step 0 of 5"
        await pilot.press("home")
        assert bar(pilot.app) == "operation 0 of 3"


async def test_the_forward_part_is_stepped_in_the_same_way():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("home", "right")
        assert bar(pilot.app) == "operation 1 of 3"
        assert row(pilot.app, 2).split()[-2:] == ["6", "·"], "its value is there, its gradient is not"
        assert row(pilot.app, 3).split()[-2:] == ["·", "·"], "the next one has not been computed"
        assert sentence(pilot.app) == "mul computed 6 from x and y. It keeps x and y for backward."


@pytest.mark.parametrize(("target", "node"), [("3", 3), ("x", 0), ("add", 3), (":5", 4)])
async def test_g_goes_to_a_number_a_name_or_a_line(target, node):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("g", *("colon" if key == ":" else key for key in target), "enter")
        assert row(pilot.app, node).startswith("▶")
        assert isinstance(pilot.app.focused, TapeView)


async def test_g_refuses_an_unknown_node_and_stays_open():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("g", "q", "enter")
        assert "there is no 'q' here" in shown(pilot.app, "#problem")
        await pilot.press("backspace", "y", "enter")
        assert row(pilot.app, 1).startswith("▶")


async def test_escape_leaves_the_prompt_where_it_was():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "g", "x", "escape", "right")
        assert bar(pilot.app) == "step 2 of 5"


async def test_on_a_small_terminal_every_pane_is_reached_one_at_a_time():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "right")
        seen = {}
        for name in ("node", "source", "leaves", "engine"):
            await pilot.press("tab")
            panes = [
                pane
                for pane in ("node", "source", "leaves", "engine")
                if pilot.app.screen.query_one(f"#{pane}").display
            ]
            assert panes == [name]
            seen[name] = shown(pilot.app, f"#{name}")
        assert "∂%2/∂x = y" in seen["node"]
        assert "z = (x * y) * (x + y)" in seen["source"]
        assert "x = 2  .grad  None  all 2 terms, not added yet: 21" in seen["leaves"]
        assert "ready    y and x" in seen["engine"]
        await pilot.press("tab")
        assert isinstance(pilot.app.focused, TapeView)


async def test_the_digits_choose_a_pane_and_time_goes_on_from_there():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("3", "right", "right", "right", "end")
        assert shown(pilot.app, "#leaves").splitlines()[0].strip() == "x = 2  .grad  21  complete"


async def test_on_a_large_terminal_all_panes_show_at_once():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        assert all(pilot.app.screen.query_one(f"#{name}").display for name in ("node", "source", "leaves", "engine"))


async def test_the_source_marks_the_sub_expression():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("right", "right")
        source = pilot.app.screen.query_one("#source")
        line = next(y for y in range(source.size.height) if "x + y" in source.render_line(y).text)
        plain = source.render_line(0)._segments[-1].style
        marked = [s.text for s in source.render_line(line) if s.style.bgcolor != plain.bgcolor]
        assert "".join(marked).strip() == "x + y"
        assert source.render_line(line).text.startswith("▶5 ")


async def test_a_failed_pass_opens_at_the_culprit_with_the_error_and_both_lines():
    async with stepper(handmade.failing()).run_test(size=LARGE) as pilot:
        assert bar(pilot.app) == "step 3 of 3"
        assert row(pilot.app, 1).startswith("✗")
        assert "failed: RuntimeError" in shown(pilot.app, "Heading")
        assert "one of the variables needed" in " ".join(shown(pilot.app, "#node").split())
        source = shown(pilot.app, "#source")
        assert "e = mt.exp(x)  ◀ kept here" in source
        assert "e.add_(1.0)  ◀ overwritten here" in source
        assert "changed it to version 1" in sentence(pilot.app)
        await pilot.press("left")
        assert "kept here" not in shown(pilot.app, "#source")


async def test_passes_are_turned_with_brackets_and_p():
    async with stepper(handmade.twice()).run_test(size=SMALL) as pilot:
        assert "pass 1 of 2" in shown(pilot.app, "Heading")
        await pilot.press("right_square_bracket", "end", "3")
        assert "pass 2 of 2" in shown(pilot.app, "Heading")
        assert "x = 2  .grad  42  complete" in shown(pilot.app, "#leaves")
        await pilot.press("left_square_bracket")
        assert "pass 1 of 2" in shown(pilot.app, "Heading")
        await pilot.press("p", "p")
        assert "pass 1 of 2" in shown(pilot.app, "Heading")


async def test_a_click_on_a_row_goes_there():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.click("#tape", offset=(10, 4))
        assert row(pilot.app, 3).startswith("▶")


async def test_help_explains_keys_and_marks_and_closes():
    async with stepper(handmade.diamond()).run_test(size=LARGE) as pilot:
        await pilot.press("question_mark")
        text = " ".join(static.render().plain for static in pilot.app.screen.query("Static"))
        assert "one step back" in text
        assert "has just received a gradient" in text
        await pilot.press("escape", "right")
        assert bar(pilot.app) == "step 1 of 5"


async def test_q_quits():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("q")
        assert not pilot.app.is_running


@pytest.mark.parametrize("stays", [False, True])
async def test_the_garbage_collector_is_left_as_it_was_however_soon_the_stepper_closes(stays):
    before = gc.isenabled(), gc.get_threshold()
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        assert not gc.isenabled()
        if stays:
            await until(pilot, gc.isenabled)
            assert gc.get_threshold() == collector.OFTEN
        await pilot.press("q")
    assert (gc.isenabled(), gc.get_threshold()) == before


async def test_a_terminal_that_is_too_small_says_so_and_waits():
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right")
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        assert "50×12" in shown(pilot.app, "#too-small")
        assert not pilot.app.screen.query_one("#main").display
        await pilot.resize_terminal(*SMALL)
        await pilot.pause()
        assert bar(pilot.app) == "step 2 of 5"
        assert row(pilot.app, 3).startswith("▶")


async def test_resizing_keeps_the_current_row_in_view():
    async with stepper(handmade.chain(300)).run_test(size=LARGE) as pilot:
        await pilot.press("g", "1", "5", "0", "enter")
        for size in (SMALL, (100, 30), (160, 48)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert row(pilot.app, 150).startswith("▶")


@pytest.mark.slow
async def test_the_current_row_stays_in_view_all_the_way_up_and_down():
    recording = handmade.chain(30)
    async with stepper(recording).run_test(size=SMALL) as pilot:
        for key in ["right"] * 36 + ["left"] * 50:
            await pilot.press(key)
            assert row(pilot.app, pilot.app.screen.cursor.focus)


@pytest.mark.slow
async def test_stepping_shows_the_same_as_arriving():
    """Only changed rows are repainted; what is on the screen is what painting everything would show."""
    recording = handmade.chain(60, 5)
    async with stepper(recording).run_test(size=(100, 40)) as pilot:
        for key in ["home", *["right"] * 15, *["left"] * 5, *["home", "home"], *["right"] * 10]:
            await pilot.press(key)
            stepped = shown(pilot.app, "#tape")
            pilot.app.screen.query_one("#tape").notify_style_update()
            assert shown(pilot.app, "#tape") == stepped


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_no_mark_depends_on_colour_alone(theme):
    async with stepper(handmade.diamond(), theme=theme, ascii=True).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "right")
        assert [row(pilot.app, node)[0] for node in range(5)] == ["+", "+", ">", " ", " "]
        for selector in ("#tape", "#node", "#sentence", "TimeBar", "Heading"):
            assert shown(pilot.app, selector).isascii()


async def test_a_recording_without_a_pass_opens_too():
    tape = handmade.Tape("forward.py", "y = x.exp()\n")
    tape.op("exp", "", [tape.tensor("x", 1)], 2.718, [None], name="y", expression="x.exp()")
    async with stepper(tape.recording()).run_test(size=SMALL) as pilot:
        assert "never called backward" in sentence(pilot.app)
        await pilot.press("left", "left", "right", "p", "end", "home")


async def test_an_empty_recording_opens_too():
    async with stepper(handmade.Tape("empty.py", "").recording()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "left", "g", "x", "enter")
        assert "there is no 'x' here" in shown(pilot.app, "#problem")


async def test_names_that_would_control_the_terminal_are_written_out():
    tape = handmade.Tape("evil.py", "")
    x = tape.tensor("x\x1b[2J\u202e", 1)
    tape.backward(tape.op("exp", "", [x], 2, [lambda g: g], name="[bold]markup[/]"))
    async with stepper(tape.recording()).run_test(size=LARGE) as pilot:
        await pilot.press("right")
        whole = "".join(shown(pilot.app, selector) for selector in ("#tape", "#node", "#sentence", "#leaves"))
        assert "\x1b" not in whole
        assert "\u202e" not in whole
        assert "[bold]markup[/]" in whole


@pytest.mark.sampled(5)
@pytest.mark.parametrize("theme", ["dark", "light", "colourblind", "ansi", "ansi-light"])
async def test_every_theme_shows_the_same_text_and_marks(theme):
    async with stepper(handmade.failing(), theme=theme).run_test(size=LARGE) as pilot:
        await pilot.press("left", "right")
        assert "✗" in shown(pilot.app, "#tape")
        assert pilot.app.theme == f"microtape-{'ansi-dark' if theme == 'ansi' else theme}"


@pytest.mark.parametrize("size", [(80, 30), (100, 24), (100, 30), (142, 31), (200, 60)])
async def test_the_source_is_in_view_beside_the_node_where_there_is_room(size):
    async with stepper(handmade.diamond()).run_test(size=size) as pilot:
        await pilot.press("right", "right", "right")
        node, source = (pilot.app.screen.query_one(f"#{name}") for name in ("node", "source"))
        assert node.display
        assert source.display
        assert node.size.height >= 6
        assert "z = (x * y) * (x + y)" in shown(pilot.app, "#source")


async def test_after_folding_the_graph_has_the_lines_that_the_tape_left():
    x = microtape.tensor(1.0, requires_grad=True)
    h = x
    for _ in range(30):
        h = (h * x).sin()
    recording = microtape.record(h.backward)
    async with stepper(recording).run_test(size=(142, 36)) as pilot:
        boxes = pilot.app.screen.query_one("#boxes")
        assert not boxes.display
        await pilot.press("z")
        await until(pilot, lambda: boxes.display)
        assert boxes.size.height >= 8
        await pilot.press("z")
        await until(pilot, lambda: not boxes.display)


async def test_a_screen_whose_widgets_are_gone_when_it_opens_does_nothing():
    """As where the app ends meanwhile."""
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        assert pilot.app.screen.is_composed
    closed = StepperScreen(handmade.diamond())
    assert not closed.is_composed
    closed.on_mount()
