"""`microtape keys`: list the stepper's keys, in the format of the file that changes them."""

from __future__ import annotations

import argparse

from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError, Exit
from tui.shell.printing import put
from tui.shell.user_keys import Keymap, KeysError, actions_of, keys_file, read_keys, rebind, table
from tui.stepper.stepper import StepperScreen


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    screen = StepperScreen(Recording("", (), (), (), {}))
    try:
        rebind(screen, read_keys(actions_of(screen)))
    except KeysError as problem:
        raise CommandError(str(problem)) from None
    for line in table(screen):
        put(line)
    return Exit.OK


def keymap_of(recording: Recording) -> tuple[str, Keymap]:
    """The error in the user's key file as one line, or an empty text; and the keys to use."""
    if not keys_file().exists():
        return "", {}
    try:
        return "", read_keys(actions_of(StepperScreen(recording)))
    except KeysError as problem:
        return f"{problem} (none of your keys are used)", {}
