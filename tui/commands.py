"""What each command does. Imports stand inside the functions: `microtape --help` loads none of the things they need."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui.demos import recording_of
from tui.exits import CommandError, Exit, say

if TYPE_CHECKING:
    from microtape.recording.model import Recording
    from tui.cursor import StepCursor
    from tui.keys import Keymap
    from tui.spans import Line


def version() -> int:
    """`microtape --version`."""
    import microtape

    print(f"microtape {microtape.__version__}")
    return Exit.OK


def step(arguments: argparse.Namespace) -> int:
    """Open the stepper; where there is no terminal, print the trace."""
    from tui.launch import has_terminal
    from tui.opening import Origin, choose_passes, open_origin

    terminal = has_terminal()
    origin = Origin.asked_for(arguments)
    if arguments.watch and origin.is_recording:
        raise CommandError(f"--watch takes a script: {arguments.file} is a recording, which does not change")
    recording, code = open_origin(origin, quiet=not terminal)
    passes = choose_passes(recording, arguments.passes, arguments.until)
    if not terminal:
        _print_trace(recording, passes, arguments)
        return code
    from tui.app import StepperApp
    from tui.remembered import Remembered, is_wanted

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
        ascii=_ascii(arguments),
        origin=origin,
        watches=arguments.watch,
        until=arguments.until,
    )
    app.run()
    if problem:
        say(problem)
    return app.return_code or code


def trace(arguments: argparse.Namespace) -> int:
    """Print the recording, or one step of it, as text or JSON."""
    from tui.opening import Origin, choose_passes, open_origin

    compared = _two_passes(arguments)
    if (compared or arguments.lists) and arguments.passes is None and arguments.until is None:
        arguments.passes = f"{min(compared)}-{max(compared)}" if compared else "all"
    recording, code = open_origin(Origin.asked_for(arguments), quiet=True)
    if compared:
        _print_comparison(recording, compared, arguments)
        return code
    if arguments.lists:
        _print_passes(recording, arguments)
        return code
    passes = choose_passes(recording, arguments.passes, arguments.until)
    if arguments.why is not None or arguments.node is not None or arguments.array is not None or arguments.boxes:
        _print_about(recording, passes, arguments)
    elif arguments.step is not None:
        _print_step(recording, passes, arguments)
    elif arguments.json:
        from tui.machine import as_json

        _print_json(as_json(recording, passes))
    else:
        _print_trace(recording, passes, arguments)
    return code


def record(arguments: argparse.Namespace) -> int:
    """Run a script and keep its recording."""
    from microtape.errors import RecordingError
    from tui.opening import Origin, check, load_all

    out = arguments.out or f"{Path(arguments.file).stem}.tape"
    try:
        ended = Origin.asked_for(arguments).record(out)
        check(ended)
        recording = load_all(out)
    except RecordingError as error:
        raise CommandError(str(error)) from None
    if arguments.check:
        from tui.differences import summary

        say(summary(recording))
    steps = sum(len(one.steps) for one in recording.passes)
    count = len(recording.passes)
    say(f"{out}: {count} {'pass' if count == 1 else 'passes'}, {steps:,} steps, {os.path.getsize(out) / 1000:,.0f} kB")
    return ended.exit_code


def draw(arguments: argparse.Namespace) -> int:
    """Draw the graph into a file."""
    from tui.pictures import draw as draw_picture

    return draw_picture(arguments)


def film(arguments: argparse.Namespace) -> int:
    """Write the recording as a page that plays it, or as a GIF."""
    from tui.pictures import film as make_film

    return make_film(arguments)


def serve(arguments: argparse.Namespace) -> int:
    """Serve the stepper to a browser on this machine."""
    from tui.serve import serve as serve_stepper

    return serve_stepper(arguments)


def demo(arguments: argparse.Namespace) -> int:
    """Open the stepper on an example that comes with microtape."""
    arguments.file, arguments.script_args = str(recording_of(arguments.name)), []
    arguments.passes, arguments.keep, arguments.until = None, None, None
    arguments.watch, arguments.check, arguments.fresh = False, False, False
    return step(arguments)


def learn(arguments: argparse.Namespace) -> int:
    """Open the course."""
    from tui.learn import learn as open_course

    return open_course(arguments, theme=arguments.theme or _theme(), ascii=_ascii(arguments))


def keys(arguments: argparse.Namespace) -> int:
    """List the stepper's keys, in the form of the file that changes them."""
    from microtape.recording.model import Recording
    from tui.keys import KeysError, actions_of, read_keys, rebind, table
    from tui.stepper import StepperScreen

    screen = StepperScreen(Recording("", (), (), (), {}))
    try:
        rebind(screen, read_keys(actions_of(screen)))
    except KeysError as problem:
        raise CommandError(str(problem)) from None
    _print(table(screen))
    return Exit.OK


def _keymap(recording: Recording) -> tuple[str, Keymap]:
    """What is wrong with the user's keys, if anything is, and the keys to be used."""
    from tui.keys import KeysError, actions_of, keys_file, read_keys
    from tui.stepper import StepperScreen

    if not keys_file().exists():
        return "", {}
    try:
        return "", read_keys(actions_of(StepperScreen(recording)))
    except KeysError as problem:
        return f"{problem} (none of your keys was used)", {}


def _two_passes(arguments: argparse.Namespace) -> tuple[int, ...]:
    """The numbers that --compare names."""
    if arguments.compare is None:
        return ()
    numbers = arguments.compare.split(",")
    if len(numbers) != 2 or not all(one.strip().isdecimal() and int(one) for one in numbers):
        raise CommandError(f"--compare {arguments.compare}: say two passes by their numbers, such as 1,3")
    return tuple(int(one) for one in numbers)


def _print_comparison(recording: Recording, numbers: tuple[int, ...], arguments: argparse.Namespace) -> None:
    from tui.opening import choose_passes
    from tui.passes import comparison_lines

    first, second = (choose_passes(recording, str(number))[0] for number in numbers)
    if arguments.json:
        from tui.machine import comparison_as_json

        _print_json(comparison_as_json(recording, first, second))
    else:
        _print_lines(comparison_lines(recording, first, second, width=_width()), arguments)


def _print_passes(recording: Recording, arguments: argparse.Namespace) -> None:
    from tui.passes import pass_lines

    if arguments.json:
        from tui.machine import passes_as_json

        _print_json(passes_as_json(recording))
    else:
        _print_lines(pass_lines(recording), arguments)


def _print_lines(lines: Iterator[Line], arguments: argparse.Namespace) -> None:
    from tui.spans import plain

    for spans in lines:
        print(plain(spans, ascii=_ascii(arguments)).rstrip())


def _print_trace(recording: Recording, passes: list[int], arguments: argparse.Namespace) -> None:
    from tui.trace import trace as lines

    _print(lines(recording, passes, width=_width(), ascii=_ascii(arguments)))


def _print_step(recording: Recording, passes: list[int], arguments: argparse.Namespace) -> None:
    from tui.cursor import StepCursor
    from tui.machine import step_as_json
    from tui.trace import trace_step

    for one in passes:
        count = len(recording.passes[one].steps)
        if not 0 <= arguments.step <= count:
            number = recording.passes[one].index + 1
            raise CommandError(f"pass {number} has {count} steps: --step takes 0 (before the first) to {count}")
        if arguments.json:
            _print_json(step_as_json(StepCursor.after(recording, arguments.step, one)))
        else:
            _print(trace_step(recording, arguments.step, one, width=_width(), ascii=_ascii(arguments)))


def _print_about(recording: Recording, passes: list[int], arguments: argparse.Namespace) -> None:
    """A node's step or numbers, or why a gradient is what it is, after --step steps or at the end of each pass."""
    from tui.cursor import StepCursor
    from tui.machine import answer_as_json, step_as_json
    from tui.trace import trace_step, trace_why

    if arguments.boxes and arguments.json:
        raise CommandError("--boxes is text: --json without it has the nodes and their edges")
    for one in passes or [0]:
        end = StepCursor.open(recording, one).end()
        cursor = end if arguments.step is None else StepCursor.after(recording, arguments.step, one)
        try:
            if arguments.why is not None:
                if arguments.json:
                    _print_json(answer_as_json(cursor, arguments.why))
                else:
                    _print(trace_why(cursor, arguments.why, width=_width(), ascii=_ascii(arguments)))
                continue
            named = arguments.array or arguments.node
            at = cursor if named is None else end.home().goto(named)
        except LookupError as problem:
            raise CommandError(str(problem.args[0])) from None
        if arguments.array is not None:
            # At its own step unless another moment was asked for: only there is what it sent.
            moment = at if arguments.step is None else cursor
            _print_arrays(moment, at.focus, arguments)
        elif arguments.boxes:
            from tui.box_picture import box_lines

            _print(box_lines(at, ascii=_ascii(arguments)))
        elif arguments.json:
            _print_json(step_as_json(at))
        else:
            _print(trace_step(recording, at.steps_done, one, width=_width(), ascii=_ascii(arguments)))


def _print_arrays(cursor: StepCursor, node: int | None, arguments: argparse.Namespace) -> None:
    from tui.arrays import array_lines
    from tui.machine import arrays_as_json

    if node is None:
        raise CommandError(f"{arguments.array!r} is no node")
    if arguments.json:
        _print_json(arrays_as_json(cursor, node))
    else:
        _print(array_lines(cursor, node, width=_width(), ascii=_ascii(arguments)))


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)


def _print_json(data: object) -> None:
    import json

    json.dump(data, sys.stdout, separators=(",", ":"), allow_nan=False)
    print()


def _width() -> int:
    return min(max(shutil.get_terminal_size((100, 24)).columns, 60), 160)


def _ascii(arguments: argparse.Namespace) -> bool:
    return arguments.ascii or "utf" not in (sys.stdout.encoding or "").lower()


def _theme() -> str:
    """Light where the terminal says that its background is: COLORFGBG ends in the number of the background's colour."""
    return "light" if os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15") else "dark"
