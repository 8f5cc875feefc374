"""Inside of functions, by keystrokes: what is on the screen after each."""

from dataclasses import replace

import pytest

from tests.tui.inside import recorded
from tests.tui.stepper.test_app import SMALL, bar, shown, stepper
from tests.tui.stepper.test_copy_export import notices
from tui.inside.screen import InsideScreen
from tui.stepper.stepper import StepperScreen
from tui.stepper.why_screen import WhyScreen
from tui.widgets.array_view import ArrayScreen
from tui.widgets.help import HelpScreen

LARGE = (120, 40)


def steps(app):
    return shown(app, "InsideSteps").splitlines()


def current(app):
    """The row of the current step, without its mark."""
    text = " ".join(" ".join(one.split()) for one in steps(app))
    return text.partition("▶ ")[2].partition(" · ")[0]


def heading(app):
    return " ".join(shown(app, "InsideHeading").split())


def source(app):
    """The current line of source."""
    return next(one.split("▶")[1] for one in shown(app, "InsideSource").splitlines() if "▶" in one)


def variables(app):
    return [" ".join(one.split()) for one in shown(app, "InsideVariables").splitlines() if one.strip()]


def footer(app):
    return [does for _, _, does in app.screen.query_one("Footer").keys]


@pytest.mark.parametrize("size", [SMALL, (100, 30), LARGE])
async def test_i_opens_the_user_s_backward_with_its_source_its_variables_and_its_steps(size):
    async with stepper(recorded("clip")).run_test(size=size) as pilot:
        await pilot.press("g", "3", "enter", "i", "right", "right", "right", "right", "right")
        assert heading(pilot.app).startswith("clip.py:36 ")
        assert "Clip.backward" in heading(pilot.app)
        assert heading(pilot.app).endswith("step 3/6 call 2/2 inside 3/4")
        assert source(pilot.app).startswith("17         scaled = g * mask")
        assert "mask [0, 1, 0] new" in variables(pilot.app)
        assert current(pilot.app) == "3 mul g, mask scaled = [-0, 2, 0]"
        assert steps(pilot.app)[-1].strip() == "· 4 return scaled = [-0, 2, 0] to x; None to lo, hi"


async def test_every_key_that_goes_on_also_goes_back():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i")
        seen = [(heading(pilot.app), current(pilot.app))]
        for _ in range(6):
            await pilot.press("right")
            seen.append((heading(pilot.app), current(pilot.app)))
        assert len(set(seen)) == 7
        for before in reversed(seen[:-1]):
            await pilot.press("left")
            assert (heading(pilot.app), current(pilot.app)) == before
        await pilot.press("end", "end")
        assert current(pilot.app).startswith("4 return")
        await pilot.press("home")
        assert current(pilot.app).startswith("1 enter g")
        await pilot.press("home")
        assert "halve (tensor hook)" in heading(pilot.app)


@pytest.mark.parametrize("out", ["u", "escape", "q"])
async def test_one_key_comes_out_at_the_same_moment(out):
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i", "right", out)
        assert isinstance(pilot.app.screen, StepperScreen)
        assert bar(pilot.app) == "step 3 of 6"


async def test_the_function_s_forward_and_setup_context_are_inside_of_its_operation():
    async with stepper(recorded("nested")).run_test(size=LARGE) as pilot:
        await pilot.press("home", "g", "3", "enter", "i")
        assert bar_of_forward(pilot.app) == "operation 2/3 call 1/2 inside 1/4"
        assert "› Outer.forward" in heading(pilot.app)
        await pilot.press("end", "right", "right")
        assert "› Outer.setup_context" in heading(pilot.app)
        assert "ctx.scale 3.0 new" in variables(pilot.app)


def bar_of_forward(app):
    return heading(app).partition("operation ")[1] + heading(app).partition("operation ")[2]


async def test_a_function_inside_of_a_function_opens_and_closes_level_by_level():
    async with stepper(recorded("nested")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i", "end", "end", "home", "left")
        await pilot.press("home", "right", "right", "right")
        assert current(pilot.app).endswith("i opens it")
        await pilot.press("i")
        assert "Outer.backward › Square.forward" in heading(pilot.app)
        assert source(pilot.app).startswith(" 6     def forward(ctx, x):")
        await pilot.press("right", "u")
        assert current(pilot.app).startswith("4 call Square.forward(inner)")


async def test_a_backward_inside_of_a_backward_opens_its_pass_and_u_goes_back():
    async with stepper(recorded("nested")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i", "end", "right", "end", "right", "end", "left", "left", "left")
        assert current(pilot.app).startswith("6 backward pass 2, 3 steps")
        await pilot.press("i")
        assert isinstance(pilot.app.screen, StepperScreen)
        assert "pass 2 of 2" in shown(pilot.app, "Heading")
        await pilot.press("right", "right", "i")
        assert "Square.backward" in heading(pilot.app)
        await pilot.press("u", "u")
        assert current(pilot.app).startswith("6 backward pass 2, 3 steps")
        await pilot.press("u")
        assert "pass 1 of 2" in shown(pilot.app, "Heading")
        assert bar(pilot.app) == "step 2 of 5"


async def test_hooks_of_every_kind_are_walked_in_the_order_of_time():
    async with stepper(recorded("nested")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i")
        found = [heading(pilot.app).split(" › ")[1].partition(" step")[0]]
        for _ in range(3):
            await pilot.press("end", "right")
            found.append(heading(pilot.app).split(" › ")[1].partition(" step")[0])
        assert found == ["halve (tensor hook)", "<lambda> (node pre-hook)", "Outer.backward", "watch (node post-hook)"]
        await pilot.press("u", "g", "w", "enter", "i", "end")
        assert ".grad [9, 36, 162] becomes [18, 72, 324]" in current(pilot.app)


async def test_an_unpack_hook_is_inside_of_backward():
    async with stepper(recorded("unpacked")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "2", "enter", "i", "right", "i")
        assert "Square.backward › unpack (unpack hook)" in heading(pilot.app)
        assert source(pilot.app).startswith("20 def unpack(t):")


@pytest.mark.parametrize("node", ["4", "5"])
async def test_a_checkpoint_s_recomputation_is_inside_of_its_step(node):
    async with stepper(recorded("checkpointed")).run_test(size=LARGE) as pilot:
        await pilot.press("g", node, "enter", "i", "right")
        assert "block (recomputation)" in heading(pilot.app)
        assert source(pilot.app).startswith(" 6     h = x * w")


async def test_jvp_is_inside_of_the_operation():
    async with stepper(recorded("tangent")).run_test(size=LARGE) as pilot:
        await pilot.press("home", "g", "2", "enter", "i", "end", "right", "right")
        assert "Twice.jvp" in heading(pilot.app)
        assert source(pilot.app).startswith("13         return t * ctx.factor")


async def test_a_pass_that_failed_opens_at_the_line_that_raised_with_the_variables():
    async with stepper(recorded("raises")).run_test(size=SMALL) as pilot:
        await pilot.press("i")
        assert source(pilot.app).startswith("15         both = wide.reshape(2, 2)")
        assert "raised here" in shown(pilot.app, "InsideSource")
        assert "wide [3, 3, 3] new" in variables(pilot.app)
        assert any("✗ 4 raise" in one and "RuntimeError: shape" in one for one in steps(pilot.app))


async def test_the_page_of_the_finding_says_that_i_opens_it():
    async with stepper(recorded("raises")).run_test(size=LARGE) as pilot:
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, WhyScreen)
        assert "i opens what ran inside: Scale.backward, raises.py:15" in str(
            pilot.app.screen.query_one("#heading").content
        )
        await pilot.press("i")
        assert isinstance(pilot.app.screen, InsideScreen)
        assert source(pilot.app).startswith("15 ")


async def test_a_wrong_function_is_at_most_five_keys_away():
    async with stepper(recorded("wrong", check="functions")).run_test(size=SMALL) as pilot:
        await pilot.press("exclamation_mark", "i", "right", "right", "right")
        assert heading(pilot.app).startswith("wrong.py:19 Cube.apply(x) › Cube.backward")
        assert source(pilot.app).startswith("14         slope = 2 * square")
        assert current(pilot.app) == "4 mul square, 2.0 slope = [2, 8, 18]"


async def test_the_footer_has_the_key_only_where_there_is_something_inside():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("right", "right")
        assert "inside" not in footer(pilot.app)
        await pilot.press("right")
        assert "inside" in footer(pilot.app)
        await pilot.press("left")
        assert "inside" not in footer(pilot.app)
        await pilot.press("i")
        assert notices(pilot.app) == "None of your code ran in this step: i opens Functions, hooks, checkpoints."


async def test_an_old_recording_says_that_it_has_to_be_made_again():
    older = replace(recorded("clip"), calls=(), functions=())
    async with stepper(older).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i")
        assert notices(pilot.app) == "An older microtape made this recording: record the program again to step inside."


async def test_steps_that_were_not_kept_have_a_row_that_counts_them():
    recording = recorded("long")
    async with stepper(recording).run_test(size=LARGE) as pilot:
        await pilot.press("g", "1", "enter", "i", "end")
        assert heading(pilot.app).endswith("inside 402/402")
        await pilot.press("pageup", "pageup", "pageup", "pageup", "pageup")
        inside = pilot.app.screen.query_one("InsideSteps")
        assert f"{recording.calls[1].left_out} more steps were not kept" in inside.text


async def test_a_breakpoint_inside_stops_a_run_from_the_stepper_and_opens_it():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("b", *"clip.py", "colon", "1", "7", "enter", "c")
        assert isinstance(pilot.app.screen, InsideScreen)
        assert current(pilot.app).startswith("3 mul g, mask")
        assert "◆" in source(pilot.app)
        await pilot.press("home", "c")
        assert current(pilot.app).startswith("3 mul g, mask")
        await pilot.press("c")
        assert isinstance(pilot.app.screen, StepperScreen)
        assert bar(pilot.app) == "step 3 of 6"
        await pilot.press("end", "C")
        assert isinstance(pilot.app.screen, InsideScreen)


async def test_b_inside_sets_and_removes_a_breakpoint_at_the_line():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i", "right", "b")
        assert "◆" in source(pilot.app)
        await pilot.press("home", "c")
        assert current(pilot.app).startswith("2 mul g, 0.5")
        await pilot.press("b")
        assert "◆" not in source(pilot.app)


async def test_a_run_inside_goes_on_in_the_stepper():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("b", "percent_sign", "1", "enter", "g", "3", "enter", "i", "c")
        assert isinstance(pilot.app.screen, StepperScreen)
        assert bar(pilot.app) == "step 5 of 6"


async def test_a_shows_the_numbers_and_question_mark_the_keys():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i", "right", "a")
        assert isinstance(pilot.app.screen, ArrayScreen)
        assert "g * 0.5" in str(pilot.app.screen.query_one("#which").content)
        await pilot.press("escape", "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("escape", "f1")
        assert pilot.app.screen.query_one("VerticalScroll").border_title == "steps"


async def test_a_click_on_a_row_or_a_line_goes_there():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i", "end", "right")
        await pilot.click("InsideSteps", offset=(10, 4))
        await pilot.pause()
        assert current(pilot.app).startswith("4 return")
        lines = shown(pilot.app, "InsideSource").splitlines()
        at = next(i for i, one in enumerate(lines) if "scaled = g * mask" in one)
        await pilot.click("InsideSource", offset=(20, at + 1))
        await pilot.pause()
        assert current(pilot.app).startswith("3 mul")
        await pilot.click("InsideSource", offset=(2, at + 1))
        await pilot.pause()
        assert "◆" in source(pilot.app)


async def test_the_contract_stands_beside_the_code_where_there_is_room():
    async with stepper(recorded("clip")).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i")
        assert not pilot.app.screen.query_one("InsideContract").display
        await pilot.press("end", "right")
        contract = " ".join(shown(pilot.app, "InsideContract").split())
        assert "lo, hi no tensors → None" in contract
        assert "mask intermediate, version 0, now 0" in contract


async def test_the_keys_are_those_that_the_user_has_chosen():
    async with stepper(recorded("clip"), keymap={"move(1)": ("n",), "step_into": ("I",)}).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i")
        assert isinstance(pilot.app.screen, StepperScreen)
        await pilot.press("I", "n")
        assert current(pilot.app).startswith("2 mul")


async def test_without_unicode_every_character_is_ascii():
    async with stepper(recorded("nested"), ascii=True).run_test(size=LARGE) as pilot:
        await pilot.press("g", "3", "enter", "i", "end", "right", "right")
        for name in ("InsideHeading", "InsideSource", "InsideVariables", "InsideContract", "InsideSteps"):
            shown(pilot.app, name).encode("ascii")
