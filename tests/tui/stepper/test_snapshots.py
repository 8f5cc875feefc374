"""A handful of screens, pinned. After looking at new ones: `pytest tests/tui/stepper --snapshot-update`.

What the screens must say is in the other tests; these hold what they look like. Only numbers that every machine
computes alike are in them.
"""

import pytest

import microtape
from microtape.recording.script.run import record_script
from tui.shell.demos import EXAMPLES
from tui.stepper.app import StepperApp

SCREENS = {
    "small dark": ("diamond", (80, 24), "dark", ["right"] * 3),
    "small light": ("diamond", (80, 24), "light", ["right"] * 3 + ["2"]),
    "large dark": ("diamond", (160, 48), "dark", ["right"] * 4 + ["w", "x", "enter"]),
    "large light": ("diamond", (160, 48), "light", ["home", "right"]),
    "a failed pass": ("in_place_error", (160, 48), "dark", []),
    "a NaN": ("nan_gradient", (80, 24), "dark", ["exclamation_mark"]),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screens(name, snap_compare, tmp_path):
    example, size, theme, keys = SCREENS[name]
    record_script(EXAMPLES / f"{example}.py", out=str(tmp_path / "run.tape"))

    async def settle(pilot):
        while pilot.app.screen.findings.found is None:  # everything has been looked at
            await pilot.pause(0.05)
        await pilot.press(*keys)
        pilot.app.clear_notifications()
        await pilot.pause()

    app = StepperApp(microtape.load(tmp_path / "run.tape"), theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=settle)
