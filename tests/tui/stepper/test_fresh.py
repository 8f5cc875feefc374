"""Nothing on the screen is left over: after any keys it is what a stepper shows that was opened at this place."""

import random

import pytest

import microtape
from microtape.recording.script.run import record_script
from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import stepper
from tui.shell.demos import EXAMPLES
from tui.widgets.lines.line_view import LineView
from tui.widgets.prompt import Prompt

KEYS = [
    *(["right"] * 6), *(["left"] * 4), "shift+right", "shift+right", "shift+left", "home", "end", "v", "z",
    "g 3 enter", "g a d d enter", "g m u l enter", "g 9 enter", "slash m u l enter", "n", "n", "N",
    "f a d d enter", "escape", "b enter", "c", "C", "w 0 enter", "right_square_bracket", "p",
    "down", "pagedown", "pageup", "2", "3", "tab",
]  # fmt: skip


def on_screen(app):
    """Every cell of the screen with its style, as it was composed of what the widgets remember."""
    strips = app.screen._compositor.render_strips()
    return [[(letter, segment.style) for segment in strip for letter in segment.text] for strip in strips]


def text(screen):
    return ["".join(letter for letter, _ in line) for line in screen]


async def settled(pilot):
    """Nothing is on its way to the screen any more."""
    screen = pilot.app.screen
    await until(pilot, lambda: screen.findings.found is not None and not screen.stops.breakpoints.unknown)
    pilot.app.clear_notifications()
    await until(pilot, lambda: not pilot.app._notifications and not screen.query("Toast"))
    await pilot.pause()


async def opened_at(before, size):
    """The screen of a stepper that opens where another one is."""
    app = stepper(before.cursor.recording)
    app._stepper._opening = before.cursor
    async with app.run_test(size=size) as pilot:
        screen = pilot.app.screen
        await pilot.pause()
        screen.stops.breakpoints = before.stops.breakpoints
        screen.arrangement.chosen = before.arrangement.chosen
        screen.arrangement.show(before.arrangement.view)
        screen.panes.choose(before.panes.chosen)
        screen.search.found = before.search.found
        screen.changed()
        if before.focused is not None:
            screen.query_one(f"#{before.focused.id}").focus()
        await settled(pilot)
        tape, other = screen.query_one("#tape"), before.query_one("#tape")
        if other.folds:
            await pilot.press("z")
        if other.is_filtered:
            tape.filter(other._only, other._banner)
        await settled(pilot)
        for view in before.query(LineView):  # where it is scrolled to depends on the way
            screen.query_one(f"#{view.id}").scroll_to(*view.scroll_offset, animate=False, force=True)
        await settled(pilot)
        return on_screen(pilot.app)


@pytest.fixture(scope="module")
def rnn(tmp_path_factory):
    path = tmp_path_factory.mktemp("rnn") / "rnn.tape"
    record_script(EXAMPLES / "rnn.py", out=str(path))
    return microtape.load(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "seed"),
    [("twice", (160, 48), 1), ("failing", (84, 60), 2), ("chain", (80, 24), 3), ("rnn", (140, 50), 4)],
)
async def test_the_screen_is_the_same_as_of_a_stepper_that_opens_there(name, size, seed, request):
    made = {"chain": lambda: handmade.chain(90, 5), "rnn": lambda: request.getfixturevalue("rnn")}
    recording = made.get(name, getattr(handmade, name, None))()
    choose = random.Random(seed)
    async with stepper(recording).run_test(size=size) as pilot:
        pressed = []
        for _ in range(3):
            for _ in range(12):
                pressed.append(choose.choice(KEYS))
                await pilot.press(*pressed[-1].split())
                if pilot.app.screen.query_one(Prompt).display:  # it has refused something
                    await pilot.press("escape")
            await settled(pilot)
            seen, fresh = on_screen(pilot.app), await opened_at(pilot.app.screen, size)
            assert text(seen) == text(fresh), pressed
            assert seen == fresh, pressed
