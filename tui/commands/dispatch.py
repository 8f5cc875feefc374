"""What each command does. Imports stand inside the functions: `microtape --help` loads none of the things they need."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui.shell.demos import recording_of
from tui.shell.exits import CommandError, Exit, is_ascii, say

if TYPE_CHECKING:
    from microtape.recording.model.model import Recording
    from tui.shell.keys import Keymap


def version() -> int:
    """`microtape --version`."""
    import microtape

    print(f"microtape {microtape.__version__}")
    return Exit.OK


def step(arguments: argparse.Namespace) -> int:
    """Open the stepper; where there is no terminal, print the trace."""
    from tui.shell.opening import Origin, choose_passes, open_origin
    from tui.stepper.launch import has_terminal

    terminal = has_terminal()
    origin = Origin.asked_for(arguments)
    if arguments.watch and origin.is_recording:
        raise CommandError(f"--watch takes a script: {arguments.file} is a recording, which does not change")
    recording, code = open_origin(origin, quiet=not terminal)
    passes = choose_passes(recording, arguments.passes, arguments.until)
    if not terminal:
        from tui.commands.trace_command import print_trace

        print_trace(recording, passes, arguments)
        return code
    from tui.shell.remembered import Remembered, is_wanted
    from tui.stepper.app import StepperApp

    failed = next((one for one in passes if recording.passes[one].error is not None), None)
    start = failed if failed is not None else passes[0] if passes else 0
    problem, keymap = _keymap(recording)
    remembers = is_wanted() and not arguments.fresh
    app = StepperApp(
        recording,
        theme=arguments.theme or ("" if remembers and Remembered.load().theme else _theme()),
        remembers=remembers,
        keymap=keymap,
        notice=problem,
        pass_index=start,
        ascii=is_ascii(arguments),
        origin=origin,
        watches=arguments.watch,
        until=arguments.until,
    )
    app.run()
    if problem:
        say(problem)
    return app.return_code or code


def trace(arguments: argparse.Namespace) -> int:
    """Print the recording, or a view of it, as text or JSON."""
    from tui.commands.trace_command import trace as print_it

    return print_it(arguments)


def record(arguments: argparse.Namespace) -> int:
    """Run a script and keep its recording."""
    from microtape.errors import RecordingError
    from tui.shell.opening import Origin, check, load_all

    out = arguments.out or f"{Path(arguments.file).stem}.tape"
    try:
        ended = Origin.asked_for(arguments).record(out)
        check(ended)
        recording = load_all(out)
    except RecordingError as error:
        raise CommandError(str(error)) from None
    if arguments.check:
        from tui.words.differences import summary

        say(summary(recording))
    steps = sum(len(one.steps) for one in recording.passes)
    count = len(recording.passes)
    say(f"{out}: {count} {'pass' if count == 1 else 'passes'}, {steps:,} steps, {os.path.getsize(out) / 1000:,.0f} kB")
    return ended.exit_code


def draw(arguments: argparse.Namespace) -> int:
    """Draw the graph into a file."""
    from tui.commands.pictures import draw as draw_picture

    return draw_picture(arguments)


def film(arguments: argparse.Namespace) -> int:
    """Write the recording as a page that plays it, or as a GIF."""
    from tui.commands.pictures import film as make_film

    return make_film(arguments)


def serve(arguments: argparse.Namespace) -> int:
    """Serve the stepper to a browser on this machine."""
    from tui.commands.serve import serve as serve_stepper

    return serve_stepper(arguments)


def demo(arguments: argparse.Namespace) -> int:
    """Open the stepper on an example that comes with microtape."""
    arguments.file, arguments.script_args = str(recording_of(arguments.name)), []
    arguments.passes, arguments.keep, arguments.until = None, None, None
    arguments.watch, arguments.check, arguments.fresh = False, False, False
    return step(arguments)


def learn(arguments: argparse.Namespace) -> int:
    """Open the course."""
    from tui.learn.cli import learn as open_course

    return open_course(arguments, theme=arguments.theme or _theme(), ascii=is_ascii(arguments))


def keys(arguments: argparse.Namespace) -> int:
    """List the stepper's keys, in the form of the file that changes them."""
    from microtape.recording.model.model import Recording
    from tui.shell.keys import KeysError, actions_of, read_keys, rebind, table
    from tui.stepper.stepper import StepperScreen

    screen = StepperScreen(Recording("", (), (), (), {}))
    try:
        rebind(screen, read_keys(actions_of(screen)))
    except KeysError as problem:
        raise CommandError(str(problem)) from None
    _print(table(screen))
    return Exit.OK


def _keymap(recording: Recording) -> tuple[str, Keymap]:
    """What is wrong with the user's keys, if anything is, and the keys to be used."""
    from tui.shell.keys import KeysError, actions_of, keys_file, read_keys
    from tui.stepper.stepper import StepperScreen

    if not keys_file().exists():
        return "", {}
    try:
        return "", read_keys(actions_of(StepperScreen(recording)))
    except KeysError as problem:
        return f"{problem} (none of your keys was used)", {}


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)


def _theme() -> str:
    """Light where the terminal says that its background is: COLORFGBG ends in the number of the background's colour."""
    return "light" if os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15") else "dark"
