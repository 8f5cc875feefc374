"""A list to choose from, which no key and no click breaks: Textual's own raises where it is empty, or not laid out."""

from __future__ import annotations

import contextlib

from textual.events import Click
from textual.widgets import OptionList


class Choices(OptionList):
    """A list of options."""

    def action_page_up(self) -> None:
        """Move the highlight up by a page."""
        with contextlib.suppress(LookupError):  # a list that has no lines has no pages either
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Move the highlight down by a page."""
        with contextlib.suppress(LookupError):
            super().action_page_down()  # type: ignore[no-untyped-call]

    async def _on_click(self, event: Click) -> None:
        """Ignore a click on a row that has been removed since it was drawn."""
        if event.style.meta.get("option", -1) >= self.option_count:
            event.prevent_default()  # of Textual's own method
