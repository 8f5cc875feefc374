"""The line at the bottom that asks where to go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label


class GotoPrompt(Horizontal):
    """Hidden until it is opened. It posts what was typed and stays open until it is told that the place was found."""

    DEFAULT_CSS = """
    GotoPrompt { height: 1; display: none; background: $panel; }
    GotoPrompt.-open { display: block; }
    GotoPrompt > Label { padding: 0 1; text-style: bold; }
    GotoPrompt > Input { width: 42; border: none; height: 1; padding: 0; background: $panel; }
    GotoPrompt.-refused > Input { width: 22; }
    GotoPrompt > #problem { width: 1fr; color: $text-error; text-style: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "close", show=False)]

    @dataclass
    class Asked(Message):
        """The user wants to go there."""

        target: str

    @dataclass
    class Closed(Message):
        """The user is done here."""

    def compose(self) -> ComposeResult:
        """A word, the field, and room for what went wrong."""
        yield Label("go to")
        yield Input(placeholder="a number, a name, or a line such as :7")
        yield Label("", id="problem")

    def open(self) -> None:
        """Show the prompt, empty."""
        self.add_class("-open")
        self.refuse("")
        field = self.query_one(Input)
        field.value = ""
        field.focus()

    def action_close(self) -> None:
        """Hide the prompt again."""
        self.remove_class("-open")
        self.post_message(self.Closed())

    def refuse(self, why: str) -> None:
        """Say why there is no such place; the text stays, to be mended."""
        self.set_class(bool(why), "-refused")
        self.query_one("#problem", Label).update(why)

    def on_descendant_blur(self) -> None:
        """Who goes elsewhere is done here."""
        self.remove_class("-open")

    def on_input_changed(self) -> None:
        """Typing answers a complaint."""
        self.refuse("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: go there; on an empty field: close."""
        event.stop()
        if event.value.strip():
            self.post_message(self.Asked(event.value))
        else:
            self.action_close()
