"""What is wrong in the recording: the line that says it, and the keys that lead to it."""

from __future__ import annotations

from collections.abc import Mapping

from microtape.recording.findings import Finding, Severity, findings, known_findings
from microtape.recording.model.model import BorderRecord, Recording
from tui.beside.opened import OpenedBeside
from tui.shell.spans import Line
from tui.stepper.findings_screen import FindingsScreen
from tui.stepper.parts.background import PAUSE, Background
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.pane_choice import PaneChoice
from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor
from tui.time.finding_moments import cuts, moment_of, position_of, without_gradient
from tui.widgets.finding_line import ShownFinding
from tui.widgets.source_pane import Culprit, SourcePane
from tui.words.sentence import aim

SHORT = 2_000  # nodes: the findings of a recording up to this length are computed before the first paint


class Findings(Part[Stepper]):
    """The findings of the recording, one of which is shown. In a long recording they are found in the background."""

    def __init__(
        self,
        stepper: Stepper,
        background: Background,
        panes: PaneChoice,
        beside: OpenedBeside | None = None,
    ) -> None:
        super().__init__(stepper)
        self._beside = beside
        self._background = background
        self._panes = panes
        self.found: tuple[Finding, ...] | None = None  # None: not known yet
        self.shown = 0  # which of them the line shows
        self.positions: tuple[int, ...] = ()  # where the findings of this pass are, for the time bar
        self.nodes: Mapping[int, Severity] = {}  # the culprits in this pass
        self.without_gradient: Mapping[int, str] = {}  # nodes that are cut off in this pass
        self.cuts: tuple[BorderRecord, ...] = ()  # where
        self.line: ShownFinding | Line | None = None  # what the line says
        self._here: StepCursor | None = None  # the moment to which a key has led

    @property
    def current(self) -> Finding | None:
        """The finding that the line shows."""
        return self.found[self.shown] if self.found else None

    @property
    def explained(self) -> Finding | None:
        """The finding to explain at this moment: the culprit is here, or no step has been made yet."""
        cursor, current = self.cursor, self.current
        if current is None:
            return None
        if cursor is self._here or cursor.node is None:
            return current
        index = self._at_node(cursor)
        return self.found[index] if self.found and index is not None else None

    @property
    def culprit(self) -> Culprit | None:
        """The line to mark in the source."""
        current = self.current
        if current is None or current.place is None:
            return None
        return Culprit(current.place, current.kind, self.explained is current)

    def mounted(self) -> None:
        """Begin with the line of the first finding in view."""
        self.show_source()

    def show_source(self) -> None:
        """Where one pane is shown at a time, show the source if the finding has a line."""
        if self.culprit is not None and self.culprit.is_here:
            self._panes.show_for_now(SourcePane.NAME)

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Show the finding whose culprit is here; look for findings in a recording that is new."""
        if old is None or old.recording is not new.recording:
            self._look(new.recording)
        index = self._at_node(new)
        if index is not None and new is not self._here:
            self.shown = index
        if old is None or old.timeline is not new.timeline:
            self._mark()
        self._say()

    def _look(self, recording: Recording) -> None:
        together = self._beside.findings(recording) if self._beside is not None else None
        found = together if together is not None else known_findings(recording)
        if found is None and len(recording.nodes) <= SHORT:
            found = findings(recording)
        self._show(found)
        if found is None:
            self.stepper.set_timer(PAUSE, lambda: self._background.start(self._find, recording))

    def _find(self, recording: Recording) -> None:
        found = findings(recording)
        self.stepper.call_later(self._found, recording, found)

    def _found(self, recording: Recording, found: tuple[Finding, ...]) -> None:
        if self.cursor.recording is recording:
            self._show(found)
            self._mark()
            self._say()
            self.show_source()

    def _show(self, found: tuple[Finding, ...] | None) -> None:
        self.found, self.shown, self._here = found, 0, None

    def _say(self) -> None:
        """Update the line."""
        current = self.current
        line: ShownFinding | Line | None = None
        if current is not None and self.found is not None:
            explains = self.stepper.key("why") if self.explained is current else ""
            line = ShownFinding(current, self.shown + 1, len(self.found), self.stepper.key("next_finding"), explains)
        elif self.found is not None:
            line = aim(self.cursor) or None
        if line != self.line:
            self.line = line
            self.stepper.changed()

    def _mark(self) -> None:
        """Find the marks of this pass."""
        timeline = self.cursor.timeline
        here = [one for one in reversed(self.found or ()) if one.pass_ == timeline.pass_index]
        self.positions = tuple(sorted({position_of(timeline, one) for one in here}))
        self.nodes = {node: one.severity for one in here for node in one.culprits}  # the worst one is last
        self.without_gradient = without_gradient(timeline, here)
        self.cuts = cuts(timeline.recording, here)
        self.stepper.changed()

    def _at_node(self, cursor: StepCursor) -> int | None:
        """Which finding has its culprit at this moment: the one that is shown, else the first."""
        here = [
            i
            for i, one in enumerate(self.found or ())
            if cursor.node is not None and one.node == cursor.node and one.pass_ == cursor.timeline.pass_index
        ]
        return self.shown if self.shown in here else next(iter(here), None)

    # Keys

    @key(
        "exclamation_mark",
        "to the next thing that is wrong",
        help="to what is wrong: to the finding in the line above, then to the next one; {findings} lists all",
    )
    def next_finding(self) -> None:
        """Go to the finding that is shown; from there to the next one, wrapping at the last."""
        if not self.found:
            self._say_why_none()
        elif moment_of(self.cursor, self.found[self.shown]) != self.cursor:
            self.go_to(self.found[self.shown])
        elif len(self.found) == 1:
            self.say("This is the only finding.", 3)
        else:
            self.go_to(self.found[(self.shown + 1) % len(self.found)])

    @key("F", "list what is wrong", help="list all findings; Enter goes to one")
    def findings(self) -> None:
        """List the findings; the user goes to one."""
        self.stepper.stop_playing()
        if self.found:
            self.open_page(FindingsScreen(self.found, self.shown, ascii=self.stepper.ascii), self.go_to)
        else:
            self._say_why_none()

    def go_to(self, finding: Finding | None) -> None:
        """Go to the moment of a finding; do nothing for None."""
        if finding is None or not self.found:
            return
        self.stepper.stop_playing()
        self.stepper.app.clear_notifications()  # one of them may say which key goes there
        self.shown = self.found.index(finding)
        self._here = moment_of(self.cursor, finding)
        self.cursor = self._here
        self._here = self.cursor  # the one that the screen keeps, if it was there before
        self._say()
        self.show_source()

    def _say_why_none(self) -> None:
        if self.found is None:
            self.say("The search for what is wrong is still running.", 3)
        else:
            error = self.cursor.recording.error
            failed = f", and nothing shows why the program ended with {error.type}" if error is not None else ""
            self.say(f"Nothing wrong was found in this recording{failed}.", 3)
