"""The line at the bottom that asks for a place, a condition, or a text to search for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label
from textual.widgets._toast import ToastRack

TYPED = 38  # characters that the purpose and the typed text take beside a refusal


class Purpose(NamedTuple):
    """The purpose of a prompt: a name, an example, and whether an empty text is an answer."""

    name: str
    example: str  # shown while nothing has been typed
    may_be_empty: bool = False


class Prompt(Horizontal):
    """Hidden until it is opened. It posts the typed text, and stays open until `close` is called."""

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
        """Posted when the user has typed an answer."""

        purpose: str
        text: str

    @dataclass
    class Closed(Message):
        """Posted when the user has closed the prompt without an answer."""

    def compose(self) -> ComposeResult:
        """The purpose, the input field, and room for an error message."""
        yield Label("", id="purpose", markup=False)
        yield Input()
        yield Label("", id="problem", markup=False)

    def open(self, purpose: Purpose) -> None:
        """Show the prompt with an empty field."""
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
        """Show what is wrong with the text, which stays. A long message is also shown as a notification."""
        if why or self.has_class("-refused"):  # without a refusal, typing need not lay out the line again
            self.set_class(bool(why), "-refused")
            self.query_one("#problem", Label).update(why)
        if why and len(why) > self.app.size.width - TYPED:
            self.notify(why, timeout=8, markup=False)

    def on_show(self) -> None:
        """Move notices out of the way."""
        self.screen.query(ToastRack).add_class("-above-prompt")

    def on_hide(self) -> None:
        """Let notices have the line again."""
        self.screen.query(ToastRack).remove_class("-above-prompt")

    def on_descendant_blur(self) -> None:
        """Hide the prompt when it loses the focus."""
        self.display = False

    def on_input_changed(self) -> None:
        """Remove the error message when the user types."""
        self.refuse("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Post the answer; if the text is empty and that is no answer, close."""
        event.stop()
        if event.value.strip() or self._purpose.may_be_empty:
            self.post_message(self.Answered(self._purpose.name, event.value))
        else:
            self.action_close()
