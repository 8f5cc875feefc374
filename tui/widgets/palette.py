"""The command palette: every action of the screen's keys, found by its words. And the list of themes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input
from textual.widgets.option_list import Option

from tui.shell.key_names import key_name
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below

LEFT_OUT = ("app.command_palette", "command_palette", "help_quit", "screen.copy_text")


def commands_of(screen: Screen[object], *, ascii: bool = False) -> Iterator[SystemCommand]:
    """A command for each action of the screen, with its keys."""
    found: dict[str, tuple[str, list[str]]] = {}
    for key, active in screen.active_bindings.items():
        binding = active.binding
        if active.node is screen and binding.description and binding.action not in LEFT_OUT:
            found.setdefault(binding.action, (binding.description, []))[1].append(key_name(key, ascii=ascii))
    for action, (words, keys) in found.items():
        yield SystemCommand(
            words[0].upper() + words[1:], f"key {' or '.join(keys)}", partial(screen.run_action, action)
        )


def without(commands: Iterable[SystemCommand], *titles: str) -> Iterator[SystemCommand]:
    """The commands, except those with these titles."""
    return (one for one in commands if one.title not in titles)


class Palette(Dialog[SystemCommand | None]):
    """Lists commands, those that have all the typed words. Closes with the chosen one, or None.

    Textual's own palette gathers its rows in a task, and raises if a key or a click comes at the wrong moment.
    """

    DEFAULT_CSS = """
    Palette { align: center top; }
    Palette > Vertical {
        width: 76; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    Palette Input, Palette Input:focus {
        border: none; height: 1; padding: 0 1; margin: 0 0 1 0; background: $panel;
    }
    Palette OptionList, Palette OptionList:focus {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", show=False),
        Binding("down", "walk('cursor_down')", show=False, priority=True),
        Binding("up", "walk('cursor_up')", show=False, priority=True),
        Binding("pagedown", "walk('page_down')", show=False, priority=True),
        Binding("pageup", "walk('page_up')", show=False, priority=True),
        Binding("ctrl+home", "walk('first')", show=False, priority=True),
        Binding("ctrl+end", "walk('last')", show=False, priority=True),
    ]

    def __init__(self, title: str, commands: Iterable[SystemCommand], hint: str) -> None:
        super().__init__()
        self._title, self._commands, self._hint = title, list(commands), hint
        self._found: Sequence[SystemCommand] = ()

    def compose(self) -> ComposeResult:
        """The field for the words, and the commands."""
        with Vertical() as box:
            box.border_title = self._title
            box.border_subtitle = keys_below(("enter", "Enter chooses"), ("escape", "Esc"))
            yield Input(placeholder=self._hint, select_on_focus=False)
            yield Choices()

    def on_mount(self) -> None:
        """List all commands. All other keys than those of the list are typed into the field."""
        self.query_one(Choices).can_focus = False
        self.query_one(Input).focus()
        self._show("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """List the commands that have the words."""
        self._show(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the highlighted command."""
        event.stop()
        self.query_one(Choices).action_select()

    def chose(self, row: int) -> None:
        """Close with the command."""
        self.dismiss(self._found[row])

    def action_walk(self, how: str) -> None:
        """Move the highlight."""
        getattr(self.query_one(Choices), f"action_{how}")()

    def action_close(self) -> None:
        """Close without a command."""
        self.dismiss(None)

    def _show(self, typed: str) -> None:
        words = typed.casefold().split()
        self._found = [one for one in self._commands if all(word in _text(one).casefold() for word in words)]
        rows = self.query_one(Choices)
        rows.clear_options()
        rows.add_options([Option(_row(one)) for one in self._found])
        if self._found:
            rows.highlighted = 0
        else:
            rows.add_option(Option(Content.styled("nothing has these words", "$text-muted"), disabled=True))
        self.call_after_refresh(self.fit_lists)


def _text(command: SystemCommand) -> str:
    return f"{command.title} {command.help}"


def _row(command: SystemCommand) -> Content:
    return Content.assemble((command.title, "bold"), "   " * bool(command.help), (command.help, "$text-muted"))
