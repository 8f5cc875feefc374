"""Two pages: the list of passes, and two passes side by side; of several recordings, if they are open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import Static
from textual.widgets.option_list import Option

from tui.shell.spans import plain
from tui.widgets.choices import Choices
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content
from tui.words.passes import Pair, PassOf, headings, pass_lines, row

STYLE = """
    {0} {{ align: center middle; }}
    {0} > Vertical {{
        width: 130; max-width: 100%; height: auto; max-height: 100%;
        border: round $accent; background: $surface; padding: 0 1;
    }}
    {0} Static {{ height: auto; }}
    {0} #columns {{ color: $text-muted; }}
    {0} OptionList, {0} OptionList:focus {{
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
    }}
"""


class LazyLine(Visual):
    """A line of a list, computed only when it comes into view: a pass may have thousands of lines."""

    def __init__(self, line: Callable[[], Content]) -> None:
        self._line = line

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """See `Content`."""
        return self._line().render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The width of the list."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """One line."""
        return 1


class PassChoice(NamedTuple):
    """A pass chosen from the list: to go to it, or to compare it with the current one."""

    chosen: PassOf
    compares: bool


class PassesScreen(Dialog[PassChoice | None]):
    """Lists passes: number, call, root, steps and failure. `current` is the index of the one that is shown."""

    FITTED = True

    DEFAULT_CSS = STYLE.format("PassesScreen")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,s", "dismiss", "close", show=False),
        Binding("c", "compare", "compare", show=False),
    ]

    def __init__(self, passes: Sequence[PassOf], current: int, *, ascii: bool = False) -> None:
        super().__init__()
        self._passes = passes
        self._current = current
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """The headings, and one line per pass."""
        columns, *rows = [
            content(one, ascii=self._ascii) for one in pass_lines(self._passes, min(self.app.size.width, 130) - 5)
        ]
        current = self._passes[self._current].name
        with Vertical() as box:
            box.border_title = "passes"
            box.border_subtitle = keys_below(
                ("enter", "Enter goes there"), ("c", f"c compares it with {current}"), ("escape", "Esc")
            )
            yield Static(columns, id="columns")
            yield Choices(*(Option(one) for one in rows))

    def on_mount(self) -> None:
        """Highlight the current pass."""
        passes = self.query_one(Choices)
        passes.highlighted = self._current
        passes.focus()

    def chose(self, row: int) -> None:
        """Go to the pass on Enter or a click."""
        self.dismiss(PassChoice(self._passes[row], False))

    def action_compare(self) -> None:
        """Compare the highlighted pass with the current one."""
        chosen = self.query_one(Choices).highlighted
        if chosen is not None and chosen != self._current:
            self.dismiss(PassChoice(self._passes[chosen], True))
        else:
            self.notify("This is the current pass: choose another one to compare.", timeout=3)


class CompareScreen(Dialog[tuple[PassOf, int] | None]):
    """Shows two passes. Closes with the pass and the node to go to, or None."""

    FITTED = True

    DEFAULT_CSS = STYLE.format("CompareScreen")

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "close", show=False)]

    def __init__(self, first: PassOf, second: PassOf, pairs: Sequence[Pair], *, ascii: bool = False) -> None:
        super().__init__()
        self._which = first, second
        self._pairs = pairs
        self._ascii = ascii

    def compose(self) -> ComposeResult:
        """The two passes, the headings, and a line for each leaf and operation."""
        width = min(self.app.size.width, 130) - 6
        names = min(max([len(plain(one.name)) for one in self._pairs], default=4), 24)
        room = max((width - names - 6) // 3, 12)
        labels = [one.name.ljust(room) for one in self._which]
        with Vertical() as box:
            box.border_title = "two passes"
            box.border_subtitle = keys_below(("enter", "Enter goes there"), ("escape", "Esc"))
            lines = [content(one, ascii=self._ascii) for one in headings(*self._which)]
            yield Static(Content("\n").join(lines))
            yield Static("  ".join([" " * names, *labels, "difference"]), id="columns")
            rest = width - names - 2 * room - 6

            def line(pair: Pair) -> Content:
                return content(row(pair, names, room, rest, ascii=self._ascii), ascii=self._ascii).truncate(width)

            yield Choices(*(Option(LazyLine(partial(line, one))) for one in self._pairs))

    def on_mount(self) -> None:
        """Give the list the focus."""
        self.query_one(Choices).focus()

    def chose(self, row: int) -> None:
        """Go to the node, in the pass that has it."""
        pair = self._pairs[row]
        self.dismiss((self._which[1] if pair.in_second else self._which[0], pair.node))
