"""`microtape diff`: say where two recordings part, by how much, and what could not be compared."""

from __future__ import annotations

import argparse
import shlex
import shutil

from microtape.recording.comparing import Comparison, compare
from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError, Exit, is_ascii
from tui.shell.opening import Origin, choose_passes, open_origin
from tui.shell.printing import put, put_json
from tui.shell.progress import status_line
from tui.shell.spans import line, plain
from tui.words.comparison import names_of
from tui.words.comparison_report import Report


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    a, b = (_opened(file, arguments) for file in (arguments.a, arguments.b))
    with status_line("comparing ...   Ctrl-C stops"):
        passes = choose_passes(a, arguments.passes), choose_passes(b, arguments.passes)
        found = compare(a, b, arguments.rtol, arguments.atol, passes)
    ascii, names = is_ascii(arguments), names_of(arguments.a, arguments.b)
    if arguments.json:
        report = Report(found, names, ascii).as_json()
        put_json({"a": arguments.a, "b": arguments.b, **report})
        return _exit_code(found)
    return finish(found, names, ascii, _beside(arguments) if found.first is not None else "")


def finish(found: Comparison, names: tuple[str, str], ascii: bool, command: str = "") -> int:
    """Print a comparison, and the command that shows more. Returns the exit code."""
    columns, _ = shutil.get_terminal_size((100, 24))
    for text in Report(found, names, ascii).lines(min(max(columns, 60), 120)):
        put(plain(line(text), ascii=ascii))
    if command:
        put(f"$ {plain(line(command))}")
    return _exit_code(found)


def _exit_code(found: Comparison) -> int:
    if found.differs:
        return Exit.FOUND
    return Exit.OK if found.is_complete else Exit.NOT_ALL_COMPARED


def _opened(file: str, arguments: argparse.Namespace) -> Recording:
    """The recording of a file; a script is run to the end of the passes that are compared, even if it fails."""
    origin = Origin(file, passes=arguments.passes, keep=arguments.keep)
    recording, _ = open_origin(origin, quiet=True)
    if arguments.keep is not None and origin.is_recording:
        raise CommandError(f"--keep is for recording a script: {file} is a recording")
    return recording


def _beside(arguments: argparse.Namespace) -> str:
    """The command that opens the stepper where the recordings part."""
    words = ["microtape", "step", arguments.a, "--beside", arguments.b]
    words += ["--pass", arguments.passes] if arguments.passes else []
    for name in ("rtol", "atol"):
        given = getattr(arguments, name)
        words += [f"--{name}", f"{given:g}"] if given is not None else []
    return shlex.join(words)
