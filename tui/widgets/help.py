"""The page of keys, and of what the marks mean."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.shell.key_names import KeyNames
from tui.shell.spans import shown
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.explained import EXPLAINED
from tui.widgets.panes import PANES
from tui.widgets.tape import ASCII_GLYPHS, GLYPHS

WIDTH, KEY = 96, 11  # most characters of a line, and those of its left column
# The actions of the stepper, and what they do; `{action}` is the key of another one.
KEYS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("move(1)",), "one step on"),
    (("move(-1)",), "one step back; nothing is un-run, you look at an earlier moment"),
    (
        ("move_inside(1)", "move_inside(-1)"),
        "inside of a step, on and back: take, unpack, compute, each delivery, free",
    ),
    (("home",), "where backward was called; again: before the first operation"),
    (("end",), "after the last step, or where it failed"),
    (("ask('go to')",), "go to a node: its number, a name (w1, mul), or a line (:7)"),
    (("turn_view",), "the tape, the graph as boxes, both"),
    (("why",), "why has this node this gradient, or none? {ask('why of')} asks for any: W1[0, 3]"),
    (("array",), "the numbers of this node: gradient, value, what it kept, what it sent"),
    (
        ("ask('break at')", "ask('watch')"),
        "stop at a node, name, line or condition (grad.max() > 10); watch: stop when it changes",
    ),
    (("stops",), "list breakpoints and watches: go to one, take one away; pane {show_pane('watch')} shows them"),
    (("run(1)", "run(-1)"), "run on to the next stop, back to the one before"),
    (("next_nan",), "to the first NaN or infinity; again: to the next"),
    (("play",), "play, at a speed that {faster(1)} and {faster(-1)} change; any stop ends it"),
    (("predict",), "predict: you are asked before each step, and a score is kept; again: no longer"),
    (
        ("ask('find')", "find_next(1)", "find_next(-1)"),
        "find an operation, a name, a shape 24×3; the next match, the one before",
    ),
    (("ask('filter')",), "show only the rows in which a text is found; {escape} shows all again"),
    (("fold", "open_fold"), "fold what repeats, or unfold it; open the nearest fold (a click does, too)"),
    (("copy",), "copy a value, a gradient, a formula, a line or a pane, over ssh too"),
    (("export",), "write the picture, the film, the trace, this screen to a file"),
    (("edit",), "edit this line in $EDITOR; what you save is recorded again, at the same place"),
    (("turn_pass(-1)", "turn_pass(1)"), "the pass before, the next pass; {next_pass} goes round"),
    (("passes",), "list the passes; put two of them side by side"),
    (("turn_focus(1)",), "the next pane"),
    (tuple(f"show_pane('{name}')" for name in PANES), f"show {', '.join(PANES[:-1])}, {PANES[-1]}"),
    (("explain",), "explain the view or pane that has the focus"),
    (("app.command_palette",), "all commands by their words, and themes"),
    (("leave",), "quit"),
)
FIXED = (
    ("↑ ↓", "scroll the pane that has the focus; PgUp and PgDn by pages"),
    ("click", "on a row, box, leaf, line, name or the time above: go there; left of a number: a breakpoint"),
)
MARKS = (
    ("▶", "current", "the node that ran just now"),
    ("▷", "next", "the node that will run first"),
    ("+", "delivered", "has just been handed a gradient"),
    ("✗", "failed", "backward failed here"),
    ("◆", "stop", "a breakpoint, beside its row and on the line of time; there ! is a NaN, ┷ a leaf"),
    ("●", "", "an operation; the line below it is its value, down to where it is used"),
    ("○", "", "a leaf: a tensor of yours that collects .grad"),
    ("0.1 ± 0.9", "", "an array too long to list: the mean of its numbers, and their standard deviation"),
    ("all 0.5", "", "an array whose numbers are all the same"),
    ("6 (1/2)", "", "a gradient so far: one of two terms has come"),
    ("·", "", "nothing yet, which is not zero"),
)
PREFACE = (
    "You see one backward pass. Above, the tape: your operations in the order in which they ran. "
    "Backward rewinds it, from the last operation up to your leaves, and hands gradients along. "
    "Bright is past, dim is yet to come."
)


class HelpScreen(Dialog[None]):
    """Shown over the stepper until a key is pressed."""

    FITTED = True

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 102; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter,f1", "dismiss", "close")]

    def __init__(self, about: str | None = None, keys: KeyNames | None = None) -> None:
        super().__init__()
        self._about = about
        self._keys = keys or KeyNames({})

    def compose(self) -> ComposeResult:
        """The preface, the keys, the marks; or what one view or pane shows."""
        with VerticalScroll() as page:
            page.border_title = "help"
            page.border_subtitle = keys_below(("escape", "Esc closes"))
            if self._about is not None:
                page.border_title = self._about
                yield Static(self._text(self._keys.spell(EXPLAINED[self._about])))
                return
            yield Static(self._text(PREFACE))
            yield Static(self._table("\nkeys", self._rows()))
            glyphs = ASCII_GLYPHS if self._keys.ascii else GLYPHS
            marks = [(glyphs[name] if name else mark, meaning) for mark, name, meaning in MARKS]
            yield Static(self._table("\nmarks", marks))

    def _rows(self) -> Iterator[tuple[str, str]]:
        for actions, meaning in KEYS:
            keys = [key for action in actions for key in self._keys.of(action)]
            yield " ".join(keys) or "no key", self._keys.spell(meaning)
        yield from FIXED

    def _table(self, title: str, rows: Iterable[tuple[str, str]]) -> Content:
        """Two columns, each wrapped."""
        lines = [Content.styled(title, "$text-muted")]
        for key, meaning in rows:
            left = textwrap.wrap(self._shown(key), KEY - 1)
            right = textwrap.wrap(self._shown(meaning), min(WIDTH, self.app.size.width - 6) - KEY)
            lines += [
                Content.assemble((one.ljust(KEY), "bold $text-accent"), other)
                for one, other in zip_longest(left, right, fillvalue="")
            ]
        return Content("\n").join(lines)

    def _text(self, text: str) -> Content:
        return Content(self._shown(text))

    def _shown(self, text: str) -> str:
        return shown(text, ascii=self._keys.ascii)
