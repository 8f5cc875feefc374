"""The base of all screens: one that closes, or an error in what it does, cannot end the program."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual import events, messages
from textual.await_complete import AwaitComplete
from textual.css.query import NoMatches
from textual.message import Message
from textual.screen import Screen

from tui.guarded.app import GuardedApp

Result = TypeVar("Result")

LAST = (
    events.Compose, events.Mount, events.Unmount, events.Callback, messages.InvokeLater, messages.Prune,
    messages.CloseMessages,
)  # fmt: skip
"""What a screen that closes still has to heed: Textual waits for it."""


class GuardedScreen(Screen[Result], Generic[Result]):
    """A screen that closes once, hears nothing afterwards, and survives errors in its answers to messages."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close this screen with a result, and the pages over it.

        Textual would close the topmost screen, whichever that is: an answer that arrives twice closed the stepper.
        """
        if self.is_closed:
            return AwaitComplete()
        while self.app.screen is not self:
            self.app.pop_screen()
        return super().dismiss(result)

    @property
    def is_closed(self) -> bool:
        """Whether the screen has been closed. Its widgets may be gone, though messages still arrive."""
        return self not in self.app.screen_stack

    async def _dispatch_message(self, message: Message) -> None:
        if self.is_closed and not isinstance(message, LAST):
            return
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if isinstance(error, NoMatches) and (self.is_closed or self.app._exit):
                return  # the work of a thread has come too late
            opens = isinstance(message, events.Compose | events.Mount)
            if opens or not isinstance(self.app, GuardedApp) or not self.app.survives(error):
                raise
