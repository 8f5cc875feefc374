"""Textual's driver for a browser, which ends the program when the server that feeds it has ended."""

from __future__ import annotations

import os
import threading

from textual import messages
from textual.drivers import web_driver

_GRACE = 10.0  # seconds in which the program may come to its end by itself


class WebDriver(web_driver.WebDriver):
    """Ends the program when its input ends: a server that was killed could not tell it."""

    def run_input_thread(self) -> None:
        """Read input to its end."""
        super().run_input_thread()
        if self.exit_event.is_set():  # the program is ending already
            return
        last = threading.Timer(_GRACE, os._exit, (1,))
        last.daemon = True
        last.start()
        self._app.post_message(messages.ExitApp())
