"""The line at the bottom that asks for a place, a condition, or a text to search for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

TYPED = 38  # characters that the purpose and what was typed take beside a refusal


class Purpose(NamedTuple):
    """What the prompt asks for."""

    name: str
    example: str  # shown while nothing has been typed
    may_be_empty: bool = False  # whether Enter alone is an answer


class Prompt(Horizontal):
    """Hidden until it is opened. It posts the text that was typed, and stays open until it is told to close."""

    DEFAULT_CSS = """
    Prompt { layer: prompt; dock: bottom; height: 1; display: none; background: $panel; }
    Prompt > Label { padding: 0 1; text-style: bold; }
    Prompt > Input, Prompt > Input:focus { width: 56; border: none; height: 1; padding: 0; background: $panel; }
    Prompt.-refused > Input, Prompt.-refused > Input:focus { width: 24; }
    Prompt > #problem {
        width: 1fr; color: $text-error; text-style: none; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "close", show=False)]

    _purpose = Purpose("", "")

    @dataclass
    class Answered(Message):
        """The user has typed an answer."""

        purpose: str
        text: str

    @dataclass
    class Closed(Message):
        """The user has closed the prompt without an answer."""

    def compose(self) -> ComposeResult:
        """A word, the field, and room for what went wrong."""
        yield Label("", id="purpose")
        yield Input()
        yield Label("", id="problem")

    def open(self, purpose: Purpose) -> None:
        """Show the prompt, empty."""
        self._purpose = purpose
        self.display = True
        self.refuse("")
        self.query_one("#purpose", Label).update(purpose.name)
        field = self.query_one(Input)
        field.value, field.placeholder = "", purpose.example
        field.focus()

    def close(self) -> None:
        """Hide the prompt again."""
        self.display = False

    def action_close(self) -> None:
        """Close without an answer."""
        self.close()
        self.post_message(self.Closed())

    def refuse(self, why: str) -> None:
        """Say what is wrong with the text, which stays; in a notice as well where this line has no room."""
        if why or self.has_class("-refused"):  # typing need not lay the line out again
            self.set_class(bool(why), "-refused")
            self.query_one("#problem", Label).update(why)
        if why and len(why) > self.app.size.width - TYPED:
            self.app.clear_notifications()
            self.notify(why, severity="warning", timeout=8, markup=False)

    def on_descendant_blur(self) -> None:
        """Moving the focus elsewhere hides the prompt."""
        self.display = False

    def on_input_changed(self) -> None:
        """Typing takes a refusal away."""
        self.refuse("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass the answer on; an empty text that is no answer closes the prompt."""
        event.stop()
        if event.value.strip() or self._purpose.may_be_empty:
            self.post_message(self.Answered(self._purpose.name, event.value))
        else:
            self.action_close()
