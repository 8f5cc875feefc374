"""Standard streams that are closed, as under a service manager, or behind a terminal that is gone."""

from __future__ import annotations

import os
import sys

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_what_is_closed() -> None:
    """Open the null device in place of each standard stream that is closed, for this process and those that it starts.

    Else the next file or pipe that is opened would have its number, and get what is meant for the terminal.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
            os.set_inheritable(nowhere, True)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - as long as the process
