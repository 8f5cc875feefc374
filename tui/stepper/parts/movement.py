"""Movement in time: by a step, inside a step, to an end, to a node. The lessons' small stepper uses it too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, Protocol

from textual.screen import Screen

from tui.stepper.parts.key_declarations import answers, key
from tui.stepper.parts.part import CursorHost, Part
from tui.time.cursor import StepCursor
from tui.widgets.prompt import Purpose

INSIDE = "forward or back inside a step: take, unpack, compute, each delivery, free"


class Questions(Protocol):
    """Questions that the user answers before a step is shown."""

    def before_step(self, cursor: StepCursor) -> Screen[bool | None] | None:
        """The page that asks about the step after this moment; None if there is no question."""

    def answered(self, right: bool | None) -> None:
        """Note whether the answer was right; None if the question was skipped."""


class Movement(Part[CursorHost]):
    """Moves the cursor."""

    def __init__(self, stepper: CursorHost, questions: Sequence[Questions] = ()) -> None:
        super().__init__(stepper)
        self._questions = questions

    @key("right,l", "step", 1, help="one step forward", footer=1)
    @key("left,h", "back", -1, help="one step back: shows an earlier moment, and undoes nothing", footer=2)
    def move(self, moments: int) -> None:
        """Step forward or back. Questions about the next step come first."""
        self.stepper.stop_playing()
        for one in self._questions if moments > 0 else ():
            page = one.before_step(self.cursor)
            if page is not None:
                self.stepper.app.clear_notifications()  # notifications would cover the question
                self.open_page(page, partial(self._go_on, one, moments))
                return
        self.cursor = self.moved(moments)

    def _go_on(self, questions: Questions, moments: int, right: bool | None) -> None:
        questions.answered(right)
        self.move(moments)

    def moved(self, moments: int) -> StepCursor:
        """The moment that a step leads to."""
        return self.cursor.move(moments)

    @key("shift+right,L", "step forward inside a step", 1, help=INSIDE)
    @key("shift+left,H", "step back inside a step", -1, help=INSIDE)
    def move_inside(self, by: Literal[1, -1]) -> None:
        """Go to the next or the previous moment inside a step."""
        self.cursor = self.cursor.move_inside(by)

    @key("home", "to the call of backward", help="to the call of backward; again: before the first operation")
    def home(self) -> None:
        """Go to the call of backward; from there, to the moment before the first operation."""
        self.cursor = self.cursor.home()

    @key("end", "to the end of the pass", help="to the end of the pass, or to its failure")
    def end(self) -> None:
        """Go to the end of the pass."""
        self.cursor = self.cursor.end()

    @answers(
        Purpose("go to", "a number, a name, a module, or a line such as :7"),
        "g", "go to", footer=4, help="go to a node: its number, a name (w1, mul), a module (encoder.2), a line (:7)",
    )  # fmt: skip
    def go_to(self, text: str) -> None:
        """Go to the next moment of a node. If several nodes fit, say which one this is.

        Raises:
            LookupError: there is no such node; the message is for the user.
        """
        moments = self.cursor.moments_of(self.cursor.find(text))
        self.cursor = self.cursor.goto(text)
        if len(moments) > 1:
            at = moments.index(self.cursor.position) + 1
            self.say(f"{text.strip()}: {at:,} of {len(moments):,} nodes. Entered again, it goes to the next one.", 5)

    def go_to_node(self, node: int | None) -> None:
        """Go to the next moment of a node; do nothing for None."""
        if node is not None:
            self.cursor = self.cursor.goto_node(node)

    def go_to_moment(self, moment: int) -> None:
        """Go to a moment of this pass."""
        self.cursor = self.cursor.to_moment(moment)
