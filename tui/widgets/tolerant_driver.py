"""Textual's driver for terminals, except that bytes that are no UTF-8 are left out. Textual's own ends the app."""

from __future__ import annotations

import contextlib

from textual.drivers.linux_driver import LinuxDriver


class TolerantDriver(LinuxDriver):
    """A driver that goes on reading: a terminal that is set to Latin-1 sends such bytes for letters like é."""

    def run_input_thread(self) -> None:
        """Read until the app asks for the end."""
        ended = False
        while not ended:
            with contextlib.suppress(UnicodeDecodeError):
                super().run_input_thread()
                ended = True
