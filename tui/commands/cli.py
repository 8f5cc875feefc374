"""The command line: `microtape COMMAND`. A command loads what it needs when it runs."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tui.commands import dispatch
from tui.shell import demos
from tui.shell.exits import MEANING, CommandError, Exit, say

DESCRIPTION = "See how autograd works: record a program's backward pass and step through it, forwards and back."
EPILOG = """\
FILE is a Python script, which is run in a process of its own and recorded first, or a .tape file.
What follows a script's name belongs to the script, except for the options of the command; after -- all of it does.
--pass chooses among the calls of backward() and grad(), counted from 1: 2, 3-5 or all. --until looks for the first
one where something happens. Without either, a script is recorded up to the end of its first backward().

""" + (CODES := "exit codes:\n" + "\n".join(f"  {code.value:<5}{meaning}" for code, meaning in MEANING.items()))

LEARN = """\
WHAT is one of
  list                 all lessons, and which are solved
  NAME                 the text of a lesson, by name or number
  check [NAME]         try your file
  watch [NAME]         try it again whenever it is saved; n goes on
  step [NAME]          your file in the stepper, where it parts from the solution
  hint [NAME]          the next hint
  solution [NAME]      the solution, piece by piece; asks first; --all for the whole
  reset [NAME]         begin the exercise anew; asks first, and keeps your file
  engine [NAME] [STEP] the lesson's wrong engine: find the first step that is wrong
for teachers
  verify DIR           prove the lessons in a folder of your own as ours are proven
  grade DIR [NAME]     check the files of a class: DIR/LEARNER/LESSON.py, or for one lesson DIR/LEARNER.py
Without a NAME it is the first lesson that is not solved."""


def _count(text: str) -> int:
    """A number of elements, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of elements")
    return int(text)


def _range(text: str) -> tuple[int, int]:
    """`0:200`, for argparse."""
    first, _, last = text.partition(":")
    if not (first.isdecimal() and last.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no part of a pass: write it as 0:200")
    return int(first), int(last)


Options = Sequence[tuple[tuple[str, ...], dict[str, Any]]]
PASS = (("--pass",), {"dest": "passes", "metavar": "N", "help": "which passes, from 1: 2, 3-5 or all"})
UNTIL = (
    ("--until",),
    {
        "metavar": "WHAT",
        "help": "the pass where it happens: nan, error, or a condition such as 'grad.max() > 10'; others are not kept",
    },
)
STEP = (
    ("--step",),
    {"type": int, "metavar": "K", "help": "the moment after K steps of backward; 0 is before the first"},
)
FORWARD = (
    ("--forward",),
    {"action": "store_true", "help": "the program's operations in place of backward's steps; one of them with --step"},
)
MARKS = (
    ("--marks",),
    {"action": "store_true", "help": "when gradients are accumulated, where NaN and infinities come up, what failed"},
)
STOPS = (
    ("--break",),
    {
        "action": "append",
        "dest": "stops",
        "metavar": "WHERE",
        "help": "where a run stops: at a node, a name, an operation, a line :7, a condition 'grad.max() > 10'",
    },
)
CHANGES = (
    ("--changes",),
    {"action": "append", "metavar": "NAME", "help": "when a tensor or leaf is computed, and each term of its gradient"},
)
FIND = (
    ("--find",),
    {"metavar": "TEXT", "help": "the rows in which a text is found: an operation, a name, a line :7, a shape 24x3"},
)
FOLDED = (("--fold",), {"action": "store_true", "help": "the tape with what repeats in one row"})
ASCII = (("--ascii",), {"action": "store_true", "help": "plain ASCII characters only"})
THEMES = ("dark", "light", "colourblind", "ansi", "ansi-light")
THEME = (
    ("--theme",),
    {"choices": THEMES, "help": f"colours: {', '.join(THEMES)} (default: dark, or what COLORFGBG says)"},
)
YES = (("-y", "--yes"), {"action": "store_true", "help": "do not ask"})
NODE = (("--node",), {"metavar": "NODE", "help": "the step of one node: by number, name, operation or line :7"})
BOXES = (
    ("--boxes",),
    {"action": "store_true", "help": "the graph as boxes: at the end, after --step K or at --node"},
)
ARRAY = (
    ("--array",),
    {
        "metavar": "NODE",
        "help": "every number of one node, with a histogram: gradient, value, what it kept and sent",
    },
)
WHY = (
    ("--why",),
    {"metavar": "NAME[I,J]", "help": "why this gradient is what it is, or None: its terms, back to the seed"},
)
KEEP = (
    ("--keep",),
    {"type": _count, "metavar": "N", "help": "keep arrays of up to N elements whole (4096); larger ones as a summary"},
)
FRESH = (
    ("--fresh",),
    {"action": "store_true", "help": "begin at the beginning, and remember neither place nor layout"},
)
PASSES = (("--passes",), {"action": "store_true", "dest": "lists", "help": "list the passes (of a script: all)"})
COMPARE = (
    ("--compare",),
    {"metavar": "A,B", "help": "two passes side by side: the gradient of each leaf and operation, and the difference"},
)
CHECK = (
    ("--check",),
    {"action": "store_true", "help": "check every gradient by finite differences, which calls your Functions again"},
)
WATCH = (
    ("--watch",),
    {"action": "store_true", "help": "record the script again whenever a file of it changes, and stay at the place"},
)
PICTURE: Options = (
    (
        ("--show",),
        {
            "metavar": "WORDS",
            "help": "what to show, by commas: values,gradients,terms,formulas,saved,source,heat,constants,legend",
        },
    ),
    (
        ("--fold",),
        {"action": argparse.BooleanOptionalAction, "help": "draw what repeats once (default: if it is large)"},
    ),
    (
        ("--open-fold",),
        {
            "action": "append",
            "metavar": "NAME",
            "help": "open what is folded: cell, cell[3], cell[3:5]; may be given several times",
        },
    ),
    (("--max-boxes",), {"type": int, "metavar": "N", "help": "the most boxes to draw at once (default: 300)"}),
    (("--time-limit",), {"type": float, "metavar": "S", "help": "seconds that Graphviz may take (default: 30)"}),
    (("--theme",), {"metavar": "NAME", "help": "colours: light, dark or colourblind"}),
)
DRAW: Options = (
    *PICTURE,
    (("--around",), {"metavar": "NODE", "help": "draw only the neighbourhood of a node, by its number or a name"}),
    (("--radius",), {"type": int, "metavar": "N", "help": "how many edges that reaches (default: 2)"}),
    (("--scale",), {"type": float, "metavar": "X", "help": "size of a .png (default: 2, or 1 if it is large)"}),
)
FILM: Options = (
    (("--steps",), {"type": _range, "metavar": "A:B", "help": "film a part of a long pass, as 0:200"}),
    (("--most-steps",), {"type": int, "metavar": "N", "help": "the most steps to film (default: 1000)"}),
    (("--seconds",), {"type": float, "metavar": "S", "help": "how long a .gif shows each step (default: 1)"}),
)
JSON = (("--json",), {"action": "store_true", "help": "for machines: JSON on standard output"})


LEARNING: Options = (
    YES,
    (("--all",), {"action": "store_true", "help": "solution: the whole of it"}),
    (("--path",), {"metavar": "DIR", "help": "another course: a folder of lessons"}),
    (("--no-solutions",), {"action": "store_true", "help": "do not show solutions"}),
    (("--json",), {"action": "store_true", "help": "grade: for machines"}),
    THEME,
    ASCII,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: `sys.argv`) and return its exit code."""
    gc.set_threshold(50_000)  # modules and recordings are many objects that stay: looking for garbage finds none
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except CommandError as problem:
        say(str(problem))
        return problem.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output once more at its end; there must be something left to flush it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
    return code


def _run(argv: Sequence[str]) -> int:
    parser, known = _parser()
    try:
        arguments = parser.parse_args(argv)
        if arguments.version:
            return dispatch.version()
        if "rest" in arguments:
            rest = list(arguments.rest)
            split = rest.index("--") if "--" in rest else len(rest)
            _, script_args = known[arguments.command].parse_known_args(rest[:split], arguments)
            arguments.script_args = script_args + rest[split + 1 :]
    except SystemExit:  # argparse has printed the help
        return Exit.OK
    if arguments.command is None:
        parser.print_help()
        return Exit.OK
    run: Callable[[argparse.Namespace], int] = arguments.run
    return run(arguments)


class _Parser(argparse.ArgumentParser):
    """What argparse finds wrong is one line, as everything else that is."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message}; `{self.prog} --help` says more")


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The command line's grammar, and for every command that runs a script, a parser of its options alone."""
    parser = _Parser(
        "microtape", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    known: dict[str, argparse.ArgumentParser] = {}

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str, options: Options, file: str = "") -> Any:
        command = subparsers.add_parser(
            name, help=text, description=text, allow_abbrev=False, epilog=CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        command.set_defaults(run=run)
        if file:
            command.add_argument("file", metavar=file)
            command.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script")
            known[name] = _Parser(f"microtape {name}", add_help=False, allow_abbrev=False,
                                                  argument_default=argparse.SUPPRESS)  # fmt: skip
        for flags, details in options:
            command.add_argument(*flags, **details)
            if file:
                known[name].add_argument(*flags, **details)
        return command

    out = (("-o", "--out"), {"metavar": "FILE", "help": "the recording to write (default: the script's name, .tape)"})
    picture = (("-o", "--out"), {"metavar": "FILE", "help": "graph.svg, .png, .pdf, .dot or .txt: what to write"})
    page = (("-o", "--out"), {"metavar": "FILE", "help": "run.html or run.gif: what to write"})
    add(
        "step",
        dispatch.step,
        "open the stepper on a script or a recording",
        (PASS, UNTIL, CHECK, KEEP, WATCH, FRESH, THEME, ASCII),
        "FILE",
    )
    views = (STEP, FORWARD, NODE, ARRAY, BOXES, WHY, MARKS, STOPS, CHANGES, FIND, FOLDED, PASSES, COMPARE)
    trace = (*views, PASS, UNTIL, CHECK, KEEP, JSON, ASCII)
    add(
        "trace",
        dispatch.trace,
        "print the passes step by step, one step, or any other view of the stepper",
        trace,
        "FILE",
    )
    add(
        "record",
        dispatch.record,
        "run a script and write its recording to a file",
        (out, PASS, UNTIL, CHECK, KEEP),
        "SCRIPT",
    )
    filmed: Options = (page, PASS, UNTIL, *PICTURE, *FILM)
    drawn: Options = (picture, STEP, PASS, UNTIL, *DRAW)
    add("draw", dispatch.draw, "draw the graph as it is after some steps", drawn, "FILE")
    add("film", dispatch.film, "write a page that plays backward step by step", filmed, "FILE")
    port = (("--port",), {"type": int, "default": 8000, "metavar": "N", "help": "on the loopback address (8000)"})
    served = (port, PASS, UNTIL, CHECK, KEEP, THEME, ASCII)
    add(
        "serve", dispatch.serve, "open the stepper in a browser on this machine (needs the extra serve)", served, "FILE"
    )
    demo = add("demo", dispatch.demo, "open the stepper on a bundled example", (THEME, ASCII))
    names = demos.names()
    demo.add_argument(
        "name", nargs="?", default="mlp", choices=names, metavar="NAME", help=f"{', '.join(names)} (default: mlp)"
    )
    add("keys", dispatch.keys, "list the stepper's keys, in the form of the file that changes them", ())
    learn = add("learn", dispatch.learn, "open the course, or do one thing of it: see below", LEARNING)
    learn.add_argument("what", nargs="*", metavar="WHAT", help="nothing: the whole course in full screen")
    learn.epilog = f"{LEARN}\n\n{CODES}"
    return parser, known
