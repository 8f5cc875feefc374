"""The base of the apps: the last line of defence. An error of ours, or a signal, costs the user nothing."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

from textual import events
from textual.actions import ActionParseResult
from textual.app import App
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver

from tui.guarded.ending_signals import ending_signals
from tui.guarded.trouble_report import write_report
from tui.shell.clipboard import home
from tui.shell.exits import SIGNALLED
from tui.shell.printing import put_error

MOST = 20  # errors in one session: an app with more of them is beyond help
EVENTS = 200  # that a report lists


class GuardedApp(App[None]):
    """An app that goes on after an error in an action, and otherwise ends in order.

    Either way a file holds what happened. A signal ends the app as `exit` does.
    """

    ALLOW_SELECT = False  # no view of ours needs it, and selecting what closes meanwhile raises
    SURVIVES: ClassVar[bool] = True  # tests want the exception itself
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+z", "suspend_process", "suspend", show=False)]

    ended_by: int | None = None  # the signal that has ended the app

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._events: deque[str] = deque(maxlen=EVENTS)
        self._troubles = 0
        self._last_words = ""

    def keep(self) -> object:
        """Store what the user would not want to lose. Called before an end that nobody asked for."""
        return None

    def run(self, *arguments: Any, **options: Any) -> Any:
        """Run until the end. If it was an error of ours, print a line that names the file with what happened."""
        result = None
        try:
            with ending_signals(self, self.leave):
                result = super().run(*arguments, **options)
        except Exception as error:
            if not self.SURVIVES:
                raise
            self._fall(error)
        if self._last_words:
            put_error(self._last_words)
        return result

    def hang_up(self) -> None:
        """End, because the terminal is gone."""
        if self.ended_by is None:
            self.ended_by = signal.SIGHUP
            self.leave()

    def leave(self) -> None:
        """End, because of the signal `ended_by`."""
        with contextlib.suppress(Exception):
            self.keep()
        self.exit(return_code=SIGNALLED + (self.ended_by or 0))

    # Errors

    def survives(self, error: Exception) -> bool:
        """Tell the user of an error, and that the app goes on. Returns whether it does."""
        if not self.SURVIVES or self._troubles >= MOST:
            return False
        self._troubles += 1
        self.notify(f"That did not work, because of a mistake in microtape. {self._told(error)}",
                    severity="error", timeout=15, markup=False)  # fmt: skip
        return True

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run the action of a key or a click, and survive an error in it. A page that still opens heeds none."""
        if self.screen_stack and not self.screen.is_mounted:
            return True
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except Exception as error:
            if not self.survives(error):
                raise
            return True

    def _handle_exception(self, error: Exception) -> None:
        """End after an error that Textual has caught: a widget that raised it answers no more."""
        if not self.SURVIVES:
            super()._handle_exception(error)
            return
        self._fall(error)
        self._exception_event.set()  # nobody should wait for answers any more
        self._close_messages_no_wait()

    def _fall(self, error: Exception) -> None:
        if self._last_words:
            return
        with contextlib.suppress(Exception):
            self.keep()
        if isinstance(error, BrokenPipeError) and self.is_web:
            return  # the browser's page has been closed: nobody's mistake
        self._return_code = 1
        self._last_words = f"microtape: the program had to end, because of a mistake in it. {self._told(error)}"

    def _told(self, error: Exception) -> str:
        path = write_report(error, self._events)
        where = f"{home(path)} holds what happened" if path is not None else "No file could be written"
        return f"{where} ({type(error).__name__})."

    async def on_event(self, event: events.Event) -> None:
        """Note the event for a report. While the app ends, with no page or an empty one, an event does nothing."""
        if isinstance(event, events.Key) and not event.is_forwarded and self._is_suspend(event.key):
            self.action_suspend_process()  # at once: a page that opens, closes or is modal would not heed the key
            return
        if isinstance(event, events.InputEvent | events.Resize):
            if self._exit or not self.screen_stack:
                return
            self._events.append(repr(event))
        if isinstance(event, events.Paste):
            event.text = _encodable(event.text)
        await super().on_event(event)

    # The terminal

    def get_driver_class(self) -> type[Driver]:
        """The driver for this platform."""
        known = super().get_driver_class()
        if known.__module__ != "textual.drivers.linux_driver":
            return known
        from tui.guarded.tolerant_driver import TolerantDriver

        return TolerantDriver

    def copy_to_clipboard(self, text: str) -> None:
        """Put a text on the clipboard."""
        super().copy_to_clipboard(_encodable(text))

    def action_suspend_process(self) -> None:
        """Give the terminal back to the shell, until its `fg`."""
        stop_job = getattr(self._driver, "stop_job", None)  # the driver of a terminal on which there are jobs
        if stop_job is None or self._exit:
            return
        if os.getpgrp() == os.getsid(0):
            self.notify("There is no shell to go back to from here.", timeout=4)
            return
        self.app_suspend_signal.publish(self)
        stop_job()
        self.app_resume_signal.publish(self)

    def _is_suspend(self, key: str) -> bool:
        """Whether a key suspends: Ctrl+Z, unless the focused widget or the page has another use for it."""
        if key != "ctrl+z":
            return False
        known = self.screen.active_bindings.get(key) if self.screen_stack else None
        return known is None or known.binding.action == "suspend_process"


def _encodable(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no file or terminal takes."""
    return text.encode("utf-8", "replace").decode()
