"""The commands and options of the command line, `microtape COMMAND`.

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
from typing import Any, NoReturn

from tui.shell import demos
from tui.shell.early_start import early_start
from tui.shell.exits import MEANING, CommandError, Exit, say
from tui.shell.packages import what_is_missing
from tui.shell.printing import OutputError, drop_output, flush, put

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

""" + (
    CODES := "exit codes:\n"
    + "\n".join(f"  {code.value:<5}{meaning}" for code, meaning in MEANING.items())
    + "\n  128+n a signal ended the stepper: n is its number"
)

RECORDING = ("step", "diagnose", "trace", "record", "draw", "film")  # a script, at once

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
  about MESSAGE        open the lesson that explains an error message, or a part of one
for teachers
  verify DIR           run the proofs of our own lessons on a folder of yours
  grade DIR [NAME]     check the files of a class: DIR/LEARNER/LESSON.py, or for one lesson DIR/LEARNER.py
Without a NAME, the command takes the first lesson that is not solved."""


def _count(text: str) -> int:
    """A number of elements, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of elements")
    return int(text)


def _pass_count(text: str) -> int:
    """A number of passes, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of passes")
    return int(text)


def _seconds(text: str) -> float:
    """A number of seconds, for argparse."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _ranks(text: str) -> tuple[int, ...]:
    """`0,3`, for argparse."""
    numbers = text.split(",")
    if not all(map(str.isdecimal, numbers)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of ranks, such as 0 or 0,3")
    return tuple(map(int, numbers))


def _range(text: str) -> tuple[int, int]:
    """`0:200`, for argparse."""
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of steps, such as 0:200")
    return int(first), int(last)


def _tolerance(text: str) -> float:
    """A tolerance, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a tolerance, such as 1e-5")
    return number


Options = Sequence[tuple[tuple[str, ...], dict[str, Any]]]
PASS = (("--pass",), {"dest": "passes", "metavar": "N", "help": "the passes, counted from 1: 2, 3-5 or all"})
UNTIL = (
    ("--until",),
    {
        "metavar": "WHAT",
        "help": "record up to the first pass with nan, error, or a condition such as 'grad.max() > 10'",
    },
)
EVERY = (
    ("--every",),
    {
        "type": _pass_count,
        "metavar": "N",
        "help": "record only each Nth pass: the sizes of every parameter, its gradient and its update",
    },
)
SEARCH = (
    ("--search",),
    {
        "type": _seconds,
        "metavar": "SECONDS",
        "help": "go on after the first pass, up to the first pass in which something is found (step: 10 seconds)",
    },
)
TIMEOUT = (
    ("--timeout",),
    {
        "type": _seconds,
        "metavar": "SECONDS",
        "help": "end the script after so many seconds, and keep the passes that had ended",
    },
)
STEP = (
    ("--step",),
    {"type": int, "metavar": "K", "help": "the moment after K steps of backward; 0 is before the first step"},
)
FORWARD = (
    ("--forward",),
    {
        "action": "store_true",
        "help": "the program's operations instead of backward's steps; with --step K only the Kth",
    },
)
INTO = (
    ("--into",),
    {
        "action": "store_true",
        "help": "with what ran inside of your functions: forward (with --forward), backward, hooks, recomputations",
    },
)
MARKS = (
    ("--marks",),
    {
        "action": "store_true",
        "help": "the moments where gradients accumulate, NaN or infinity begins, --check differs, or the pass fails",
    },
)
STOPS = (
    ("--break",),
    {
        "action": "append",
        "dest": "stops",
        "metavar": "WHERE",
        "help": "moments of a breakpoint: a node, name, operation, line :7 or condition 'grad.max() > 10'",
    },
)
CHANGES = (
    ("--changes",),
    {
        "action": "append",
        "metavar": "NAME",
        "help": "the moments where a tensor is computed and where terms of its gradient arrive",
    },
)
FIND = (
    ("--find",),
    {"metavar": "TEXT", "help": "the rows that contain a text: an operation, a name, a line :7, a shape 24x3"},
)
FOLDED = (("--fold",), {"action": "store_true", "help": "the tape with each repetition folded into one row"})
ASCII = (("--ascii",), {"action": "store_true", "help": "plain ASCII characters only"})
THEMES = ("dark", "light", "colourblind", "ansi", "ansi-light")
THEME = (
    ("--theme",),
    {"choices": THEMES, "help": f"colours: {', '.join(THEMES)} (default: dark, or light if COLORFGBG says so)"},
)
YES = (("-y", "--yes"), {"action": "store_true", "help": "do not ask for confirmation"})
NODE = (
    ("--node",),
    {"metavar": "NODE", "help": "the step that evaluates a node: a number, a name, an operation or a line :7"},
)
BOXES = (
    ("--boxes",),
    {"action": "store_true", "help": "the graph as boxes: at the end of the pass, after --step K or at --node"},
)
ARRAY = (
    ("--array",),
    {
        "metavar": "NODE",
        "help": "every number of a node, with histograms: its gradient, value, saved tensors and the gradients it sent",
    },
)
WHY = (
    ("--why",),
    {"metavar": "NAME[I,J]", "help": "why a gradient has its value, or is None: its terms, back to the seed"},
)
ENGINE = (
    ("--engine",),
    {
        "choices": ("microtape", "torch"),
        "help": "the engine to record (default: the one whose backward runs first); a script that imports torch alone"
        " runs on microtape with microtape",
    },
)
KEEP = (
    ("--keep",),
    {
        "type": _count,
        "metavar": "N",
        "help": "keep arrays of up to N elements whole (default: 4096), and a summary of larger ones",
    },
)
FRESH = (
    ("--fresh",),
    {"action": "store_true", "help": "ignore the remembered layout and position, and remember nothing"},
)
PASSES = (
    ("--passes",),
    {"action": "store_true", "dest": "lists", "help": "list the passes (of a script, all of them)"},
)
COURSES = (
    ("--courses",),
    {"action": "store_true", "help": "the course of every parameter over the passes of --every"},
)
RANK = (
    ("--rank",),
    {
        "type": _ranks,
        "metavar": "R",
        "help": "of several processes (torchrun), record only these, such as 0 or 0,3; the others run as without us",
    },
)
COMPARE = (
    ("--compare",),
    {"metavar": "A,B", "help": "two passes side by side: each gradient in both, and the difference"},
)
CHECK = (
    ("--check",),
    {"action": "store_true", "help": "check every gradient by finite differences; this calls your Functions again"},
)
NO_CHECK = (
    ("--no-check",),
    {"action": "store_true", "help": "do not check the derivatives of your Functions by finite differences"},
)
WATCH = (
    ("--watch",),
    {
        "action": "store_true",
        "help": "record the script again whenever one of its files changes, and stay at the same place",
    },
)
BESIDE = (
    ("--beside",),
    {
        "metavar": "OTHER",
        "help": "another recording or script: opens where both part, t shows the same step there; see diff",
    },
)
RTOL = (
    ("--rtol",),
    {
        "type": _tolerance,
        "metavar": "X",
        "help": "how far values may be apart, relative to the largest number of their array (default: the rounding of "
        "their dtype; 0: equal bits)",
    },
)
ATOL = (
    ("--atol",),
    {"type": _tolerance, "metavar": "X", "help": "how far values may be apart in any case (default: 0)"},
)
PICTURE: Options = (
    (
        ("--into",),
        {
            "metavar": "NODE",
            "help": "what ran inside of a node of a Function, hook or checkpoint: a number, a name, or Clip.backward",
        },
    ),
    (
        ("--show",),
        {
            "metavar": "WORDS",
            "help": "what to show: values,gradients,terms,formulas,saved,contract,source,heat,constants,legend",
        },
    ),
    (("--detail",), {"metavar": "AMOUNT", "help": "how much to show, in place of --show: brief, lecture or debug"}),
    (
        ("--fit",),
        {"metavar": "PLACE", "help": "choose directions, columns and details for: slide, a4, column, or 1600x900"},
    ),
    (
        ("--fold",),
        {"action": argparse.BooleanOptionalAction, "help": "draw repetitions only once (default: in a large graph)"},
    ),
    (
        ("--open-fold",),
        {
            "action": "append",
            "metavar": "NAME",
            "help": "unfold cell, cell[3] or cell[3:5]; may be given several times",
        },
    ),
    (("--max-boxes",), {"type": int, "metavar": "N", "help": "the most boxes to draw at once (default: 300)"}),
    (("--time-limit",), {"type": float, "metavar": "S", "help": "seconds that Graphviz may take (default: 30)"}),
    (("--title",), {"metavar": "TEXT", "help": "the first line (default: the program and the pass)"}),
    (("--theme",), {"metavar": "NAME", "help": "colours: light, dark or colourblind"}),
)
DRAW: Options = (
    *PICTURE,
    (("--around",), {"metavar": "NODE", "help": "draw only the neighbourhood of a node, given by number or name"}),
    (("--radius",), {"type": int, "metavar": "N", "help": "the radius of the neighbourhood, in edges (default: 2)"}),
    (("--scale",), {"type": float, "metavar": "X", "help": "size of a .png (default: 2, or 1 if it is large)"}),
)
FILM: Options = (
    (("--steps",), {"type": _range, "metavar": "A:B", "help": "film only a range of steps, such as 0:200"}),
    (("--most-steps",), {"type": int, "metavar": "N", "help": "the most steps to film (default: 1000)"}),
    (("--seconds",), {"type": float, "metavar": "S", "help": "how long a .gif shows each step (default: 1)"}),
)
JSON = (("--json",), {"action": "store_true", "help": "print JSON"})


LEARNING: Options = (
    YES,
    (("--all",), {"action": "store_true", "help": "solution: print all of it"}),
    (("--path",), {"metavar": "DIR", "help": "a folder with another course"}),
    (("--no-solutions",), {"action": "store_true", "help": "do not show solutions"}),
    (("--json",), {"action": "store_true", "help": "grade: print JSON"}),
    (("--exit-code",), {"action": "store_true", "help": "grade: exit with 5 unless every file solves its exercise"}),
    THEME,
    ASCII,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: `sys.argv`) and return its exit code."""
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
    return code


def _run(argv: Sequence[str]) -> int:
    parser, commands, known = _parser()
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


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line, like all errors of the command, and prints as all of it does."""

    def _print_message(self, message: str, file: Any = None) -> None:
        for line in message.splitlines():
            put(line)

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message}; see `{self.prog} --help`")


def _parser() -> tuple[argparse.ArgumentParser, list[str], dict[str, argparse.ArgumentParser]]:
    """The parser; the commands; and for each command that takes a FILE, another parser for its options alone."""
    parser = _Parser(
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
            known[name] = _Parser(f"microtape {name}", add_help=False, allow_abbrev=False,
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
        (PASS, UNTIL, SEARCH, TIMEOUT, ENGINE, CHECK, NO_CHECK, KEEP, JSON, ASCII),
        "FILE",
    )
    views = (STEP, FORWARD, NODE, ARRAY, BOXES, WHY, MARKS, STOPS, CHANGES, FIND, FOLDED, PASSES, COMPARE)
    trace = (*views, INTO, COURSES, PASS, UNTIL, EVERY, SEARCH, TIMEOUT, ENGINE, CHECK, KEEP, JSON, ASCII)
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
        (out, PASS, UNTIL, EVERY, RANK, SEARCH, TIMEOUT, ENGINE, CHECK, KEEP),
        "SCRIPT",
    )
    filmed: Options = (page, PASS, UNTIL, SEARCH, TIMEOUT, ENGINE, *PICTURE, *FILM)
    drawn: Options = (picture, STEP, PASS, UNTIL, SEARCH, TIMEOUT, ENGINE, *DRAW)
    add("draw", "draw the graph, at the end or after --step K", drawn, "FILE")
    add("film", "write a page that plays backward step by step", filmed, "FILE")
    port = (
        ("--port",),
        {"type": int, "default": 8000, "metavar": "N", "help": "the port on the loopback address (default: 8000)"},
    )
    served = (port, PASS, UNTIL, ENGINE, CHECK, KEEP, THEME, ASCII)
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
