"""The programs that run full-screen: what they share is here, what they show is in their screens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

from textual.app import App, SystemCommand
from textual.screen import Screen

from microtape.recording.model import Recording
from tui.look import THEMES
from tui.palette import commands_of, without
from tui.stepper import StepperOptions, StepperScreen


class MicrotapeApp(App[None]):
    """A full-screen program with our themes."""

    TITLE = "microtape"

    def __init__(self, theme: str = "dark") -> None:
        super().__init__()
        for one in THEMES.values():
            self.register_theme(one)
        self.theme = THEMES[theme].name
        self.animation_level = "none"  # nothing moves unless it says something

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        """What every key does, then what Textual offers. Its list of keys would be a second help page."""
        yield from commands_of(screen)
        yield from without(super().get_system_commands(screen), "Keys", "Screenshot", "Maximize", "Minimize")


class StepperApp(MicrotapeApp):
    """The stepper on one recording."""

    def __init__(self, recording: Recording, *, theme: str = "dark", **options: Unpack[StepperOptions]) -> None:
        super().__init__(theme)
        self._stepper = StepperScreen(recording, **options)

    def on_mount(self) -> None:
        """Leaving the stepper is leaving the program."""
        self.push_screen(self._stepper, lambda _: self.exit())
