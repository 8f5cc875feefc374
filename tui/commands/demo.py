"""`microtape demo`: open the stepper on an example that comes with microtape."""

from __future__ import annotations

import argparse

from tui.commands import step
from tui.shell.demos import recording_of


def run(arguments: argparse.Namespace) -> int:
    """Run the command: `microtape step` on the example's recording."""
    arguments.file, arguments.script_args = str(recording_of(arguments.name)), []
    arguments.passes, arguments.keep, arguments.until = None, None, None
    arguments.beside, arguments.rtol, arguments.atol, arguments.engine = None, None, None, None
    arguments.watch, arguments.check, arguments.fresh, arguments.search = False, False, False, None
    return step.run(arguments)
