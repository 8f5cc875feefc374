"""The command line, `microtape COMMAND`.

Each command is a module of `tui.commands` with a function `run`. Only the chosen module is imported, so that
`microtape --help` stays fast.
"""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from tui.commands.parser import make_parser
from tui.shell.early_start import early_start
from tui.shell.exits import CommandError, Exit, no_room, say
from tui.shell.packages import what_is_missing
from tui.shell.printing import OutputError, drop_output, flush, put
from tui.shell.standard_streams import open_what_is_closed

RECORDING = ("step", "diagnose", "trace", "record", "draw", "film")  # a script, at once


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: `sys.argv`) and return its exit code."""
    open_what_is_closed()
    gc.set_threshold(50_000)  # modules and recordings are long-lived: most collections would find no garbage
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        flush()
    except CommandError as problem:
        say(str(problem))
        return problem.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        drop_output()
        return Exit.BROKEN_PIPE
    except OutputError as problem:
        drop_output()
        say(str(problem))
        return Exit.BAD_INPUT
    except OSError as problem:
        if (why := no_room(problem)) is None:
            raise
        say(why)
        return Exit.BAD_INPUT
    return code


def _run(argv: Sequence[str]) -> int:
    parser, commands, known = make_parser()
    argv, after = _split(argv, known)
    if argv and not argv[0].startswith("-") and argv[0] not in commands:
        raise CommandError(_not_a_command(argv[0], commands))
    try:
        arguments = parser.parse_args(argv)
        if arguments.version:
            return _version()
        if "rest" in arguments:
            _, script_args = known[arguments.command].parse_known_args(arguments.rest, arguments)
            arguments.script_args = [*script_args, *after]
    except SystemExit:  # argparse has printed the help
        return Exit.OK
    if arguments.command is None:
        parser.print_help()
        return Exit.OK
    try:
        with early_start(arguments.file if arguments.command in RECORDING else ""):
            code: int = import_module(f"tui.commands.{arguments.command}").run(arguments)
    except ModuleNotFoundError as error:
        if (missing := what_is_missing(error, arguments.command)) is None:
            raise
        raise CommandError(missing) from None
    return code


def _split(argv: Sequence[str], known: Mapping[str, argparse.ArgumentParser]) -> tuple[Sequence[str], Sequence[str]]:
    """The command line up to the first -- behind its FILE, and the arguments after it, all of which the script gets.

    NB: argparse takes a -- that follows a positional argument for a part of it, and drops it.
    """
    if argv and argv[0] in known and "--" in argv:
        split = argv.index("--")
        _, file_and_arguments = known[argv[0]].parse_known_args(argv[1:split])
        if file_and_arguments:
            return argv[:split], argv[split + 1 :]
    return argv, ()


def _not_a_command(word: str, commands: Sequence[str]) -> str:
    """The message for a first argument that is not a command: a file that was given without one, or a slip."""
    if Path(word).suffix in (".py", ".tape") or os.path.isfile(word):
        return f"{word} is a file, not a command: to open the stepper on it, run `microtape step {shlex.quote(word)}`"
    near = get_close_matches(word, commands, 1)
    hint = f"did you mean `microtape {near[0]}`?" if near else f"the commands are {', '.join(commands)}"
    return f"there is no command {word!r}: {hint}"


def _version() -> int:
    import microtape

    put(f"microtape {microtape.__version__}")
    return Exit.OK
