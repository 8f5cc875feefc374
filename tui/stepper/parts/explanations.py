"""Explains what is wrong at a node, and its gradient: why it has its value, and all of its numbers."""

from __future__ import annotations

from functools import partial

from microtape.recording.findings import Finding
from tui.stepper.parts.findings import Findings
from tui.stepper.parts.key_declarations import answers, key
from tui.stepper.parts.movement import Movement
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.parts.stepping_in import SteppingIn
from tui.stepper.versions_screen import VersionsScreen
from tui.stepper.why_screen import Into, WhyScreen
from tui.time.arrays import arrays_of, where_it_begins
from tui.time.cursor import StepCursor
from tui.widgets.array_view import ArrayScreen
from tui.widgets.prompt import Purpose
from tui.words.versions import tensors_at
from tui.words.why import Subject, subject, subject_or_tensor


class Explanations(Part[Stepper]):
    """Opens the pages that explain gradients. From them, the user can go to the steps that they name."""

    def __init__(self, stepper: Stepper, movement: Movement, findings: Findings, stepping_in: SteppingIn) -> None:
        super().__init__(stepper)
        self._movement = movement
        self._stepping_in = stepping_in
        self._findings = findings

    @key(
        "enter", "why", footer=3,
        help="what is wrong; else why this gradient, or none; {ask('why of')} explains any: W1[0, 3]",
    )  # fmt: skip
    def why(self) -> None:
        """Explain the finding of this moment, else the current node's gradient."""
        self.stepper.stop_playing()
        if (finding := self._findings.explained) is not None:
            self._open(self.cursor, finding)
        elif self.cursor.focus is not None:
            self.why_of("")

    @key(
        "a",
        "show the numbers of this node",
        help="show the numbers of this node: gradient, value, kept tensors, sent gradients",
    )
    def array(self) -> None:
        """Show the numbers of the current node."""
        self.stepper.stop_playing()
        cursor = self.cursor
        arrays = arrays_of(cursor, cursor.focus) if cursor.focus is not None else []
        if arrays:
            finding = self._findings.explained
            is_culprit = finding is not None and finding.node == cursor.focus
            start = where_it_begins(arrays, finding) if finding is not None and is_culprit else (0, ())
            page = ArrayScreen(arrays, start=start, explains=True, ascii=self.stepper.ascii)
            self.open_page(page, partial(self._explain_element, cursor))
        else:
            self.say("There are no numbers here yet.", 3)

    def _explain_element(self, cursor: StepCursor, index: tuple[int, ...] | None) -> None:
        if index is not None and cursor.focus is not None:
            self._open(cursor, subject(cursor, cursor.focus, index))

    @key("V", "show the versions of a tensor", help="the versions of this tensor: who wrote, saved and read each")
    def versions(self) -> None:
        """Show the versions of the current node's tensors."""
        self.stepper.stop_playing()
        cursor = self.cursor
        tensors = tensors_at(cursor, cursor.focus) if cursor.focus is not None else ()
        if tensors:
            self.open_page(VersionsScreen(cursor, tensors, ascii=self.stepper.ascii), self._movement.go_to_node)
        else:
            self.say("There is no tensor here yet.", 3)

    @answers(
        Purpose("why of", "Enter: this node; or W1, or an element: W1[0]", may_be_empty=True),
        "x", "explain a gradient, or why it is None",
    )  # fmt: skip
    def why_of(self, text: str) -> None:
        """Explain a gradient; an empty text means the current node's.

        Raises:
            LookupError: there is no such gradient; the message is for the user.
        """
        self._open(self.cursor, subject_or_tensor(self.cursor, text))

    def _open(self, cursor: StepCursor, about: Subject | Finding | int) -> None:
        self.open_page(WhyScreen(cursor, about, self._findings.found or (), ascii=self.stepper.ascii), self._go)

    def _go(self, chosen: Finding | int | Into | None) -> None:
        if isinstance(chosen, Into):
            self._go(chosen.about)
            self._stepping_in.step_into()
        elif isinstance(chosen, Finding):
            self._findings.go_to(chosen)
        else:
            self._movement.go_to_node(chosen)
