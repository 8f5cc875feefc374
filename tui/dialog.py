"""A page over the stepper: what they share, so that a mouse alone gets in and out of all of them."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.events import Click, Key, Resize
from textual.screen import ModalScreen
from textual.widgets import OptionList

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal page. A click beside it is Esc; the line below it names keys and can be clicked, see `keys_below`."""

    FITTED: ClassVar[bool] = False  # whether its texts are cut to the width of the terminal

    _width = 0  # that it was laid out for

    async def on_resize(self, event: Resize) -> None:
        """Cut the texts anew, and choose the same row again."""
        known, self._width = self._width, event.size.width
        if not self.FITTED or known in (0, event.size.width):
            return
        at = [rows.highlighted for rows in self.query(OptionList)]
        await self.recompose()
        for rows, row in zip(self.query(OptionList), at, strict=True):
            rows.highlighted = row
            rows.focus()

    def on_click(self, event: Click) -> None:
        """Leave by a click beside the page."""
        if event.widget is self:
            event.stop()
            self.action_press("escape")

    def action_press(self, key: str) -> None:
        """Do what a key does. The key comes from the app: one sent from here would go up no farther than to here."""
        self.app.post_message(Key(key, None).set_sender(self.app))


def keys_below(*keys: tuple[str, str]) -> str:
    """`Enter goes there, Esc`, for the border below: a click on the words is as good as the key.

    Args:
        keys: each key as Textual calls it, empty where there is none, and the words.
    """
    return ", ".join(f"[@click=screen.press('{key}')]{words}[/]" if key else words for key, words in keys)
