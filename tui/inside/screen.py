"""The screen inside a function of the user's, which opens over the stepper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from microtape.recording.model.model import Place
from microtape.recording.model.source import expression
from tui.guarded.screen import GuardedScreen
from tui.inside.panes import InsideContract, InsidePane, InsideSource, InsideSteps, InsideVariables
from tui.shell.key_names import KeyNames
from tui.shell.spans import Line, Span, line, plain
from tui.shell.user_keys import actions_of, rebind, unbind_screen_keys
from tui.time.calls import CallCursor
from tui.time.cursor import StepCursor
from tui.time.source import place_of
from tui.widgets.array_view import ArrayScreen
from tui.widgets.footer import Footer
from tui.widgets.help import HelpScreen
from tui.widgets.lines.role_styles import content
from tui.words.functions.inside import InsideWords
from tui.words.functions.inside_lines import counted, heading

WIDE, HIGH = 110, 36  # from this width the contract stands beside the code, from this height below it; else nowhere
PREFACE = (
    "You are inside of one of your own functions, which the engine has called. Every row below the source is something "
    "that ran in there. Nothing runs again: this is what was recorded."
)
ROWS = (
    (("move(1)", "move(-1)"), "one step forward, one step back; at the end of a function, to the next of this step"),
    (("home", "end"), "to the beginning or the end of this function; again: of the first or last one"),
    (("step_into",), "into the function or the pass that this step called"),
    (("step_out", "escape"), "out again: to the caller, at last to the stepper"),
    (("leave",), "back to the stepper at once"),
    (("array",), "show the numbers of this step: its result, the variables, the operands"),
    (("ask('break at')",), "set or remove a breakpoint at this line"),
    (("run(1)", "run(-1)"), "run to the next stop, or back to the previous one, in here or further out"),
)
SIGNS = (
    ("✓", "", "has run"),
    ("▶", "", "has just run"),
    ("·", "", "will run"),
    ("✗", "", "raised an exception"),
    ("◆", "", "a breakpoint"),
)


class Left(NamedTuple):
    """How the user left."""

    run: int = 0  # 1 or -1: to run on in the stepper
    pass_: int | None = None  # a pass to go to, which was called in there: an index into `Recording.passes`


class Stops(Protocol):
    """The breakpoints of the stepper."""

    def toggle_line(self, text: str) -> str:
        """Set or remove the breakpoint of a line. Returns what to tell the user."""

    def at_line(self, place: Place | None) -> bool:
        """Whether a place is on the line of a breakpoint."""


class InsideHeading(Widget):
    """Where the user is, and how far."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "InsideHeading { height: 1; background: $surface; padding: 0 1; }"

    cursor: reactive[CallCursor | None] = reactive(None)

    def __init__(self, moment: StepCursor, *, ascii: bool) -> None:
        super().__init__()
        self._moment, self._ascii = moment, ascii

    def render(self) -> Content:
        """One line. If it is too long, the expression of the outer step is left out, then the outer functions."""
        cursor, moment = self.cursor, self._moment
        if cursor is None:
            return Content("")
        place = place_of(moment)
        where = line(f"{place.at} ") if place is not None else ()
        around = expression(moment.recording, place)
        if moment.node is not None and not around:
            around = moment.recording.label(moment.node)
        done = moment.position if moment.is_forward else moment.steps_done
        count = len(moment.timeline.forward if moment.is_forward else moment.timeline.steps)
        right = line(Span(f"{'operation' if moment.is_forward else 'step'} {done}/{count}   ", "dim"),
                     Span(counted(cursor), "strong"))  # fmt: skip
        room = self.size.width - len(plain(right)) - 2
        choices: list[Line] = [line(*where, *heading(cursor, around)), line(*where, *heading(cursor, ""))]
        choices.append(heading(CallCursor(cursor.recording, cursor.calls, cursor.at), ""))
        left = next((one for one in choices if len(plain(one)) <= room), choices[-1])
        gap = " " * max(room + 2 - len(plain(left)), 1)
        return content(line(*left, gap, *right), ascii=self._ascii)


class InsideScreen(GuardedScreen[Left]):
    """Steps through what ran inside of functions of the user's, both ways. Closes with how the user left."""

    DEFAULT_CSS = """
    InsideScreen { background: $background; layout: vertical; }
    InsideScreen #inside-top { height: 16fr; layout: horizontal; }
    InsideScreen #inside-code { width: 1fr; height: 1fr; }
    InsideScreen InsideContract { width: 60; margin-left: 1; }
    InsideScreen.-narrow #inside-top { layout: vertical; }
    InsideScreen.-narrow #inside-code { width: 1fr; height: 2fr; }
    InsideScreen.-narrow InsideContract { width: 1fr; margin-left: 0; }
    InsideScreen.-narrow.-short InsideContract { height: 0; border: none; }
    InsideScreen InsidePane {
        border: none; border-top: solid $panel; border-title-color: $text-muted; border-subtitle-color: $text-muted;
        scrollbar-color: $panel; scrollbar-background: $background; scrollbar-color-hover: $accent;
        scrollbar-color-active: $accent; scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    InsideScreen InsidePane:focus {
        border: none; border-top: solid $accent; border-title-color: $text-accent; border-title-style: bold;
    }
    .-ascii InsideScreen InsidePane { border: none; border-top: ascii $panel; }
    .-ascii InsideScreen InsidePane:focus { border: none; border-top: ascii $accent; }
    InsideScreen Footer { background: $surface; }
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (HIGH, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "move(1)", "step"),
        Binding("left,h", "move(-1)", "back"),
        Binding("u", "step_out", "out"),
        Binding("i", "step_into", "inside"),
        Binding("a", "array", "numbers"),
        Binding("b", "ask('break at')", "break here"),
        Binding("c", "run(1)", "run"),
        Binding("C", "run(-1)", "run back", show=False),
        Binding("home", "home", "to the beginning of this function", show=False),
        Binding("end", "end", "to the end of this function", show=False),
        Binding("f1", "explain", "explain the focused pane", show=False),
        Binding("ctrl+p", "app.command_palette", "menu", show=False, priority=True),
        Binding("question_mark", "help", "help"),
        Binding("escape", "escape", "out", show=False),
        Binding("q", "leave", "close"),
    ]

    cursor: reactive[CallCursor | None] = reactive(None, repaint=False)

    def __init__(
        self,
        cursor: CallCursor,
        moment: StepCursor,
        stops: Stops,
        *,
        keys: Mapping[str, Sequence[str]] | None = None,
        ascii: bool = False,
    ) -> None:
        """`moment` is that of the stepper, and `keys` are its keys: the same actions have the same keys in here."""
        super().__init__()
        self._opening, self._moment, self._stops, self._ascii = cursor, moment, stops, ascii
        own = {one.action for one in self.BINDINGS if isinstance(one, Binding)}
        rebind(self, {action: tuple(every) for action, every in (keys or {}).items() if action in own})

    def compose(self) -> ComposeResult:
        """The heading, the panes, and the keys."""
        cursor, ascii = InsideScreen.cursor, self._ascii
        yield InsideHeading(self._moment, ascii=ascii).data_bind(cursor)
        with Container(id="inside-top"):
            with Container(id="inside-code"):
                yield InsideSource(ascii=ascii).data_bind(cursor)
                yield InsideVariables(ascii=ascii).data_bind(cursor)
            yield InsideContract(self._moment, ascii=ascii).data_bind(cursor)
        yield InsideSteps(lambda: self.names.first("step_into"), ascii=ascii).data_bind(cursor)
        yield Footer()

    def on_mount(self) -> None:
        """Show the step at which the screen opens."""
        self.cursor = self._opening
        unbind_screen_keys(self, self.query(InsidePane))
        self.query_one(InsideSource).stops = self._stops.at_line
        self.query_one(InsideSteps).focus()

    def watch_cursor(self, new: CallCursor | None) -> None:
        """Name the function above its source, and the key that opens what this step called."""
        if new is not None:
            calls = new.step.kind in ("call", "pass")
            self.query_one(Footer).unavailable = frozenset() if calls else frozenset({"step_into"})
            place = new.step.place or new.call.place
            source = self.query_one(InsideSource)
            source.border_title = Content(place.function if place is not None else new.call.name)
            source.border_subtitle = Content(place.file if place is not None else "")

    @property
    def names(self) -> KeyNames:
        """The names of the keys."""
        return KeyNames(actions_of(self), ascii=self._ascii)

    @property
    def here(self) -> CallCursor:
        """The step that is shown."""
        assert self.cursor is not None
        return self.cursor

    # Actions

    def action_move(self, by: int) -> None:
        """Go a step forward or back."""
        there = self.here.move(by)
        if there == self.here and by > 0:
            self.say(f"This is the end of what ran in here: {self.names.first('step_out')} goes out.")
        self.cursor = there

    def action_home(self) -> None:
        """Go to the beginning of this call."""
        self.cursor = self.here.home()

    def action_end(self) -> None:
        """Go to the end of this call."""
        self.cursor = self.here.end()

    def action_step_into(self) -> None:
        """Go into the call that this step made, or to the pass that it ran."""
        step = self.here.step
        inner = self.here.into()
        if inner is not None:
            self.cursor = inner
        elif step.kind == "pass":
            found = [i for i, one in enumerate(self.here.recording.passes) if one.index == step.inner]
            if found:
                self.dismiss(Left(pass_=found[0]))
            else:
                self.say("That pass was not kept.")
        elif step.kind == "call":
            self.say("What ran in that call was not kept.")
        else:
            self.say("This step called no function of yours, and no backward.")

    def action_step_out(self) -> None:
        """Go back to the caller, or to the stepper."""
        outer = self.here.outer
        if outer is not None:
            self.cursor = outer
        else:
            self.dismiss(Left())

    def action_escape(self) -> None:
        """Go out by one level."""
        self.action_step_out()

    def action_leave(self) -> None:
        """Go back to the stepper."""
        self.dismiss(Left())

    def action_array(self) -> None:
        """Show the numbers of this step."""
        arrays = InsideWords(self.here).arrays(self.here.position)
        if arrays:
            self.app.push_screen(ArrayScreen(arrays, ascii=self._ascii))
        else:
            self.say("This step has no numbers.")

    def action_ask(self, purpose: str) -> None:
        """Set or remove a breakpoint at the current line."""
        place = self.here.step.place or self.here.call.place
        if place is not None:
            self._toggle(place, place.line)

    def action_run(self, by: int) -> None:
        """Go to the next stop in here, or run on in the stepper."""
        there = self.here.run(self._stops.at_line, by)
        if there is not None:
            self.cursor = there
        else:
            self.dismiss(Left(run=by))

    def action_help(self) -> None:
        """Open the page of keys and signs."""
        self.app.push_screen(HelpScreen(rows=ROWS, names=self.names, preface=PREFACE, marks=SIGNS))

    def action_explain(self) -> None:
        """Explain the focused pane."""
        text = getattr(self.focused, "EXPLAINED", "")
        if text and self.focused is not None:
            self.app.push_screen(HelpScreen((str(self.focused.border_title), text), names=self.names))

    # Messages

    def on_inside_pane_chosen(self, message: InsidePane.Chosen) -> None:
        """Go to the step that was clicked."""
        self.cursor = self.here.to(message.position)

    def on_inside_source_marked(self, message: InsideSource.Marked) -> None:
        """Set or remove a breakpoint at the line whose margin was clicked."""
        place = self.here.step.place or self.here.call.place
        if place is not None:
            self._toggle(place, message.line)

    def _toggle(self, place: Place, number: int) -> None:
        self.say(self._stops.toggle_line(f"{place.file}:{number}"))
        self.query_one(InsideSource).stops = self._stops.at_line

    def say(self, text: str) -> None:
        """Show a notification."""
        self.notify(text, timeout=3, markup=False)
