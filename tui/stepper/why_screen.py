"""The page that explains what is wrong, and a gradient: its terms can be followed towards the seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from microtape.recording.findings import Finding
from tui.shell.clipboard import copy
from tui.shell.key_names import key_name
from tui.shell.spans import Line, Span, line, plain
from tui.time.calls import CallCursor
from tui.time.cursor import StepCursor
from tui.time.finding_moments import moment_of
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content
from tui.words.findings import carried, explained, findings_at
from tui.words.functions.inside_lines import opens
from tui.words.why import Subject, label, move_element, not_a_leaf_note, promised, subject, why
from tui.words.why_none import why_no_grad

MOST_TERMS = 200  # more are unreadable: a weight that is used at every time step has thousands


class Into(NamedTuple):
    """The user wants to see what ran inside of the user's functions, at a finding or in the step of a node."""

    about: Finding | int


class WhyScreen(Dialog[Finding | int | Into | None]):
    """Explains a finding, or one gradient at a time. Closes with the finding or node to go to, or None to stay."""

    DEFAULT_CSS = """
    WhyScreen { align: center middle; }
    WhyScreen > Vertical {
        width: 100; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }
    WhyScreen #crumbs { height: 1; color: $text-muted; }
    WhyScreen #heading { height: auto; margin: 1 0; }
    WhyScreen OptionList, WhyScreen OptionList:focus {
        height: auto; border: none; padding: 0; background: $surface;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "close"),
        Binding("backspace", "back", "back"),
        Binding("left,h", "element(0, -1)", "element", show=False),
        Binding("right,l", "element(0, 1)", "element", show=False),
        Binding("shift+left,H", "element(1, -1)", "row", show=False),
        Binding("shift+right,L", "element(1, 1)", "row", show=False),
        Binding("g", "go", "go there", show=False),
        Binding("i", "into", "go inside", show=False),
        Binding("y", "copy", "copy", show=False),
    ]

    LONGEST = 24

    def __init__(
        self, cursor: StepCursor, about: Subject | Finding | int, found: Sequence[Finding] = (), *, ascii: bool = False
    ) -> None:
        super().__init__()
        self._cursor = cursor
        self._found = found
        self._tensor = about if isinstance(about, int) else None
        self._trail: list[Subject | Finding] = [] if isinstance(about, int) else [about]
        self._origins: tuple[Finding, ...] = ()  # options above the terms: where a NaN or infinity begins
        self._ascii = ascii
        self._answer: tuple[Line, ...] = ()  # the whole text, for copying

    def compose(self) -> ComposeResult:
        """The trail of gradients, the current gradient, and its terms."""
        with Vertical() as box:
            box.border_title = "why"
            yield Static(id="crumbs")
            yield Static(id="heading")
            yield Choices()

    def on_mount(self) -> None:
        """Explain the first gradient."""
        self._show()

    def chose(self, row: int) -> None:
        """Go to the chosen origin, or explain the gradient that sent the chosen term."""
        if row < len(self._origins):
            self.dismiss(self._origins[row])
            return
        about = self._subject
        terms = why(self._cursor, about, MOST_TERMS).terms if about is not None else ()
        sender = terms[row - len(self._origins)].sender
        if sender is not None:
            self._trail.append(sender)
            self._show()

    def action_back(self) -> None:
        """Return to the previous gradient; from the first one, close."""
        if len(self._trail) > 1:
            self._trail.pop()
            self._show()
        else:
            self.dismiss(None)

    def action_element(self, axis: int, by: int) -> None:
        """Explain another element of the same gradient."""
        about = self._trail[-1] if self._trail else None
        if isinstance(about, Subject):
            self._trail[-1] = move_element(self._cursor, about, axis, by)
            self._show()

    def action_go(self) -> None:
        """Close, and go to the finding, or to the step that evaluates this node."""
        about = self._trail[-1] if self._trail else None
        self.dismiss(about.node if isinstance(about, Subject) else about)

    def action_into(self) -> None:
        """Close, and step into the functions that ran there."""
        about = self._trail[-1] if self._trail else None
        if about is not None and self._inside is not None:
            self.dismiss(Into(about.node if isinstance(about, Subject) else about))

    @property
    def _inside(self) -> CallCursor | None:
        """What ran inside of the user's functions at the finding, or in the step of the node."""
        about = self._trail[-1] if self._trail else None
        if isinstance(about, Finding):
            return CallCursor.open(moment_of(self._cursor, about), about.kind)
        return None if about is None else CallCursor.open(self._cursor.goto_node(about.node))

    def action_copy(self) -> None:
        """Copy the whole answer."""
        self.notify(copy(self.app, "\n".join(plain(one) for one in self._answer), "the answer"), markup=False)

    def action_close(self) -> None:
        """Close without going anywhere."""
        self.dismiss(None)

    @property
    def _subject(self) -> Subject | None:
        """The gradient to explain; None if there is none."""
        about = self._trail[-1] if self._trail else None
        if isinstance(about, Finding):
            node = about.node
            return None if node is None or self._cursor.gradient(node) is None else subject(self._cursor, node)
        return about

    def _show(self) -> None:
        options = self.query_one(Choices)
        options.clear_options()
        about = self._subject
        first = self._first()
        options.add_options([Option(self._content((_origin(one),))) for one in self._origins])
        if self._tensor is not None:
            heading = self._answer = tuple(why_no_grad(self._cursor, self._tensor))
        elif about is None or (first and self._cursor.gradient(about.node) is None):
            heading = self._answer = first
        else:
            answer = why(self._cursor, about, MOST_TERMS)
            notes = not_a_leaf_note(self._cursor, about.node) if answer.terms else ()
            heading = (*answer.heading, *notes, *promised(self._cursor, about.node))
            heading = (
                (*first, line(""), line(Span("The gradient that came in:", "dim")), *heading) if first else heading
            )
            options.add_options([Option(self._content(term.lines)) for term in answer.terms])
            self._answer = (*heading, *(one for term in answer.terms for one in term.lines))
            if answer.left_out:
                rest = line(Span(f"and {answer.left_out:,} more terms; `microtape trace --why` lists them all", "dim"))
                options.add_option(Option(self._content((rest,)), disabled=True))
                self._answer = (*self._answer, rest)
        inside = self._inside
        if inside is not None:
            heading = (*heading, line(Span(f"i opens {opens(inside)}", "good")))
        options.display = bool(options.option_count)
        if options.option_count:
            options.highlighted = 0
            options.focus()
        arrow = " <- " if self._ascii else " ← "
        crumbs = [piece for one in self._trail for piece in (Span(arrow, "dim"), *self._label(one))]
        self.query_one("#crumbs", Static).update(content(line(*crumbs[1:]), ascii=self._ascii))
        self.query_one("#crumbs", Static).display = bool(crumbs)
        self.query_one("#heading", Static).update(self._content(heading))
        keys = [("escape", "Esc")]
        top = self._trail[-1] if self._trail else None
        if isinstance(top, Subject) and top.index:
            left, right = (key_name(one, ascii=self._ascii) for one in ("left", "right"))
            keys = [("left", left), ("right", f"{right} element"), *keys]
        if options.option_count:
            keys = [("enter", "Enter follows"), ("backspace", "Backspace returns"), ("g", "g goes there"), *keys]
        elif isinstance(top, Finding):
            keys = [("g", "g goes there"), *keys]
        if inside is not None:
            keys = [("i", "i goes inside"), *keys]
        self.query_one(Vertical).border_subtitle = keys_below(*keys)
        self.call_after_refresh(self.fit_lists)

    def _first(self) -> tuple[Line, ...]:
        """What is wrong at the node; or, where NaN or infinity only passed through, where it came from."""
        self._origins = ()
        about = self._trail[-1] if self._trail else None
        if about is None:
            return ()
        recording, ascii = self._cursor.recording, self._ascii
        here = (about,) if isinstance(about, Finding) else findings_at(self._cursor, about.node, self._found)
        if here:
            return tuple(one for each in here for one in explained(recording, each, ascii=ascii))
        came = carried(self._cursor, about.node, self._found) if isinstance(about, Subject) else None
        if came is None:
            return ()
        self._origins = came.origins
        return came.lines

    def _label(self, about: Subject | Finding) -> Line:
        return line(about.kind) if isinstance(about, Finding) else label(self._cursor, about)

    def _content(self, lines: tuple[Line, ...]) -> Content:
        return Content("\n").join(content(one, ascii=self._ascii) for one in lines)


def _origin(finding: Finding) -> Line:
    return line(Span("It begins here: ", "dim"), Span(finding.headline, "strong"))
