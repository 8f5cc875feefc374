"""The options of the commands, as argparse takes them, and the types of their values."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


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
THREAD = (
    ("--thread",),
    {
        "metavar": "NAME",
        "help": "record only the threads of this name; main is the first (default: all of the program)",
    },
)
KEEP = (
    ("--keep",),
    {
        "type": _count,
        "metavar": "N",
        "help": "keep arrays of up to N elements whole (default: 4096; of whole numbers 16 N), else a summary",
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
    {
        "metavar": "A,B",
        "help": "two passes side by side: each gradient in both, and the difference; of several ranks, "
        "--compare A shows pass A of each beside that of the lowest rank",
    },
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
            "help": "what to show: values,gradients,terms,formulas,saved,contract,source,findings,heat,constants,"
            "legend",
        },
    ),
    (("--detail",), {"metavar": "AMOUNT", "help": "how much to show, in place of --show: brief, lecture or debug"}),
    (
        ("--fit",),
        {"metavar": "PLACE", "help": "make the picture, or the pages of a .pdf, fit: slide, a4, column, or 1600x900"},
    ),
    (
        ("--fold",),
        {
            "action": argparse.BooleanOptionalAction,
            "help": "draw modules, scopes and loops as boxes (default: above 25 boxes)",
        },
    ),
    (
        ("--depth",),
        {"type": int, "metavar": "N", "help": "how many levels of folds are open, from 0 (default: an overview)"},
    ),
    (
        ("--open", "--open-fold"),
        {
            "action": "append",
            "metavar": "NAME",
            "help": "open cell, cell[3], cell[3:5] or encoder.block[2].attention as well; may be given several times",
        },
    ),
    (
        ("--closed",),
        {"action": "append", "metavar": "NAME", "help": "keep this one closed; may be given several times"},
    ),
    (("--max-boxes",), {"type": int, "metavar": "N", "help": "the most boxes to draw at once (default: 300)"}),
    (("--time-limit",), {"type": float, "metavar": "S", "help": "seconds that Graphviz may take (default: 30)"}),
    (("--title",), {"metavar": "TEXT", "help": "the first line (default: the program and the pass)"}),
    (("--theme",), {"metavar": "NAME", "help": "colours: light, dark or colourblind"}),
)
DRAW: Options = (
    *PICTURE,
    (
        ("--around",),
        {"metavar": "NODE", "help": "draw only what is near a node: its number, name, operation or :LINE"},
    ),
    (("--radius",), {"type": int, "metavar": "N", "help": "the radius of the neighbourhood, in edges (default: 2)"}),
    (("--scale",), {"type": float, "metavar": "X", "help": "size of a .png (default: 2, or 1 if it is large)"}),
)
FILM: Options = (
    (("--steps",), {"type": _range, "metavar": "A:B", "help": "film only a range of steps, such as 0:200"}),
    (
        ("--most-steps",),
        {"type": int, "metavar": "N", "help": "the most steps to film (default: 100000, in a .gif 1000)"},
    ),
    (("--seconds",), {"type": float, "metavar": "S", "help": "how long a .gif shows each step (default: 1)"}),
)
JSON = (("--json",), {"action": "store_true", "help": "print JSON"})


LEARNING: Options = (
    YES,
    (("--all",), {"action": "store_true", "help": "solution: print all of it"}),
    (("--path",), {"metavar": "DIR", "help": "a folder with another course"}),
    (("--no-solutions",), {"action": "store_true", "help": "do not show solutions"}),
    (("--no-torch",), {"action": "store_true", "help": "check, watch: do not run a solved exercise in PyTorch, too"}),
    (("--json",), {"action": "store_true", "help": "grade, report: print JSON"}),
    (("--csv",), {"action": "store_true", "help": "grade, report: print a table for a spreadsheet, as CSV"}),
    (("--exit-code",), {"action": "store_true", "help": "grade: exit with 5 unless every file solves its exercise"}),
    THEME,
    ASCII,
)
