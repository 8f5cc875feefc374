"""Search in the tape: goes from match to match, or filters the tape to the matches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from tui.stepper.parts.key_declarations import answers, key
from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor
from tui.time.search import found_nodes, matches
from tui.widgets.prompt import Purpose
from tui.widgets.tape import TapeView

FIND = "find an operation, a name or a shape 24×3; go to the next or previous match"


class TapeSearch(Part[Stepper]):
    """Searches and filters the tape."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.found = ""  # `mul: 2 of 7` if the current moment is a match, else empty
        self._text = ""  # the last search

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Clear the count of matches: the cursor has left the match."""
        self._show("")

    def _show(self, found: str) -> None:
        if found != self.found:
            self.found = found
            self.stepper.changed()

    @answers(
        Purpose("find", "an operation, a name, a line :7, a shape 24×3"),
        "slash", "find an operation, name, line or shape", help=FIND, doing="searching", prepare=found_nodes,
    )  # fmt: skip
    def find(self, text: str) -> None:
        """Go to the next match.

        Raises:
            LookupError: there is no match; the message is for the user.
        """
        if not matches(self.cursor, text):
            raise LookupError(f"{text.strip()!r} does not occur in this pass")
        self._text = text
        self.find_next(1)

    @key("n", "to the next match", 1, help=FIND)
    @key("N", "to the previous match", -1, help=FIND)
    def find_next(self, by: int) -> None:
        """Go to the next or the previous match of the last search, wrapping at the ends."""
        if not self._text:
            asks = self.stepper.key("ask('find')")
            self.say(f"There is no search yet: {asks} searches.", 3)
            return
        found, position = matches(self.cursor, self._text), self.cursor.position
        if not found:
            self.say(f"{self._text!r} does not occur in this pass.", 3)
            return
        at = (bisect_right(found, position) if by > 0 else bisect_left(found, position) - 1) % len(found)
        self.cursor = self.cursor.to_moment(found[at])
        self._show(f"{self._text}: {at + 1:,} of {len(found):,}")

    @answers(
        Purpose("filter", "show only rows with: mul, w1, :7, 24×3; Enter: all rows", may_be_empty=True),
        "f", "filter the rows by a text", doing="searching", prepare=found_nodes,
        help="show only rows that contain a text; {escape} shows all again",
    )  # fmt: skip
    def filter(self, text: str) -> None:
        """Show only the rows that contain a text; all rows for an empty text.

        Raises:
            LookupError: no row contains it; the message is for the user.
        """
        tape = self.stepper.query_one(TapeView)
        if not text.strip():
            tape.filter(None)
            return
        found = found_nodes(self.cursor, text)
        if not found:
            raise LookupError(f"{text.strip()!r} occurs in no row of this pass")
        count, escape = len(self.cursor.timeline.rows), self.stepper.key("escape")
        tape.filter(found, f"{len(found):,} of {count:,} rows: {text.strip()}. {escape} shows all.")

    def show_all(self) -> bool:
        """End the filter. Returns whether there was one."""
        tape = self.stepper.query_one(TapeView)
        was_filtered = tape.is_filtered
        if was_filtered:
            tape.filter(None)
        return was_filtered
