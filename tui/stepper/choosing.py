"""Which pass: the one before, the next one, one from a list; and two of them side by side."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.stepper.copy_export import OutwardScreen
from tui.stepper.passes_screen import CompareScreen, PassChoice, PassesScreen
from tui.words.passes import Pair, compare


class ChoosingScreen(OutwardScreen):
    """A screen with a cursor that goes from pass to pass: what the keys [ ] p and s do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "turn_pass(-1)", "to the pass before", show=False),
        Binding("right_square_bracket", "turn_pass(1)", "to the pass after", show=False),
        Binding("p", "next_pass", "to the next pass, around the end", show=False),
        Binding("s", "passes", "list the passes, and put two side by side", show=False),
    ]

    def action_turn_pass(self, by: int) -> None:
        """To the pass before or after."""
        if self.cursor is not None:
            self.cursor = self.cursor.to_pass(self.cursor.timeline.pass_index + by)

    def action_next_pass(self) -> None:
        """To the next pass, after the last to the first."""
        if self.cursor is not None and self.cursor.recording.passes:
            self.cursor = self.cursor.to_pass((self.cursor.timeline.pass_index + 1) % len(self.cursor.recording.passes))

    def action_passes(self) -> None:
        """List the passes, to go to one or to compare two."""
        self.stop_playing()
        if self.cursor is None or not self.cursor.recording.passes:
            self.notify("The program never called backward: there are no passes.", timeout=3)
            return
        recording, current = self.cursor.recording, self.cursor.timeline.pass_index

        def go(place: tuple[int, int] | None) -> None:
            if place is not None and self.cursor is not None:
                self.cursor = self.cursor.to_pass(place[0]).goto_node(place[1])

        def compare_with(other: int) -> None:
            pairs: list[Pair] = []

            def show() -> None:
                self.app.push_screen(CompareScreen(recording, current, other, pairs, ascii=self._ascii), go)

            if self.prepared("comparing", lambda: pairs.extend(compare(recording, current, other)), show):
                show()

        def chosen(choice: PassChoice | None) -> None:
            if choice is not None and choice.compares:
                compare_with(choice.position)
            elif choice is not None and self.cursor is not None:
                self.cursor = self.cursor.to_pass(choice.position)

        self.app.push_screen(PassesScreen(recording, current, ascii=self._ascii), chosen)
