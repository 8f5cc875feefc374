"""The programs that run full-screen: what they share is here, what they show is in their screens."""

from __future__ import annotations

from typing import Unpack

from textual.app import App

from microtape.recording.model import Recording
from tui.look import THEMES
from tui.stepper import StepperOptions, StepperScreen


class MicrotapeApp(App[None]):
    """A full-screen program with our themes."""

    TITLE = "microtape"

    def __init__(self, theme: str = "dark") -> None:
        super().__init__()
        for one in THEMES.values():
            self.register_theme(one)
        self.theme = THEMES[theme].name


class StepperApp(MicrotapeApp):
    """The stepper on one recording."""

    def __init__(self, recording: Recording, *, theme: str = "dark", **options: Unpack[StepperOptions]) -> None:
        super().__init__(theme)
        self._stepper = StepperScreen(recording, **options)

    def on_mount(self) -> None:
        """Leaving the stepper is leaving the program."""
        self.push_screen(self._stepper, lambda _: self.exit())
