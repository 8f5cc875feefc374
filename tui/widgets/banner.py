"""A message of a line or two below the heading, which stays until it is removed."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from tui.shell.spans import shown


class Banner(Static):
    """Shows a text; hidden without one."""

    DEFAULT_CSS = """
    Banner { display: none; height: auto; padding: 0 1; background: $primary-muted; color: $text; }
    Banner.-bad { background: $error-muted; color: $text-error; text-style: bold; }
    """

    def __init__(self, id: str, *, ascii: bool = False) -> None:
        super().__init__(id=id)
        self._ascii = ascii

    def say(self, text: str, *, bad: bool = False) -> None:
        """Show a text, styled as an error if `bad`; an empty text hides the banner."""
        self.display = bool(text)
        self.set_class(bad, "-bad")
        self.update(Content(shown(text, ascii=self._ascii)))
