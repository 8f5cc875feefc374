"""Finding rows of the tape by a text: going from match to match, and showing the matches alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from tui.stepper.parts.key_declarations import answers, key
from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor
from tui.time.search import found_nodes, matches
from tui.widgets.prompt import Purpose
from tui.widgets.tape import TapeView

FIND = "find an operation, a name, a shape 24×3; the next match, the one before"


class TapeSearch(Part[Stepper]):
    """Searches and filters the tape."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.found = ""  # which match the present moment is, of how many
        self._text = ""  # what was searched for last

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Any other moment is no match."""
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
            LookupError: there is none; the message is for the user.
        """
        if not matches(self.cursor, text):
            raise LookupError(f"{text.strip()!r} is not in this pass")
        self._text = text
        self.find_next(1)

    @key("n", "to the next match", 1, help=FIND)
    @key("N", "to the match before", -1, help=FIND)
    def find_next(self, by: int) -> None:
        """Go to the next match of the last search, around the end; or to the one before."""
        if not self._text:
            asks = self.stepper.key("ask('find')")
            self.say(f"There is no search yet: {asks} begins one.", 3)
            return
        found, position = matches(self.cursor, self._text), self.cursor.position
        if not found:
            self.say(f"{self._text!r} is not in this pass.", 3)
            return
        at = (bisect_right(found, position) if by > 0 else bisect_left(found, position) - 1) % len(found)
        self.cursor = self.cursor.to_moment(found[at])
        self._show(f"{self._text}: {at + 1:,} of {len(found):,}")

    @answers(
        Purpose("filter", "show only rows with this: mul, w1, :7, 24×3; Enter: all", may_be_empty=True),
        "f", "show only some rows", doing="searching", prepare=found_nodes,
        help="show only the rows with a text; {escape} shows all again",
    )  # fmt: skip
    def filter(self, text: str) -> None:
        """Show only the rows in which a text is found; all of them for an empty text.

        Raises:
            LookupError: no row has it; the message is for the user.
        """
        tape = self.stepper.query_one(TapeView)
        if not text.strip():
            tape.filter(None)
            return
        found = found_nodes(self.cursor, text)
        if not found:
            raise LookupError(f"{text.strip()!r} is in no row of this pass")
        count, escape = len(self.cursor.timeline.rows), self.stepper.key("escape")
        tape.filter(found, f"{len(found):,} of {count:,} rows: {text.strip()}. {escape} shows all.")

    def show_all(self) -> bool:
        """End the filter. Returns whether there was one."""
        tape = self.stepper.query_one(TapeView)
        was_filtered = tape.is_filtered
        if was_filtered:
            tape.filter(None)
        return was_filtered
