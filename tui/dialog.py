"""A page over the stepper: what they share, so that a mouse alone gets in and out of all of them."""

from __future__ import annotations

from typing import TypeVar

from textual.events import Click, Key
from textual.screen import ModalScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal page. A click beside it is Esc; the line below it names keys and can be clicked, see `keys_below`."""

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
