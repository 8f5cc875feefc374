"""The base of the full-screen apps, and the stepper's app. Their contents are in the screens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, Unpack

from textual._callback import invoke
from textual.app import SystemCommand
from textual.binding import Binding
from textual.events import Event, Key, MouseDown
from textual.notifications import Notify, SeverityLevel
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender

from microtape.recording.model.model import Recording
from tui.guarded.app import GuardedApp
from tui.shell.key_names import key_name
from tui.shell.remembered import Remembered, SavedMoment, key_of
from tui.shell.spans import shown
from tui.shell.user_keys import Keymap, rebind
from tui.stepper.parts.background import AT_ONCE
from tui.stepper.stepper import StepperOptions, StepperScreen
from tui.widgets.palette import Palette, commands_of, without
from tui.widgets.themes import THEMES

SEVERITIES: tuple[SeverityLevel, ...] = ("information", "warning", "error")


class PlainScrollBar(ScrollBarRender):
    """A scrollbar of whole cells, without the block characters that fill parts of a cell."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


class MicrotapeApp(GuardedApp):
    """A full-screen program with our themes.

    A notice takes the place of the keys in the last line, which everybody can do without for a while. One that is no
    warning ends with the next key or click, which may make it untrue.
    """

    TITLE = "microtape"
    CSS = """
    ModalScreen > VerticalScroll, OptionList, Grid {
        scrollbar-size: 1 1; scrollbar-color: $panel; scrollbar-color-hover: $accent; scrollbar-color-active: $accent;
        scrollbar-background: $surface; scrollbar-background-hover: $surface; scrollbar-background-active: $surface;
    }
    OptionList:focus { background-tint: $foreground 0%; }
    OptionList > .option-list--option-highlighted, OptionList:focus > .option-list--option-highlighted {
        background: $accent-muted; color: $foreground; text-style: none;
    }
    ToastRack, ToastRack ToastHolder { margin: 0; align-horizontal: left; overflow: hidden hidden; }
    ToastRack.-above-prompt { margin-bottom: 1; }
    ToastRack Toast { width: 1fr; max-width: 100%; margin: 0; padding: 0 1; border: none; background: $panel; }
    ToastRack Toast.-warning { color: $text-warning; }
    ToastRack Toast.-error { color: $text-error; }
    .-ascii TapeView, .-ascii BoxView, .-ascii Pane { border: ascii $panel; }
    .-ascii TapeView:focus, .-ascii BoxView:focus, .-ascii Pane:focus { border: ascii $accent; }
    .-ascii StepperScreen > #sentence { border: none; border-top: ascii $panel; }
    .-ascii StepperScreen > #sentence:focus { border: none; border-top: ascii $accent; }
    .-ascii .-short.-narrow TapeView, .-ascii .-short.-narrow Pane { border: none; }
    .-ascii .-short.-narrow.-stacked #panes > Pane { border-top: ascii $panel; }
    .-ascii .-short.-narrow.-beside #panes > Pane { border-top: ascii $panel; }
    .-ascii StepperScreen.-short.-narrow > #sentence { border: none; }
    .-ascii ModalScreen > Vertical, .-ascii ModalScreen > VerticalScroll { border: ascii $accent; }
    """

    def __init__(self, theme: str = "dark", *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii
        self.set_class(ascii, "-ascii")
        ScrollBar.renderer = PlainScrollBar if ascii else ScrollBarRender
        for one in THEMES.values():
            self.register_theme(one)
        self.theme = THEMES[theme].name
        self.animation_level = "none"  # motion should always carry information

    def on_notify(self, event: Notify) -> None:
        """Show one notice at a time: the new one replaces all that are not more severe."""
        self._end_notices(event.notification.severity)

    async def on_event(self, event: Event) -> None:
        """End a notice before a key or a click does anything."""
        if isinstance(event, Key | MouseDown) and not event.is_forwarded:
            self._end_notices("information")
        await super().on_event(event)

    def _end_notices(self, most: SeverityLevel) -> None:
        """End the notices that are at most that severe."""
        for one in [*self._notifications]:
            if SEVERITIES.index(one.severity) <= SEVERITIES.index(most):
                self._unnotify(one)

    def get_key_display(self, binding: Binding) -> str:
        """The name of a key in the footer."""
        return binding.key_display or key_name(binding.key, ascii=self._ascii)

    def action_command_palette(self) -> None:
        """Open the command palette."""
        if not isinstance(self.screen, Palette):
            self._open_palette("menu", self.get_system_commands(self.screen), "words of a command")

    def action_help_quit(self) -> None:
        """Say which key quits, for a user who presses Ctrl+C: the one that the footer names, else Textual's own."""
        shown = [one.binding for one in self.active_bindings.values()]
        quits = next(one for word in ("quit", "Quit") for one in shown if one.description == word)
        self.notify(f"Ctrl+C does not quit here: {self.get_key_display(quits)} quits.", timeout=4, markup=False)

    def search_themes(self) -> None:
        """Open the list of themes."""
        themes = (SystemCommand(name, "", partial(setattr, self, "theme", name)) for name in self.available_themes)
        self._open_palette("themes", sorted(themes), "the name of a theme")

    def _open_palette(self, title: str, commands: Iterable[SystemCommand], hint: str) -> None:
        async def run(chosen: SystemCommand | None) -> None:
            if chosen is not None:
                await invoke(chosen.callback)

        self.push_screen(Palette(title, commands, hint), run)

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        """The commands of all keys, then Textual's own, without its list of keys: the stepper has a help page."""
        yield from commands_of(screen, ascii=self._ascii)
        yield from without(super().get_system_commands(screen), "Keys", "Screenshot", "Maximize", "Minimize")


class StepperApp(MicrotapeApp):
    """The stepper on one recording.

    `remembers` restores the layout and place of the last session; `notice` is shown afterwards.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        theme: str = "",
        remembers: bool = False,
        keymap: Keymap | None = None,
        notice: str = "",
        **options: Unpack[StepperOptions],
    ) -> None:
        known = Remembered.load() if remembers else Remembered()
        super().__init__(theme or "dark", ascii=options.get("ascii", False))
        if not theme and known.theme in self.available_themes:
            self.theme = known.theme
        self._known, self._remembers, self._notice = known, remembers, notice
        self._opened_with = self.theme
        options.setdefault("guides", remembers and not known.places)  # in the first session
        self._is_long, self._title = len(recording.nodes) > AT_ONCE, shown(recording.title)
        self._stepper = StepperScreen(recording, **options)
        rebind(self._stepper, keymap or {})

    def on_mount(self) -> None:
        """Open the stepper; closing it ends the program. While a long recording opens, show a text."""
        if self._is_long and self._driver is not None:
            self._driver.write(f"\x1b[2;3Hopening {self._title} ...")
        self.push_screen(self._stepper, lambda _: self.exit())
        self.call_after_refresh(self._stepper.return_to, self._known)
        if self._notice:
            self.notify(self._notice, severity="warning", timeout=15, markup=False)

    def on_unmount(self) -> None:
        """Remember the session."""
        self.keep()

    def keep(self) -> None:
        """Store the place, the layout and the theme."""
        cursor = self._stepper.cursor
        if self._remembers and cursor is not None:
            place = SavedMoment(cursor.timeline.pass_index, cursor.position)
            places = self._known.with_place(key_of(cursor.recording), place)
            # Store only choices of the user: a layout that fitted this terminal may not fit the next one.
            theme = self.theme if self.theme != self._opened_with else self._known.theme
            view = self._stepper.arrangement.chosen or self._known.view
            Remembered(theme, view, self._stepper.panes.kept, places).save()
