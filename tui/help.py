"""The page of keys, and of what the marks mean."""

from __future__ import annotations

import textwrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.explained import EXPLAINED

WIDTH, KEY = 72, 9  # characters of a line, and of its left column
KEYS = (
    ("→ l", "one step on"),
    ("← h", "one step back; nothing is un-run, you look at an earlier moment"),
    ("⇧→ ⇧←", "inside of a step: take, unpack, compute, each delivery, free; also L and H"),
    ("Home", "where backward was called; again: before the first operation"),
    ("End", "after the last step, or where it failed"),
    ("g", "go to a node: its number, a name (w1, mul), or a line (:7)"),
    ("v", "the tape, the graph as boxes, both"),
    ("Enter", "why has this node this gradient, or none? x asks for any: W1[0, 3]"),
    ("a", "the numbers of this node: gradient, value, what it kept, what it sent"),
    ("b  w", "stop at a node, name, line or condition (grad.max() > 10); watch: stop when it changes"),
    ("B", "list breakpoints and watches: go to one, take one away; pane 5 shows them"),
    ("c  C", "run on to the next stop, back to the one before; ! to the next NaN or infinity"),
    ("space", "play, at a speed that + and - change; any stop ends it"),
    ("P", "predict: you are asked before each step, and a score is kept; again: no longer"),
    ("/  n N", "find an operation, a name, a shape 24×3; the next match, the one before"),
    ("f", "show only the rows in which a text is found; Esc shows all again"),
    ("z  Z", "fold what repeats, or unfold it; open the nearest fold (a click does, too)"),
    ("y", "copy a value, a gradient, a formula, a line or a pane, over ssh too"),
    ("o", "write the picture, the film, the trace, this screen to a file"),
    ("e", "edit this line in $EDITOR; what you save is recorded again, at the same place"),
    ("[ ]  p", "the pass before, the next pass; p goes round; s lists them, side by side"),
    ("Tab", "the next pane; 1 to 5 choose node, source, leaves, engine, watch"),
    ("↑ ↓", "scroll the pane that has the focus; PgUp and PgDn by pages"),
    ("click", "on a row of the tape: go to its step"),
    ("F1", "explain the view or pane that has the focus"),
    ("^p", "all commands by their words, and themes"),
    ("q", "quit"),
)
MARKS = (
    ("▶", "the node that ran just now"),
    ("▷", "the node that will run first"),
    ("+", "has just been handed a gradient"),
    ("✗", "backward failed here"),
    ("◆", "a breakpoint, beside its row and on the line of time; there ! is a NaN, ┷ a leaf"),
    ("●", "an operation; the line below it is its value, down to where it is used"),
    ("○", "a leaf: a tensor of yours that collects .grad"),
    ("6 (1/2)", "a gradient so far: one of two terms has come"),
    ("·", "nothing yet, which is not zero"),
)
PREFACE = (
    "You see one backward pass. Above, the tape: your operations in the order in which they ran. "
    "Backward rewinds it, from the last operation up to your leaves, and hands gradients along. "
    "Bright is past, dim is yet to come."
)


class HelpScreen(ModalScreen[None]):
    """Shown over the stepper until a key is pressed."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 78; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter,f1", "dismiss", "close")]

    def __init__(self, about: str | None = None) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        """The preface, the keys, the marks; or what one view or pane shows."""
        with VerticalScroll() as page:
            page.border_title = "help"
            page.border_subtitle = "Esc closes"
            if self._about is not None:
                page.border_title = self._about
                yield Static(Content(EXPLAINED[self._about]))
                return
            yield Static(Content(PREFACE + "\n"))
            yield Static(_table("keys", KEYS))
            yield Static(_table("\nmarks", MARKS))


def _table(title: str, rows: tuple[tuple[str, str], ...]) -> Content:
    lines = [Content.styled(title, "$text-muted")]
    for key, meaning in rows:
        text = textwrap.fill(meaning, WIDTH - KEY, subsequent_indent=" " * KEY)
        lines.append(Content.assemble((key.ljust(KEY), "bold $text-accent"), text))
    return Content("\n").join(lines)
