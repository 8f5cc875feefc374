"""The stepper's screen: it holds the cursor, which all views show, and the parts, whose actions the keys run."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Resize
from textual.reactive import Reactive, reactive
from textual.widget import Widget
from textual.widgets import Static

from microtape.basics import collector
from microtape.recording.model.model import Recording
from tui.beside.opened import OpenedBeside
from tui.guarded.screen import GuardedScreen
from tui.shell.key_names import KeyNames
from tui.shell.opening import Origin
from tui.shell.program_run import ProgramRun
from tui.shell.remembered import Remembered, key_of
from tui.shell.user_keys import actions_of, unbind_screen_keys
from tui.stepper.parts.arrangement import HIGH, VIEWS, WIDE, Arrangement
from tui.stepper.parts.background import PAUSE, Background
from tui.stepper.parts.beside import Beside
from tui.stepper.parts.copy_export import CopyExport
from tui.stepper.parts.derivative_check import DerivativeCheck
from tui.stepper.parts.explanations import Explanations
from tui.stepper.parts.findings import Findings
from tui.stepper.parts.folding import Folding
from tui.stepper.parts.help_pages import HelpPages
from tui.stepper.parts.key_declarations import Key, attach, bindings, keys_of
from tui.stepper.parts.later_passes import LaterPasses
from tui.stepper.parts.movement import Movement, Questions
from tui.stepper.parts.newcomer_hints import NewcomerHints
from tui.stepper.parts.pane_choice import NAMES, PaneChoice
from tui.stepper.parts.part import Part
from tui.stepper.parts.pass_chooser import PassChooser
from tui.stepper.parts.playback import Playback
from tui.stepper.parts.prediction import Prediction
from tui.stepper.parts.prompts import Prompts
from tui.stepper.parts.rerecorder import Rerecorder
from tui.stepper.parts.stepping_in import SteppingIn
from tui.stepper.parts.stops import Stops
from tui.stepper.parts.tape_search import TapeSearch
from tui.time.cursor import StepCursor
from tui.widgets.banner import Banner
from tui.widgets.bars import Heading, TimeBar
from tui.widgets.beside_line import BesideLine
from tui.widgets.box_view import BoxView
from tui.widgets.finding_line import FindingLine
from tui.widgets.footer import Footer
from tui.widgets.pane import Pane
from tui.widgets.panes import PANES, SentencePane
from tui.widgets.prompt import Prompt
from tui.widgets.source_pane import SourcePane
from tui.widgets.tabs import Tabs
from tui.widgets.tape import TapeView
from tui.widgets.watch_pane import WatchPane

KEYS = (
    *keys_of(
        Movement, SteppingIn, Arrangement, Explanations, DerivativeCheck, Findings, Stops, Playback, Prediction,
        TapeSearch, Folding, CopyExport, LaterPasses, Rerecorder, PassChooser, Beside, PaneChoice, HelpPages,
    ),
    Key("escape", "escape", "show all rows; stop recording"),
    Key("app.command_palette", "ctrl+p", "menu", "search all commands and themes by name", footer=7, priority=True),
    Key("leave", "q", "quit", "quit", footer=9),
)  # fmt: skip
"""Every key, in the order of the help page: the keys that parts declare, and those that belong to no part."""


class StepperOptions(TypedDict, total=False):
    """The options of a stepper."""

    pass_index: int
    ascii: bool
    hides_next: bool  # does not reveal the next node
    origin: Origin | None  # of the recording, to record it again
    run: ProgramRun | None  # which has made the recording, and may go on
    watches: bool  # records again when the program changes
    until: str | None  # opens at the first moment of this: `nan`, `error` or a condition
    guides: bool  # shows a newcomer hints
    beside: OpenedBeside | None  # other recordings, compared with this one


class CoveredContainer(Container):
    """A container that its views cover completely, so it need not be drawn beneath them at every step."""

    BLANK = True


class StepperScreen(GuardedScreen[None]):
    """Steps through the backward passes of one recording, both ways."""

    BLANK = True  # as in CoveredContainer

    CSS_PATH = Path(__file__).with_name("stepper.tcss")  # absolute, for subclasses in other folders
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (HIGH, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(KEYS)]

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)
    focused = Reactive[Widget | None](None, repaint=False)  # Textual's own repaints the whole screen

    def __init__(
        self,
        recording: Recording,
        *,
        pass_index: int = 0,
        ascii: bool = False,
        hides_next: bool = False,
        origin: Origin | None = None,
        run: ProgramRun | None = None,
        watches: bool = False,
        until: str | None = None,
        guides: bool = False,
        beside: OpenedBeside | None = None,
        questions: Questions | None = None,
    ) -> None:
        super().__init__()
        self.ascii = ascii
        self._opening = replace(StepCursor.open(recording, pass_index), hides_next=hides_next)
        self._until = until
        self._collector = ExitStack()  # the policy for the garbage collector while this screen is open

        self.background = Background(self)
        self.prediction = Prediction(self)
        self.movement = Movement(self, (self.prediction,) if questions is None else (questions, self.prediction))
        self.arrangement = Arrangement(self)
        self.stops = Stops(self, self.background)
        self.panes = PaneChoice(self)
        self.findings = Findings(self, self.background, self.panes, beside)
        self.stepping_in = SteppingIn(self, self.stops, self.findings)
        self.playback = Playback(self, self.stops)
        self.search = TapeSearch(self)
        self.later_passes = LaterPasses(self, run)
        self.rerecorder = Rerecorder(self, origin, self.later_passes, watches=watches)
        self.derivative_check = DerivativeCheck(self, origin)
        self.beside = Beside(self, beside, self.rerecorder, self.derivative_check)
        self.parts: tuple[Part[Any], ...] = (
            self.background, self.prediction, self.movement, self.arrangement, self.stops, self.findings,
            self.stepping_in, self.playback, self.search, self.later_passes, self.rerecorder, self.derivative_check,
            self.panes,
            Explanations(self, self.movement, self.findings, self.stepping_in), Folding(self, self.background),
            CopyExport(self), PassChooser(self, self.background, self.beside), HelpPages(self, KEYS),
            self.beside,
            NewcomerHints(self, wanted=guides),
        )  # fmt: skip
        self.prompts = Prompts(self, self.background, self.arrangement, self.parts)
        for part in self.parts:
            attach(self, part)

    def compose(self) -> ComposeResult:
        """The tape, the panes, the sentence, and a bar above and below."""
        cursor, ascii = StepperScreen.cursor, self.ascii
        yield Heading(ascii=ascii).data_bind(cursor)
        yield FindingLine(ascii=ascii)
        yield Banner("banner", ascii=ascii)
        yield TimeBar(ascii=ascii).data_bind(cursor)
        with CoveredContainer(id="main"):
            with CoveredContainer(id="left"):
                yield TapeView("tape", ascii=ascii).data_bind(cursor)
                yield BoxView("boxes", ascii=ascii).data_bind(cursor)
                yield BesideLine(ascii=ascii)
            with CoveredContainer(id="panes"):
                yield Tabs(NAMES, ascii=ascii)
                for pane in PANES:
                    yield pane(ascii=ascii).data_bind(cursor)
        yield SentencePane(ascii=ascii).data_bind(cursor)
        with CoveredContainer(id="bottom"):
            yield Prompt()
            yield Footer()
        yield Static(id="too-small")

    def on_mount(self) -> None:
        """Open at the moment that the user asked for.

        Until the screen has settled no garbage is collected: each collection would traverse all of a long recording,
        and steps would stutter.
        """
        if not self.is_composed:
            return
        self._collector.enter_context(collector.permanent())
        self.panes.choose(self.panes.chosen)
        self.cursor = self._opening
        if self._until is not None:
            self.stops.run_until(self._until)
        self.arrangement.fit(self.app.size)  # before anything is laid out
        unbind_screen_keys(self, self.query("TapeView, BoxView, Pane"))
        self.query_one(TapeView).focus()
        for part in self.parts:
            part.mounted()
        self.call_after_refresh(self.set_timer, PAUSE, self._settle)

    @property
    def is_composed(self) -> bool:
        """Whether the screen has its widgets: it gets none if the app ends as it opens."""
        return bool(self.query(Tabs))

    def _settle(self) -> None:
        if self.cursor is not None and self.is_running:
            self.cursor.timeline.prepare()
            self._collector.close()
            self._collector.enter_context(collector.often())

    def on_unmount(self) -> None:
        """Restore the garbage collector, even if the screen closes before it has settled."""
        self._collector.close()
        for part in self.parts:
            part.unmounted()

    def return_to(self, known: Remembered) -> None:
        """Restore the last layout and place; not the place if the user asked for another one, or if the pass failed."""
        if known.view in VIEWS:
            self.arrangement.choose(known.view)
        if known.pane in NAMES:
            self.panes.choose(known.pane)
            self.findings.show_source()
        cursor = self.cursor
        if cursor is None or self._until is not None or cursor != self._opening:
            return
        place = known.places.get(key_of(cursor.recording))
        failed = cursor.timeline.pass_ is not None and cursor.timeline.pass_.has_failed
        if place is None or failed or not 0 <= place.pass_index < max(len(cursor.recording.passes), 1):
            return
        there = cursor.to_pass(place.pass_index).to_moment(place.position)
        if there != cursor:
            self.cursor = there
            self.notify(f"Back where you left off. {self.key('home')} goes to the beginning.", timeout=4)

    # What the parts need

    @property
    def key_names(self) -> KeyNames:
        """The names of the keys of all actions."""
        return KeyNames(actions_of(self), ascii=self.ascii)

    def key(self, action: str) -> str:
        """The name of the key of an action."""
        return self.key_names.first(action)

    def stop_playing(self) -> None:
        """Stop, if the stepper is playing."""
        self.playback.stop()

    def say_above(self, text: str, *, bad: bool = False) -> None:
        """Show a banner below the heading; an empty text removes it."""
        self.query_one(Banner).say(text, bad=bad)

    # Changes of state

    def watch_cursor(self, old: StepCursor | None, new: StepCursor | None) -> None:
        """Notify the parts. The views are bound to the cursor, so they update by themselves."""
        if new is not None:
            for part in self.parts:
                part.follow(old, new)

    def changed(self) -> None:
        """Pass the state of the parts to the widgets that show it."""
        heading, bar = self.query_one(Heading), self.query_one(TimeBar)
        heading.speed, heading.score = self.playback.speed, self.prediction.score
        heading.found, heading.working = self.search.found, self.background.doing or self.later_passes.doing
        bar.stops, bar.findings = self.stops.moments, self.findings.positions
        line = self.query_one(FindingLine)
        height, line.shown = line.height_at(self.size), self.findings.line
        if height != line.height_at(self.size):
            self.arrangement.fit_again()
        tape = self.query_one(TapeView)
        tape.findings = self.query_one(BoxView).findings = self.findings.nodes
        tape.without_gradient, tape.cuts = self.findings.without_gradient, self.findings.cuts
        self.query_one(SourcePane).culprit = self.findings.culprit
        tape.stops = self.query_one(SourcePane).stops = self.stops.nodes
        self.query_one(WatchPane).breakpoints = self.stops.breakpoints
        self.panes.show_wanted()

    def on_resize(self, event: Resize) -> None:
        """Fit the screen into the new size."""
        self.arrangement.fit(event.size)

    def on_tape_view_listed(self) -> None:
        """Fit the screen to another pass, or to rows that were folded or filtered."""
        self.arrangement.fit(self.size)

    # Actions and events that belong to no part

    def action_ask(self, purpose: str) -> None:
        """Open the prompt."""
        self.prompts.ask(purpose)

    async def on_prompt_answered(self, message: Prompt.Answered) -> None:
        """Answer the text typed into the prompt."""
        await self.prompts.answer(message.purpose, message.text)

    async def on_prompt_closed(self) -> None:
        """Cancel the prompt's search, and return the focus."""
        await self.prompts.closed()

    def on_tape_view_chosen(self, message: TapeView.Chosen) -> None:
        """Go to the node of the clicked row or box."""
        self.movement.go_to_node(message.node)

    def on_tape_view_marked(self, message: TapeView.Marked) -> None:
        """Set or remove a breakpoint at the row whose margin was clicked."""
        self.stops.break_at(f"%{message.node}")

    def on_source_pane_marked(self, message: SourcePane.Marked) -> None:
        """Set or remove a breakpoint at the line whose margin was clicked."""
        self.stops.break_at(message.text)

    def on_finding_line_clicked(self) -> None:
        """Go to the finding in the line; from there, to the next one."""
        self.findings.next_finding()

    @on(TimeBar.Chosen)
    @on(Pane.Chosen)
    def _go_to_moment(self, message: TimeBar.Chosen | Pane.Chosen) -> None:
        """Go to the moment that was clicked in the time bar or in a pane."""
        self.movement.go_to_moment(message.moment)

    def action_escape(self) -> None:
        """Stop the background task or the check; without one, end the filter; else stop recording the program."""
        if not self.background.stop() and not self.derivative_check.stop() and not self.search.show_all():
            self.rerecorder.stop()

    def action_leave(self) -> None:
        """Close the stepper."""
        self.dismiss()
