"""Looking for things in the tape, and hiding what is in the way: `/ n N`, `f`, `z`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.reactive import reactive

from tui.stepper.recording_again import AgainScreen
from tui.time.cursor import StepCursor
from tui.time.search import found_nodes, matches
from tui.widgets.tape import TapeView


class FindingScreen(AgainScreen):
    """A screen with a cursor and a tape in which one can search, filter and fold."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "ask('find')", "find an operation, name, line or shape", show=False),
        Binding("n", "find_next(1)", "to the next match", show=False),
        Binding("N", "find_next(-1)", "to the match before", show=False),
        Binding("f", "ask('filter')", "show only some rows", show=False),
        Binding("z", "fold", "fold what repeats, or unfold it", show=False),
        Binding("Z", "open_fold", "open the nearest fold", show=False),
        Binding("escape", "escape", "show all rows; stop recording", show=False),
    ]

    found: reactive[str] = reactive("", repaint=False)  # which match is the present moment

    _wanted = ""  # what was looked for last

    def watch_cursor(self, old: StepCursor | None, new: StepCursor | None) -> None:
        """Anywhere else is no match."""
        super().watch_cursor(old, new)
        self.found = ""

    def find(self, text: str) -> None:
        """To the next match.

        Raises:
            LookupError: there is none; the message is for the user.
        """
        if self.cursor is not None and not matches(self.cursor, text):
            raise LookupError(f"{text.strip()!r} is nowhere in this pass")
        self._wanted = text
        self.action_find_next(1)

    def action_find_next(self, by: int) -> None:
        """To the next match of what was looked for last, around the end; or to the one before."""
        if self.cursor is None or not self._wanted:
            asks = self.key("ask('find')")
            self.notify(f"Nothing was looked for yet: {asks} asks.", timeout=3, markup=False)
            return
        found, position = matches(self.cursor, self._wanted), self.cursor.position
        if not found:
            self.notify(f"{self._wanted!r} is nowhere in this pass.", timeout=3, markup=False)
            return
        at = (bisect_right(found, position) if by > 0 else bisect_left(found, position) - 1) % len(found)
        self.cursor = self.cursor.to_moment(found[at])
        self.found = f"{self._wanted}: {at + 1:,} of {len(found):,}"

    def filter(self, text: str) -> None:
        """Show only the rows in which a text is found; all of them for an empty one.

        Raises:
            LookupError: it is in none; the message is for the user.
        """
        if self.cursor is None:
            return
        tape = self.query_one(TapeView)
        if not text.strip():
            tape.filter(None)
            return
        found = found_nodes(self.cursor, text)
        if not found:
            raise LookupError(f"{text.strip()!r} is in no row of this pass")
        count = len(self.cursor.timeline.rows)
        tape.filter(found, f"{len(found):,} of {count:,} rows: {text.strip()}. {self.key('escape')} shows all.")

    def action_fold(self) -> None:
        """Fold what repeats, or unfold it."""
        if self.prepared("looking for what repeats", self.query_one(TapeView).prepare_folds, self._fold):
            self._fold()

    def _fold(self) -> None:
        tape = self.query_one(TapeView)
        if not tape.turn_folds():
            self.notify("Nothing repeats in this tape.", timeout=3)
        elif tape.folds:
            one, every = self.key("open_fold"), self.key("fold")
            text = f"What repeats is folded. {one} or a click opens a fold, {every} unfolds all."
            self.notify(text, timeout=4, markup=False)

    def action_open_fold(self) -> None:
        """Open the fold nearest to the current row; close all once everything is open."""
        if not self.query_one(TapeView).open_fold():
            self.notify(f"Nothing is folded: {self.key('fold')} folds what repeats.", timeout=3, markup=False)

    def action_escape(self) -> None:
        """Stop what is being worked out; show the rows again that a filter hides; else stop what runs."""
        tape = self.query_one(TapeView)
        if self.stop_working():
            return
        if tape.is_filtered:
            tape.filter(None)
        else:
            self.action_stop_recording()
