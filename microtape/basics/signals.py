"""Names of the signals that end a process."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """`SIGKILL` for 9; `signal 99` for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
