"""The parser of the command line: each command with its options, and the texts of their help."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from typing import Any, NoReturn

from tui.commands.options import (
    ARRAY,
    ASCII,
    ATOL,
    BESIDE,
    BOXES,
    CHANGES,
    CHECK,
    COMPARE,
    COURSES,
    DRAW,
    ENGINE,
    EVERY,
    FILM,
    FIND,
    FOLDED,
    FORWARD,
    FRESH,
    INTO,
    JSON,
    KEEP,
    LEARNING,
    MARKS,
    NO_CHECK,
    NODE,
    PASS,
    PASSES,
    PICTURE,
    RANK,
    RTOL,
    SEARCH,
    STEP,
    STOPS,
    THEME,
    THREAD,
    TIMEOUT,
    UNTIL,
    WATCH,
    WHY,
    Options,
)
from tui.shell import demos
from tui.shell.exits import MEANING, CommandError
from tui.shell.printing import put

DESCRIPTION = "See how autograd works: record a program's backward pass and step through it, forwards and backwards."
EPILOG = """\
FILE is a .tape file, or a Python script, which is run in its own process and recorded first; or a folder with a
__main__.py, a notebook, whose code cells are run in their order, or with -m a module, as `python -m` runs it.
step, diagnose and trace take the recordings of all ranks of a run, too: train.rank*.tape.
Arguments after a script's name go to the script, except options of the command; all arguments after -- go to it.
--pass chooses calls of backward() and grad(), counted from 1: 2, 3-5 or all. --until looks for the first call in
which a condition holds. Without either option, a script is recorded up to the end of its first backward().
With --search 60 it goes on for up to 60 seconds, until something is found in a later pass. `step` opens after the first
pass, and the script goes on for up to 10 seconds meanwhile; --search 0 stops it.

`microtape COMMAND --help` lists the options of a command, and the exit codes."""
CODES = (
    "exit codes:\n"
    + "\n".join(f"  {code.value:<5}{meaning}" for code, meaning in MEANING.items())
    + "\n  128+n a signal ended the stepper: n is its number"
    + "\n  n     the script itself exited with status n, as sys.exit(n) does; a line says so, whatever n means above"
)

COMPLETION = """\
to complete from now on, add one of these lines to the file that your shell reads at its start:
  bash (~/.bashrc)                   eval "$(microtape completion bash)"
  zsh (~/.zshrc, after compinit)     eval "$(microtape completion zsh)"
  fish (~/.config/fish/config.fish)  microtape completion fish | source"""

LEARN = """\
WHAT is one of
  list                 list the lessons; solved lessons are marked
  NAME                 print the text of a lesson, by name or number
  check [NAME]         check your file
  watch [NAME]         check your file whenever it is saved; n goes to the next lesson
  step [NAME]          open the stepper on your file, at the step where it differs from the solution
  hint [NAME]          print the next hint
  solution [NAME]      print the next piece of the solution (asks first); --all prints all of it
  reset [NAME]         start the exercise over (asks first); your file is kept
  engine [NAME] [STEP] find the first wrong step of the lesson's wrong engine
  review [NAME]        ask what you missed; with a NAME, a small task on the idea of that lesson
  about MESSAGE        open the lesson that explains an error message, or a part of one
for teachers and authors
  verify DIR           run the proofs of our own lessons on a folder of yours
  grade DIR [NAME]     check the files of a class: DIR/LEARNER/LESSON.py, or for one lesson DIR/LEARNER.py
  report DIR [NAME]    the same, summed up: who is stuck where, and which misconceptions there are
  book DIR [NAME]      write the lessons as notebooks, and their programs as films
  new NAME             begin a lesson in the course of --path (default: this folder); verify says what is missing
Without a NAME, the command takes the first lesson that is not solved."""


class Parser(argparse.ArgumentParser):
    """Reports an error in one line, like all errors of the command, and prints as all of it does."""

    def _print_message(self, message: str, file: Any = None) -> None:
        for line in message.splitlines():
            put(line)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not a choice; if one is similar, name that one instead of all."""
        if action.choices is not None and value not in action.choices:
            for near in get_close_matches(value, action.choices, 1):
                raise argparse.ArgumentError(action, f"invalid choice: {value!r}, did you mean {near!r}?")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise CommandError(f"{message}; see `{self.prog} --help`")


def make_parser() -> tuple[argparse.ArgumentParser, list[str], dict[str, argparse.ArgumentParser]]:
    """The parser; the commands; and for each command that takes a FILE, another parser for its options alone."""
    parser = Parser(
        "microtape", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    known: dict[str, argparse.ArgumentParser] = {}

    def add(name: str, text: str, options: Options, file: str = "") -> Any:
        command = subparsers.add_parser(
            name, help=text, description=text, allow_abbrev=False, epilog=CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        if file:
            command.add_argument("file", metavar=file)
            command.add_argument(
                "-m", dest="is_module", action="store_true", help=f"{file} is a module, such as package.module"
            )
            command.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script")
            known[name] = Parser(f"microtape {name}", add_help=False, allow_abbrev=False,
                                                  argument_default=argparse.SUPPRESS)  # fmt: skip
        for flags, details in options:
            command.add_argument(*flags, **details)
            if file:
                known[name].add_argument(*flags, **details)
        return command

    out = (
        ("-o", "--out"),
        {"metavar": "FILE", "help": "the recording to write (default: the name of the script with .tape)"},
    )
    picture = (("-o", "--out"), {"metavar": "FILE", "help": "the file to write: graph.svg, .png, .pdf, .dot or .txt"})
    page = (("-o", "--out"), {"metavar": "FILE", "help": "the file to write: run.html or run.gif"})
    add(
        "step",
        "open the stepper on a script, a recording or those of all ranks",
        (
            PASS,
            UNTIL,
            EVERY,
            SEARCH,
            TIMEOUT,
            ENGINE,
            THREAD,
            CHECK,
            NO_CHECK,
            KEEP,
            WATCH,
            BESIDE,
            RTOL,
            ATOL,
            FRESH,
            THEME,
            ASCII,
        ),
        "FILE",
    )
    add(
        "diagnose",
        "say what is wrong in a script or a recording, or where ranks part: the line, the numbers, a remedy",
        (PASS, UNTIL, SEARCH, TIMEOUT, ENGINE, THREAD, CHECK, NO_CHECK, KEEP, JSON, ASCII),
        "FILE",
    )
    views = (STEP, FORWARD, NODE, ARRAY, BOXES, WHY, MARKS, STOPS, CHANGES, FIND, FOLDED, PASSES, COMPARE)
    trace = (*views, INTO, COURSES, PASS, UNTIL, EVERY, SEARCH, TIMEOUT, ENGINE, THREAD, CHECK, KEEP, JSON, ASCII)
    add(
        "trace",
        "print the passes step by step, a single step, or another view of the stepper",
        trace,
        "FILE",
    )
    differ = add(
        "diff",
        "say where two recordings part, and by how much: of two engines, before and after a change, of two dtypes",
        (RTOL, ATOL, PASS, KEEP, JSON, ASCII),
    )
    for name in ("a", "b"):
        differ.add_argument(name, metavar=name.upper(), help="a .tape file, or a script, which is recorded first")
    add(
        "record",
        "run a script and write its recording to a file",
        (out, PASS, UNTIL, EVERY, RANK, SEARCH, TIMEOUT, ENGINE, THREAD, CHECK, KEEP),
        "SCRIPT",
    )
    filmed: Options = (page, PASS, UNTIL, SEARCH, TIMEOUT, ENGINE, THREAD, *PICTURE, *FILM)
    drawn: Options = (picture, STEP, PASS, UNTIL, SEARCH, TIMEOUT, ENGINE, THREAD, *DRAW)
    add("draw", "draw the graph, at the end or after --step K", drawn, "FILE")
    add("film", "write a page that plays backward step by step", filmed, "FILE")
    port = (
        ("--port",),
        {"type": int, "default": 8000, "metavar": "N", "help": "the port on the loopback address (default: 8000)"},
    )
    served = (port, PASS, UNTIL, ENGINE, THREAD, CHECK, KEEP, THEME, ASCII)
    add("serve", "open the stepper in a browser on this machine (needs the extra serve)", served, "FILE")
    names = demos.names()
    demo = add("demo", f"open the stepper on a bundled program: {', '.join(names)}", (THEME, ASCII))
    demo.description = "open the stepper on a bundled program"
    demo.add_argument("name", nargs="?", default=names[0], choices=names, metavar="NAME", help="one of those below")
    demo.epilog = f"NAME is one of\n{demos.described()}\n\n{CODES}"
    add("keys", "list the stepper's keys, in the format of the file that changes them", ())
    completion = add("completion", "print the completion of commands, options and files for a shell", ())
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    completion.epilog = f"{COMPLETION}\n\n{CODES}"
    learn = add("learn", "open the course, or run one of its commands (see below)", LEARNING)
    learn.add_argument("what", nargs="*", metavar="WHAT", help="see below; without it, the course opens in full screen")
    learn.epilog = f"{LEARN}\n\n{CODES}"
    return parser, list(subparsers.choices), known
