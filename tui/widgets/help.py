"""The help page: the keys, and the meanings of the marks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import ClassVar, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.shell.key_names import KeyNames
from tui.shell.spans import shown
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.tape_rows import ASCII_GLYPHS, GLYPHS

WIDTH, KEY = 96, 11  # the most characters of a line, and the width of its left column
Row: TypeAlias = tuple[tuple[str, ...], str]
"""Actions, and a description of their keys; `{action}` in the text stands for the key of an action."""
FIXED = (
    ("↑ ↓", "scroll the focused pane; PgUp and PgDn by pages"),
    ("Ctrl+Z", "back to the shell, whose `fg` comes back here"),
    ("click", "go to a row, box, leaf, line, name or moment on the time bar; left of a number: set a breakpoint"),
)
MARKS = (
    ("▶", "current", "the node that has just run"),
    ("▷", "next", "the node that will run first"),
    ("+", "delivered", "has just received a gradient"),
    ("✗", "failed", "backward failed here"),
    ("◆", "stop", "a breakpoint, beside its row and on the time bar, where ! marks what is wrong and ┷ a leaf"),
    ("●", "", "an operation; the line below it is its value, down to its last use"),
    ("○", "", "a leaf: a tensor of yours that collects .grad"),
    ("0.1 ± 0.9", "", "an array too long to list: the mean and standard deviation of its numbers"),
    ("all 0.5", "", "an array whose numbers are all the same"),
    ("6 (1/2)", "", "a gradient so far: one of two terms has arrived"),
    ("|g|", "", "a gradient's size (root mean square) as a bar, on a logarithmic scale over the whole pass"),
    ("·", "", "nothing yet, which is not zero"),
)
PREFACE = (
    "You see one backward pass. At the top is the tape: your operations, in the order in which they ran. "
    "Backward visits them in reverse, from the last operation up to your leaves, and passes gradients on. "
    "Bright rows have run, dim rows have not."
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

    def __init__(
        self,
        about: tuple[str, str] | None = None,
        *,
        rows: Sequence[Row] = (),
        names: KeyNames | None = None,
        preface: str = PREFACE,
        marks: Sequence[tuple[str, str, str]] = MARKS,
    ) -> None:
        """`about` is a title and a text that replace the keys and marks."""
        super().__init__()
        self._preface = preface
        self._marks = marks
        self._about = about
        self._rows = rows
        self._names = names or KeyNames({})

    def compose(self) -> ComposeResult:
        """The preface, the keys and the marks; or the text of `about`."""
        with VerticalScroll() as page:
            page.border_title = "help"
            page.border_subtitle = keys_below(("escape", "Esc closes"))
            if self._about is not None:
                page.border_title, text = self._about
                yield Static(self._text(self._names.spell(text)))
                return
            yield Static(self._text(self._preface))
            yield Static(self._table("\nkeys", self._key_rows()))
            glyphs = ASCII_GLYPHS if self._names.ascii else GLYPHS
            marks = [(glyphs[name] if name else mark, meaning) for mark, name, meaning in self._marks]
            yield Static(self._table("\nmarks", marks))

    def _key_rows(self) -> Iterator[tuple[str, str]]:
        for actions, meaning in self._rows:
            keys = [key for action in actions for key in self._names.of(action)]
            yield " ".join(keys) or "no key", self._names.spell(meaning)
        yield from FIXED

    def _table(self, title: str, rows: Iterable[tuple[str, str]]) -> Content:
        """Two columns, each wrapped."""
        lines = [Content.styled(title, "$text-muted")]
        for key, meaning in rows:
            left = textwrap.wrap(self._shown(key), KEY - 1)
            right = textwrap.wrap(self._shown(meaning), max(min(WIDTH, self.app.size.width - 6) - KEY, 1))
            lines += [
                Content.assemble((one.ljust(KEY), "bold $text-accent"), other)
                for one, other in zip_longest(left, right, fillvalue="")
            ]
        return Content("\n").join(lines)

    def _text(self, text: str) -> Content:
        return Content(self._shown(text))

    def _shown(self, text: str) -> str:
        return shown(text, ascii=self._names.ascii)
