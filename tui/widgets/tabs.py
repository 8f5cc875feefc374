"""The line of tabs above the panes of a small terminal, which shows one pane at a time."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from tui.shell.key_names import KeyNames
from tui.shell.user_keys import actions_of

CHOSEN, OTHER = "b on $accent-muted", "$text-muted"


class Tabs(Widget):
    """The panes' names with their keys, the chosen one marked. A click on a tab chooses its pane.

    In a narrow column the space between the tabs goes first, then the keys, so that every name stays visible.
    """

    ALLOW_SELECT = False

    chosen: reactive[str] = reactive("")

    def __init__(self, names: Sequence[str], *, ascii: bool = False) -> None:
        super().__init__(id="tabs")
        self.auto_links = False  # no link style: they look like tabs
        self._names = names
        self._ascii = ascii

    def render(self) -> Content:
        """One line, in the roomiest form that fits."""
        known = KeyNames(actions_of(self.screen), ascii=self._ascii)
        keys = [next(iter(known.of(f"show_pane({name!r})")), "") for name in self._names]
        keyed = [f"{key} {name}".strip() for key, name in zip(keys, self._names, strict=True)]
        forms = ((keyed, " ", "  "), (keyed, "", " "), (self._names, "", " "))
        lines = [self._line([f"{pad}{one}{pad}" for one in texts], gap) for texts, pad, gap in forms]
        return next((one for one in lines if one.cell_length <= self.size.width), lines[-1])

    def _line(self, texts: Sequence[str], gap: str) -> Content:
        tabs = [
            Content.styled(text, CHOSEN if name == self.chosen else OTHER).stylize(
                Style.from_meta({"@click": f"screen.show_pane({name!r})"})
            )
            for name, text in zip(self._names, texts, strict=True)
        ]
        return Content(gap).join(tabs)
