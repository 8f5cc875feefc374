"""The stepper's screen: it holds a cursor, hands it to every view, and has the parts that its keys run."""

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
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from microtape.basics import collector
from microtape.recording.model.model import Recording
from tui.shell.key_names import KeyNames
from tui.shell.opening import Origin
from tui.shell.remembered import Remembered, key_of
from tui.shell.user_keys import actions_of, give_way
from tui.stepper.parts.arrangement import VIEWS, WIDE, Arrangement
from tui.stepper.parts.background import PAUSE, Background
from tui.stepper.parts.copy_export import CopyExport
from tui.stepper.parts.explanations import Explanations
from tui.stepper.parts.folding import Folding
from tui.stepper.parts.help_pages import HelpPages
from tui.stepper.parts.key_declarations import Key, attach, bindings, keys_of
from tui.stepper.parts.movement import Movement, Questions
from tui.stepper.parts.newcomer_hints import NewcomerHints
from tui.stepper.parts.not_finite import NotFinite
from tui.stepper.parts.pane_choice import NAMES, PaneChoice
from tui.stepper.parts.part import Part
from tui.stepper.parts.pass_chooser import PassChooser
from tui.stepper.parts.playback import Playback
from tui.stepper.parts.prediction import Prediction
from tui.stepper.parts.prompts import Prompts
from tui.stepper.parts.rerecorder import Rerecorder
from tui.stepper.parts.stops import Stops
from tui.stepper.parts.tape_search import TapeSearch
from tui.time.cursor import StepCursor
from tui.widgets.banner import Banner
from tui.widgets.bars import Heading, TimeBar
from tui.widgets.box_view import BoxView
from tui.widgets.footer import Footer
from tui.widgets.pane import Pane
from tui.widgets.panes import PANES, SentencePane
from tui.widgets.prompt import Prompt
from tui.widgets.source_pane import SourcePane
from tui.widgets.tape import TapeView
from tui.widgets.watch_pane import WatchPane

KEYS = (
    *keys_of(
        Movement, Arrangement, Explanations, Stops, NotFinite, Playback, Prediction, TapeSearch, Folding, CopyExport,
        Rerecorder, PassChooser, PaneChoice, HelpPages,
    ),
    Key("escape", "escape", "show all rows; stop recording"),
    Key("app.command_palette", "ctrl+p", "menu", "search all commands and themes by name", footer=7, priority=True),
    Key("leave", "q", "quit", "quit", footer=9),
)  # fmt: skip
"""Every key, in the order of the help page. A part declares its own; here are those that belong to none."""


class StepperOptions(TypedDict, total=False):
    """How a stepper opens."""

    pass_index: int
    ascii: bool
    hides_next: bool  # does not tell what runs next
    origin: Origin | None  # of the recording, to record it again
    watches: bool  # records again when the program changes
    until: str | None  # opens at the first moment of this: `nan`, `error` or a condition
    guides: bool  # shows a newcomer hints


class CoveredContainer(Container):
    """Holds views that cover all of it. So it is not drawn beneath them at every step."""

    BLANK = True


class StepperScreen(Screen[None]):
    """Steps through the backward passes of one recording, both ways."""

    BLANK = True  # as of a CoveredContainer

    CSS_PATH = Path(__file__).with_name("stepper.tcss")  # a subclass elsewhere has the same style
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(KEYS)]

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)
    focused = Reactive[Widget | None](None, repaint=False)  # Textual's own paints all of the screen

    def __init__(
        self,
        recording: Recording,
        *,
        pass_index: int = 0,
        ascii: bool = False,
        hides_next: bool = False,
        origin: Origin | None = None,
        watches: bool = False,
        until: str | None = None,
        guides: bool = False,
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
        self.not_finite = NotFinite(self, self.background)
        self.playback = Playback(self, self.stops)
        self.search = TapeSearch(self)
        self.rerecorder = Rerecorder(self, origin, watches=watches)
        self.panes = PaneChoice(self)
        self.parts: tuple[Part[Any], ...] = (
            self.background, self.prediction, self.movement, self.arrangement, self.stops, self.not_finite,
            self.playback, self.search, self.rerecorder, self.panes, Explanations(self, self.movement),
            Folding(self, self.background), CopyExport(self), PassChooser(self, self.background),
            HelpPages(self, KEYS), NewcomerHints(self, wanted=guides),
        )  # fmt: skip
        self.prompts = Prompts(self, self.background, self.arrangement, self.parts)
        for part in self.parts:
            attach(self, part)

    def compose(self) -> ComposeResult:
        """The tape, the panes, the sentence, and a bar above and below."""
        cursor, ascii = StepperScreen.cursor, self.ascii
        yield Heading(ascii=ascii).data_bind(cursor)
        yield Banner("banner", ascii=ascii)
        yield TimeBar(ascii=ascii).data_bind(cursor)
        with CoveredContainer(id="main"):
            with CoveredContainer(id="left"):
                yield TapeView("tape", ascii=ascii).data_bind(cursor)
                yield BoxView("boxes", ascii=ascii).data_bind(cursor)
            with CoveredContainer(id="panes"):
                tabs = Static(id="tabs")
                tabs.auto_links = False  # they look like tabs
                yield tabs
                for pane in PANES:
                    yield pane(ascii=ascii).data_bind(cursor)
        yield SentencePane(ascii=ascii).data_bind(cursor)
        with CoveredContainer(id="bottom"):
            yield Prompt()
            yield Footer()
        yield Static(id="too-small")

    def on_mount(self) -> None:
        """Open where the user wants to begin. Until the screen has settled no garbage is collected, because collecting
        would go through all of a long recording again and again, and steps would stutter.
        """
        self._collector.enter_context(collector.permanent())
        self.panes.choose(self.panes.chosen)
        self.cursor = self._opening
        if self._until is not None:
            self.stops.run_until(self._until)
        self.arrangement.fit(self.app.size)  # before anything is laid out
        give_way(self, self.query("TapeView, BoxView, Pane"))
        self.query_one(TapeView).focus()
        for part in self.parts:
            part.mounted()
        self.call_after_refresh(self.set_timer, PAUSE, self._settle)

    def _settle(self) -> None:
        if self.cursor is not None and self.is_running:
            self.cursor.timeline.prepare()
            self._collector.close()
            self._collector.enter_context(collector.often())

    def on_unmount(self) -> None:
        """Leave the garbage collector as it was, however soon the screen is closed."""
        self._collector.close()
        for part in self.parts:
            part.unmounted()

    def return_to(self, known: Remembered) -> None:
        """Open as it was left: the layout, and the place, unless another was asked for or there is a failure to see."""
        if known.view in VIEWS:
            self.arrangement.choose(known.view)
        if known.pane in NAMES:
            self.panes.choose(known.pane)
        cursor = self.cursor
        if cursor is None or self._until is not None or cursor != self._opening:
            return
        place = known.places.get(key_of(cursor.recording))
        failed = cursor.timeline.pass_ is not None and cursor.timeline.pass_.error is not None
        if place is None or failed or not 0 <= place.pass_index < max(len(cursor.recording.passes), 1):
            return
        there = cursor.to_pass(place.pass_index).to_moment(place.position)
        if there != cursor:
            self.cursor = there
            self.notify(f"Back where you left. {self.key('home')} leads to the beginning.", timeout=4)

    # What the parts need

    @property
    def key_names(self) -> KeyNames:
        """What the keys of all actions are called."""
        return KeyNames(actions_of(self), ascii=self.ascii)

    def key(self, action: str) -> str:
        """What the key of an action is called."""
        return self.key_names.first(action)

    def stop_playing(self) -> None:
        """Stand still, if the stepper plays."""
        self.playback.stop()

    def say_above(self, text: str, *, bad: bool = False) -> None:
        """Show a banner below the heading until an empty one takes it away."""
        self.query_one(Banner).say(text, bad=bad)

    # What changes

    def watch_cursor(self, old: StepCursor | None, new: StepCursor | None) -> None:
        """Tell the parts. The views follow by themselves, as they are bound to the cursor."""
        if new is not None:
            for part in self.parts:
                part.follow(old, new)

    def changed(self) -> None:
        """Hand the state of the parts to the widgets that show it."""
        heading, bar = self.query_one(Heading), self.query_one(TimeBar)
        heading.speed, heading.score = self.playback.speed, self.prediction.score
        heading.found, heading.working = self.search.found, self.background.doing
        heading.warning = self.not_finite.warning
        bar.stops, bar.not_finite = self.stops.moments, self.not_finite.moments
        self.query_one(TapeView).stops = self.query_one(SourcePane).stops = self.stops.nodes
        self.query_one(WatchPane).breakpoints = self.stops.breakpoints
        self.panes.show_wanted()

    def on_resize(self, event: Resize) -> None:
        """Fit the screen into the new size."""
        self.arrangement.fit(event.size)

    def on_tape_view_listed(self) -> None:
        """The names in another pass have other lengths."""
        self.arrangement.fit_width(self.size.width)

    # What the user does, besides what the parts' keys do

    def action_ask(self, purpose: str) -> None:
        """Open the prompt."""
        self.prompts.ask(purpose)

    async def on_prompt_answered(self, message: Prompt.Answered) -> None:
        """A text was typed into the prompt."""
        await self.prompts.answer(message.purpose, message.text)

    async def on_prompt_closed(self) -> None:
        """The prompt was closed without an answer."""
        await self.prompts.closed()

    def on_tape_view_chosen(self, message: TapeView.Chosen) -> None:
        """A row or a box was clicked."""
        self.movement.go_to_node(message.node)

    def on_tape_view_marked(self, message: TapeView.Marked) -> None:
        """The margin of a row was clicked: set a breakpoint there, or remove it."""
        self.stops.break_at(f"%{message.node}")

    def on_source_pane_marked(self, message: SourcePane.Marked) -> None:
        """The margin of a line was clicked."""
        self.stops.break_at(message.text)

    @on(TimeBar.Chosen)
    @on(Pane.Chosen)
    def _go_to_moment(self, message: TimeBar.Chosen | Pane.Chosen) -> None:
        """The time bar was clicked, or a node or step that a pane names."""
        self.movement.go_to_moment(message.moment)

    def action_escape(self) -> None:
        """Stop what runs in the background; else show all rows again; else stop the program that is being recorded."""
        if not self.background.stop() and not self.search.show_all():
            self.rerecorder.stop()

    def action_leave(self) -> None:
        """Back to where the stepper was opened from."""
        self.dismiss()
