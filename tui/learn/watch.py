"""`microtape learn watch`: checks the file whenever it is saved; `n` goes to the next lesson."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Iterator

from lessons import Lesson
from lessons.checking.divergence import find_divergence
from lessons.checking.verdict_report import Said
from tui.learn import lesson_commands
from tui.learn.lesson_commands import CommandContext
from tui.shell.exits import Exit

PAUSE = 0.3  # seconds between two checks for a change of the file
KEYS = "[n next   h hint   s steps   c check   q quit]"


def watch(context: CommandContext, lesson: Lesson) -> int:
    """Check the learner's file now and whenever it is saved, until `q` or the end of input."""
    known: bytes | None = None
    while True:
        now = context.workspace.exercise(lesson).read_bytes()
        if now != known:
            known = now
            _check(context, lesson)
        with single_keys():
            key = read_key(PAUSE)
        if key in ("q", ""):
            return Exit.OK
        if key == "n":
            following = context.course.after(lesson)
            if following is None:
                context.print("This is the last lesson.")
                continue
            lesson, known = following, None
        elif key == "c":
            known = None
        elif key == "h":
            lesson_commands.hint(context, lesson)
        elif key == "s":
            lesson_commands.step(context, lesson)


def _check(context: CommandContext, lesson: Lesson) -> None:
    verdict = lesson_commands.tried(context, lesson)
    if not verdict.passed:
        found = find_divergence(lesson.exercise, verdict, context.workspace.exercise(lesson))
        if found is not None:
            lesson_commands.tell(context, [Said(""), Said(found.in_words())])
    lesson_commands.tell(context, [Said(""), Said(KEYS), Said("waiting for the file to be saved ..."), Said("")])


def read_key(seconds: float) -> str | None:
    """The key pressed within `seconds`; None if there was none, an empty text at the end of input."""
    if sys.platform == "win32":
        import msvcrt

        end = time.monotonic() + seconds
        while not msvcrt.kbhit():
            if time.monotonic() > end:
                return None
            time.sleep(0.02)
        return msvcrt.getwch()
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return os.read(sys.stdin.fileno(), 1).decode("utf-8", "replace") if ready else None


@contextlib.contextmanager
def single_keys() -> Iterator[None]:
    """Read single keys without Enter or echo, if the terminal can."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin.fileno(), termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
