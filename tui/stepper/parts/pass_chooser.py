"""The choice of a pass: the previous one, the next one, or one from a list; two passes compared; their course."""

from __future__ import annotations

from tui.stepper.courses_screen import CoursesScreen
from tui.stepper.parts.background import Background
from tui.stepper.parts.beside import Beside
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.passes_screen import CompareScreen, PassChoice, PassesScreen
from tui.words.passes import Pair, PassOf, compare

TURN = "to the previous or the next pass; {next_pass} wraps at the last"


class PassChooser(Part[Stepper]):
    """Moves between passes."""

    def __init__(self, stepper: Stepper, background: Background, beside: Beside) -> None:
        super().__init__(stepper)
        self._background, self._beside = background, beside

    @key("left_square_bracket", "to the previous pass", -1, help=TURN)
    @key("right_square_bracket", "to the next pass", 1, help=TURN)
    def turn_pass(self, by: int) -> None:
        """Go to the previous or the next pass."""
        self.cursor = self.cursor.to_pass(self.cursor.timeline.pass_index + by)

    @key("p", "to the next pass, wrapping at the last")
    def next_pass(self) -> None:
        """Go to the next pass; after the last, to the first."""
        passes = self.cursor.recording.passes
        if passes:
            self.cursor = self.cursor.to_pass((self.cursor.timeline.pass_index + 1) % len(passes))

    @key("s", "list the passes, and compare two", help="list the passes; compare two side by side")
    def passes(self) -> None:
        """List the passes of all open recordings; the user goes to one or compares two."""
        self.stepper.stop_playing()
        if self.cursor.recording.passes:
            passes = self._beside.passes()
            current = self._beside.current()
            at = next(i for i, one in enumerate(passes) if (one.side, one.position) == (current.side, current.position))
            self.open_page(PassesScreen(passes, at, ascii=self.stepper.ascii), self._chosen)
        else:
            self.say("The program never called backward: there are no passes.", 3)

    @key("S", "show the course of every parameter", help="the course of every parameter over the passes of --every")
    def courses(self) -> None:
        """Show the course of training; the user goes to a parameter."""
        self.stepper.stop_playing()
        if self.cursor.recording.courses:
            self.open_page(CoursesScreen(self.cursor.recording, ascii=self.stepper.ascii), self._go_to_leaf)
        else:
            self.say("There is no course here: record the program with --every 100.", 4)

    def _go_to_leaf(self, name: str | None) -> None:
        if name is None:
            return
        recording = self.cursor.recording
        node = next((one for one in self.cursor.timeline.rows if recording.nodes[one].variable is not None
                     and recording.label(one) == name), None)  # fmt: skip
        if node is None:
            self.say(f"{name} takes no part in this pass.", 3)
        else:
            self.cursor = self.cursor.goto_node(node)

    def _chosen(self, choice: PassChoice | None) -> None:
        if choice is None:
            return
        if choice.compares:
            self._compare(choice.chosen)
        else:
            self._beside.go_to(choice.chosen)

    def _compare(self, other: PassOf) -> None:
        """Show another pass and the current one side by side; of one recording, the earlier pass first."""
        current = self._beside.current()
        first, second = (other, current) if other.comes_before(current) else (current, other)
        counterpart = self._beside.counterpart(second.side, first.side)
        pairs: list[Pair] = []

        def show() -> None:
            self.open_page(CompareScreen(first, second, pairs, ascii=self.stepper.ascii), self._go)

        if self._background.prepared("comparing", lambda: pairs.extend(compare(first, second, counterpart)), show):
            show()

    def _go(self, place: tuple[PassOf, int] | None) -> None:
        if place is not None:
            self._beside.go_to(*place)
