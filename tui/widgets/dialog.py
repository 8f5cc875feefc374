"""The base of the pages over the stepper. Each page can be used and closed with the mouse alone."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.events import Click, Key, Resize
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import OptionList

from tui.guarded.screen import GuardedScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result], GuardedScreen[Result], Generic[Result]):
    """A modal page. A click beside it acts as Esc; the keys in its lower border can be clicked, see `keys_below`."""

    FITTED: ClassVar[bool] = False  # whether the page cuts its texts to the width of the terminal

    LONGEST: ClassVar[int] = 1_000  # lines of a list

    _width = 0  # of the terminal when the page was laid out

    def fit_lists(self) -> None:
        """End each list where its box ends: Textual ignores the height of the widgets above the list."""
        for rows in self.query(OptionList):
            box = rows.parent
            if rows.display and isinstance(box, Widget) and box.children[-1] is rows:
                room = self.size.height - box.gutter.height - (rows.region.y - box.content_region.y)
                rows.styles.max_height = min(max(room, 1), self.LONGEST)
                self.call_after_refresh(rows.scroll_to_highlight)

    async def on_resize(self, event: Resize) -> None:
        """Cut the texts to the new width, and highlight the same row again."""
        self.call_after_refresh(self.fit_lists)
        known, self._width = self._width, event.size.width
        if not self.FITTED or known in (0, event.size.width):
            return
        at = [rows.highlighted for rows in self.query(OptionList)]
        await self.recompose()
        ends = self.is_closed or self.app._exit  # then there may be fewer lists, or none
        for rows, row in zip(self.query(OptionList), at, strict=not ends):
            rows.highlighted = row
            rows.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Act on a row that was chosen by Enter or a click, unless the list has changed since."""
        event.stop()
        rows, row = event.option_list, event.option_index
        if row < rows.option_count and rows.get_option_at_index(row) is event.option:
            self.chose(row)

    def chose(self, row: int) -> None:
        """Called with the number of the row that was chosen."""

    def on_click(self, event: Click) -> None:
        """Close on a click beside the page."""
        if event.widget is self:
            event.stop()
            self.action_press("escape")

    def action_press(self, key: str) -> None:
        """Press a key, in the name of the app: a key from this page would reach only the page itself."""
        self.app.post_message(Key(key, None).set_sender(self.app))


def keys_below(*keys: tuple[str, str]) -> str:
    """`Enter goes there, Esc`, for the lower border. A click on the words presses the key.

    Args:
        keys: pairs of a key in Textual's notation (empty: no key) and its words.
    """
    return ", ".join(f"[@click=screen.press('{key}')]{words}[/]" if key else words for key, words in keys)
