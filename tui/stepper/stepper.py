"""The stepper: a screen that holds a cursor, moves it when a key is pressed, and hands it to every view."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import ClassVar, Literal, TypedDict

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from microtape.recording.model.model import Recording
from tui.shell.keys import give_way
from tui.shell.opening import Origin
from tui.shell.remembered import Remembered, key_of
from tui.shell.spans import shown
from tui.stepper.arranging import VIEWS, WIDE
from tui.stepper.asking import AskingScreen
from tui.stepper.predict import PredictScreen, question_about
from tui.stepper.running import PAUSE
from tui.time.cursor import StepCursor
from tui.widgets.bars import Heading, TimeBar
from tui.widgets.box_view import BoxView
from tui.widgets.first_steps import hint_after
from tui.widgets.footer import Footer
from tui.widgets.pane import Pane
from tui.widgets.panes import PANES, EnginePane, LeavesPane, NodePane, SentencePane
from tui.widgets.prompt import Prompt
from tui.widgets.source_pane import SourcePane
from tui.widgets.tape import TapeView
from tui.widgets.watch_pane import WatchPane

LOOKS_FOR_GARBAGE = (1_000, 10, 10)  # often and little: what ten jumps leave behind takes longer than a paint


class StepperOptions(TypedDict, total=False):
    """How a stepper opens: on which pass, in ASCII, without telling what runs next; of which program, whether
    to follow its changes; where what happens; with hints for a newcomer."""

    pass_index: int
    ascii: bool
    hides_next: bool
    origin: Origin | None
    watches: bool
    until: str | None
    guides: bool


class Frame(Container):
    """Holds views that cover all of it, so that it need not be drawn beneath them at every step."""

    BLANK = True


class StepperScreen(AskingScreen):
    """Steps through the backward passes of one recording, both ways."""

    BLANK = True  # as a Frame is

    CSS_PATH = "stepper.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "move(1)", "step"),
        Binding("left,h", "move(-1)", "back"),
        Binding("shift+right,L", "move_inside(1)", "step on inside of a step", show=False),
        Binding("shift+left,H", "move_inside(-1)", "step back inside of a step", show=False),
        Binding("home", "home", "to where backward was called", show=False),
        Binding("end", "end", "to the end of the pass", show=False),
        Binding("enter", "why", "why"),
        Binding("g", "ask('go to')", "go to"),
        Binding("b", "ask('break at')", "set or take away a breakpoint", show=False),
        Binding("w", "ask('watch')", "watch a tensor or leaf", show=False),
        Binding("B", "stops", "list breakpoints and watches", show=False),
        Binding("c", "run(1)", "run to the next breakpoint", show=False),
        Binding("C", "run(-1)", "run back to the breakpoint before", show=False),
        Binding("exclamation_mark", "next_nan", "to the first NaN or infinity, and on", show=False),
        Binding("v", "turn_view", "tape, boxes, both", show=False),
        Binding("space", "play", "play"),
        Binding("plus,equals_sign", "faster(1)", "play faster", show=False),
        Binding("minus", "faster(-1)", "play slower", show=False),
        Binding("P", "predict", "predict each step, or no longer", show=False),
        *(
            Binding(str(i), f"show_pane('{name}')", f"show the {name} pane", show=False)
            for i, name in enumerate(PANES, 1)
        ),
        Binding("tab", "turn_focus(1)", "pane"),
        Binding("shift+tab", "turn_focus(-1)", show=False),
        Binding("ctrl+p", "app.command_palette", "menu", priority=True),
        Binding("question_mark", "help", "help"),
        Binding("q", "leave", "quit"),
    ]

    score: reactive[tuple[int, int] | None] = reactive(None, repaint=False)  # right and asked; None: not predicting

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
    ) -> None:
        super().__init__(ascii=ascii, origin=origin, watches=watches)
        self._opening = replace(StepCursor.open(recording, pass_index), hides_next=hides_next)
        self._until = until
        self._guides = guides

    def compose(self) -> ComposeResult:
        """The tape, the panes, the sentence, and a bar above and below."""
        cursor, ascii = StepperScreen.cursor, self._ascii
        yield Heading(ascii=ascii).data_bind(
            cursor, StepperScreen.speed, StepperScreen.score, StepperScreen.found, StepperScreen.working,
            StepperScreen.warning,
        )  # fmt: skip
        yield Static(id="banner")
        yield TimeBar(ascii=ascii).data_bind(cursor, StepperScreen.stops, StepperScreen.not_finite)
        with Frame(id="main"):
            with Frame(id="left"):
                yield TapeView("tape", ascii=ascii).data_bind(cursor=cursor, stops=StepperScreen.stop_nodes)
                yield BoxView("boxes", ascii=ascii).data_bind(cursor)
            with Frame(id="panes"):
                tabs = Static(id="tabs")
                tabs.auto_links = False  # they look like tabs
                yield tabs
                yield NodePane("node", "node", ascii=ascii).data_bind(cursor)
                yield SourcePane("source", ascii=ascii).data_bind(cursor, stops=StepperScreen.stop_nodes)
                yield LeavesPane("leaves", "leaves", ascii=ascii).data_bind(cursor)
                yield EnginePane("engine", "engine", ascii=ascii).data_bind(cursor)
                yield WatchPane("watch", "watch", ascii=ascii).data_bind(cursor, StepperScreen.breakpoints)
        yield SentencePane("", "sentence", ascii=ascii).data_bind(cursor)
        with Frame(id="bottom"):
            yield Prompt()
            yield Footer()
        yield Static(id="too-small")

    def on_mount(self) -> None:
        """Open where the reader wants to begin. The garbage collector rests until what stays is there, and forgets it:
        it would go through all of a long recording again and again, and steps would stutter.
        """
        gc.disable()
        self.cursor = self._opening
        if self._until is not None:
            self.go_until(self._until)
        self.choose_view(self.app.size.height)
        self.share_out(self.app.size.width)  # before anything is laid out
        give_way(self, self.query("TapeView, BoxView, Pane"))
        self.query_one(TapeView).focus()
        self.call_after_refresh(self.set_timer, PAUSE, self._settle)

    def _settle(self) -> None:
        if self.cursor is not None:
            self.cursor.timeline.prepare()
        gc.freeze()
        gc.set_threshold(*LOOKS_FOR_GARBAGE)
        gc.enable()

    def watch_cursor(self, old: StepCursor | None, new: StepCursor | None) -> None:
        """Tell a newcomer what there is to see."""
        super().watch_cursor(old, new)
        if self._guides and new is not None:
            hint = hint_after(new.steps_done)
            self.say_above(self.key_names.spell(hint))
            self._guides = bool(hint)

    def return_to(self, known: Remembered) -> None:
        """Open as it was left: the layout, and the place, unless another was asked for or there is a failure to see."""
        if known.view in VIEWS:
            self.view = self.chosen_view = known.view
        if known.pane in PANES:
            self.pane = known.pane
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

    # What changes

    def say_above(self, text: str, *, bad: bool = False) -> None:
        """A banner below the heading; an empty one goes away."""
        banner = self.query_one("#banner", Static)
        banner.display = bool(text)
        banner.set_class(bad, "-bad")
        banner.update(Content(shown(text, ascii=self._ascii)))

    # Moving in time

    def action_move(self, moments: int) -> None:
        """Step on, or back; in predict mode, on after an answer."""
        self.stop_playing()
        cursor = self.cursor
        question = question_about(cursor) if cursor is not None and moments > 0 and self.score is not None else None

        def go_on(right: bool | None) -> None:
            if right is not None and self.score is not None:
                self.score = (self.score[0] + right, self.score[1] + 1)
            self._move(moments)

        if question is None:
            self._move(moments)
        else:
            self.app.clear_notifications()  # they would lie over the question
            self.app.push_screen(PredictScreen(question), go_on)

    def _move(self, moments: int) -> None:
        if self.cursor is not None:
            self.cursor = self.cursor.move(moments)

    def action_predict(self) -> None:
        """Ask before every step of backward, and keep a score; or no longer."""
        self.stop_playing()
        if self.cursor is None:
            return
        self.score, before = ((0, 0) if self.score is None else None), self.score
        self.cursor = replace(self.cursor, hides_next=self.score is not None)
        if before is None:
            ends = self.key("predict")
            self.notify(f"Predict: before each step you are asked about it. {ends} ends it.", timeout=4, markup=False)
        elif before[1]:
            self.notify(f"{before[0]} of {before[1]} predictions were right.", timeout=6)

    def action_move_inside(self, by: Literal[1, -1]) -> None:
        """The next moment inside of a step, or the one before."""
        if self.cursor is not None:
            self.cursor = self.cursor.move_inside(by)

    def action_home(self) -> None:
        """To where backward was called, then to before the program."""
        if self.cursor is not None:
            self.cursor = self.cursor.home()

    def action_end(self) -> None:
        """To the end of the pass."""
        if self.cursor is not None:
            self.cursor = self.cursor.end()

    def on_tape_view_chosen(self, message: TapeView.Chosen) -> None:
        """A row was clicked."""
        if self.cursor is not None:
            self.cursor = self.cursor.goto_node(message.node)

    def on_tape_view_marked(self, message: TapeView.Marked) -> None:
        """The margin of a row was clicked: a breakpoint there, or no longer."""
        self.toggle_stop(f"%{message.node}", "break")

    def on_source_pane_marked(self, message: SourcePane.Marked) -> None:
        """The margin of a line was clicked."""
        self.toggle_stop(message.text, "break")

    @on(TimeBar.Chosen)
    @on(Pane.Chosen)
    def _go_to_moment(self, message: TimeBar.Chosen | Pane.Chosen) -> None:
        """The bar was clicked, or what a pane names."""
        if self.cursor is not None:
            self.cursor = self.cursor.to_moment(message.moment)

    def action_leave(self) -> None:
        """Back to where the stepper was opened from."""
        self.dismiss()
