"""`microtape learn watch`: checks the file whenever it is saved; `n` goes to the next lesson."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from lessons import Lesson
from lessons.checking.in_pytorch import can_run_in_pytorch
from lessons.checking.verdict_report import Said
from lessons.checking.warm_checker import WarmChecker
from tui.learn import lesson_commands
from tui.learn.lesson_commands import CommandContext
from tui.shell.exits import Exit

PAUSE = 0.3  # seconds between two checks for a change of the file
KEYS = "[n next   h hint   s steps   c check   q quit]"


def watch(context: CommandContext, lesson: Lesson) -> int:
    """Check the learner's file now and whenever it is saved, until `q` or the end of input."""
    following: Lesson | None = lesson
    while following is not None:
        with contextlib.closing(_WatchedLesson(context, following)) as watched:
            following = watched.watch()
    return Exit.OK


class _WatchedLesson:
    """Watches one lesson's file."""

    def __init__(self, context: CommandContext, lesson: Lesson) -> None:
        self.context = context
        self.lesson = lesson
        self.checker = WarmChecker(lesson.exercise)
        self.in_pytorch: Future[Said | None] | None = None  # while a file that has passed runs there

    def close(self) -> None:
        """End what runs in the background."""
        self.checker.close()

    def watch(self) -> Lesson | None:
        """Check until another lesson is to be watched, which is returned; None at the end."""
        context, lesson = self.context, self.lesson
        known: bytes | None = None
        while True:
            now = context.workspace.exercise(lesson).read_bytes()
            if now != known:
                known = now
                self.check()
            with single_keys():
                key = read_key(PAUSE)
            self.tell_of_pytorch()
            if key in ("q", ""):
                return None
            if key == "n":
                following = context.course.after(lesson)
                if following is not None:
                    return following
                context.print("This is the last lesson.")
            elif key == "c":
                known = None
            elif key == "h":
                lesson_commands.hint(context, lesson)
            elif key == "s":
                lesson_commands.step(context, lesson)

    def check(self) -> None:
        """Check the file, and say what it says."""
        self.in_pytorch = None  # what runs there has the old file, and is stopped
        verdict = lesson_commands.tried(self.context, self.lesson, self.checker)
        lesson_commands.tell(
            self.context, [Said(""), Said(KEYS), Said("waiting for the file to be saved ..."), Said("")]
        )
        if verdict.passed and not self.context.arguments.no_torch and can_run_in_pytorch(self.lesson.exercise):
            self.in_pytorch = Future()
            file = self.context.workspace.exercise(self.lesson)
            threading.Thread(target=self._run_in_pytorch, args=(self.in_pytorch, file), daemon=True).start()

    def _run_in_pytorch(self, result: Future[Said | None], file: Path) -> None:
        result.set_result(self.checker.in_pytorch(file))

    def tell_of_pytorch(self) -> None:
        """Say how the file did in PyTorch, once that is known."""
        if self.in_pytorch is not None and self.in_pytorch.done():
            said = self.in_pytorch.result()
            self.in_pytorch = None
            if said is not None:
                lesson_commands.tell(self.context, [said, Said("")])


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
