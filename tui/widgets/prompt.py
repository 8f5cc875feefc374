"""The line at the bottom that asks for a place, a condition, or a text to look for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

Purpose: TypeAlias = Literal["go to", "break at", "watch", "why of", "find", "filter"]
EXAMPLES: dict[Purpose, str] = {
    "go to": "a number, a name, or a line such as :7",
    "break at": "Enter: this node; or mul, w1, :7, grad.max() > 10",
    "watch": "Enter: this node; or a name such as w1",
    "why of": "Enter: this node; or a gradient, W1, or one element of it, W1[0, 3]",
    "find": "an operation, a name, a line :7, a shape 24×3",
    "filter": "show only rows with this: mul, w1, :7, 24×3; Enter: all",
}
TYPED = 38  # characters that the purpose and what was typed take beside a refusal


class Prompt(Horizontal):
    """Hidden until it is opened. It posts what was typed and stays open until it is told that the answer was good."""

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

    _purpose: Purpose = "go to"

    @dataclass
    class Asked(Message):
        """The user has typed something; for "break at" and "watch" it may be empty."""

        purpose: Purpose
        target: str

    @dataclass
    class Closed(Message):
        """The user is done here."""

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
        self.query_one("#purpose", Label).update(purpose)
        field = self.query_one(Input)
        field.value, field.placeholder = "", EXAMPLES[purpose]
        field.focus()

    def close(self) -> None:
        """Hide the prompt again."""
        self.display = False

    def action_close(self) -> None:
        """The user wants nothing."""
        self.close()
        self.post_message(self.Closed())

    def refuse(self, why: str) -> None:
        """Say why there is no such place; the text stays, to be mended. What has no room here is told above as well."""
        if why or self.has_class("-refused"):  # typing need not lay the line out again
            self.set_class(bool(why), "-refused")
            self.query_one("#problem", Label).update(why)
        if why and len(why) > self.app.size.width - TYPED:
            self.app.clear_notifications()
            self.notify(why, severity="warning", timeout=8, markup=False)

    def on_descendant_blur(self) -> None:
        """Who goes elsewhere is done here."""
        self.display = False

    def on_input_changed(self) -> None:
        """Typing answers a complaint."""
        self.refuse("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: pass it on; an empty field closes, where it does not mean the current node."""
        event.stop()
        if event.value.strip() or self._purpose in ("break at", "watch", "why of", "filter"):
            self.post_message(self.Asked(self._purpose, event.value))
        else:
            self.action_close()
