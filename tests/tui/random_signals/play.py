"""Plays a plan under a shell, and judges the terminal, the answers, the exit code, what is remembered and left."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from microtape.recording.file.tape_file import save
from tests.support.pseudo_terminal import PseudoTerminal
from tests.tui.random_events.subjects import COURSE, HANDMADE, RECORDINGS, damaged
from tests.tui.random_signals.plan import KEYS, Event, Plan
from tui.learn.lesson import SMALLEST
from tui.shell.demos import EXAMPLES

SHELL = ("bash", "--norc", "--noprofile", "--noediting", "-i")
PROMPT = "ready> "
CLEAR_LINE = "\x03"
TAKEN = "\x1b[?1049h"
FIRST = "\x1b[1;1H"
ATTEMPTS = 5
PATIENCE = 30.0  # seconds: only a program that hangs takes so long
AGAIN = 8.0  # seconds, after which Ctrl+Z is pressed once more, as a user would
HEEDED = 2.0  # seconds, in which a Ctrl+Z that an editor may use as undo either suspends or does not
COUNT = re.compile(r"(?:step|operation) \d+ of \d+")
STATUS = re.compile(r"(?:ended with|Exit) (\d+)")  # in the prompt, or of a job in the background
ENDLESS = """\
import time
import microtape as mt

w = mt.tensor([1.0, 2.0], requires_grad=True)
while True:
    (w * w).sum().backward()
    print("a line", flush=True)
    time.sleep(0.05)
"""


class WrongError(Exception):
    """Something that must not happen."""


def play(plan: Plan, folder: Path) -> str | None:
    """Play a plan, with files in an empty folder. Returns what is wrong, or None."""
    command = _command(plan.subject, folder)
    settings = {"PS1": f"ended with $? {PROMPT}", "MICROTAPE_DATA": str(folder / "data"), "PYTHONFAULTHANDLER": "1",
                "EDITOR": "sh -c 'sleep 0.1'", "VISUAL": ""}  # fmt: skip
    with PseudoTerminal(SHELL, **settings) as terminal:
        run = Run(plan, folder, command, terminal)
        try:
            run.play()
        except WrongError as wrong:
            return f"{wrong}{run.what_it_does()}"
        finally:
            if terminal.written:
                (folder / "written").write_text(terminal.written, encoding="utf-8", errors="surrogatepass")
            for one in run.left():
                os.kill(one, signal.SIGKILL)
    return None


def _command(subject: str, folder: Path) -> str:
    """The command line that opens a subject."""
    kind, _, name = subject.partition(" ")
    words = ["env", "-u", "COLUMNS", "-u", "LINES", sys.executable, "-m", "microtape"]  # the size is the terminal's
    if kind in ("lessons", "lesson", "typed"):
        return shlex.join([*words, "learn"])
    if kind == "program":
        path = EXAMPLES / f"{name}.py"
        if name == "endless":
            path = folder / "endless.py"
            path.write_text(ENDLESS)
        return shlex.join([*words, "step", str(path)])
    if kind == "handmade":
        path = folder / "run.tape"
        save(HANDMADE[name](), path)
    elif kind == "damaged":
        damaged(*name.split(), folder=folder)
        path = next(one for one in (folder / "good.tape", RECORDINGS / f"{name.split()[0]}.tape") if one.exists())
    else:
        path = RECORDINGS / f"{name}.tape"
    return shlex.join([*words, "step", str(path)])


class Run:
    """A shell, the command in it as the job that signals are sent to, and what is known of both."""

    def __init__(self, plan: Plan, folder: Path, command: str, terminal: PseudoTerminal) -> None:
        self._plan, self._folder, self._command, self._terminal = plan, folder, command, terminal
        self._job = 0  # the process
        self._size = (100, 30)
        self._from = 0  # how much had been written when something was last asked for
        self._front = 0  # how much when the job came to the front
        self._typed: list[str] = []

    def play(self) -> None:
        """Open the command, let everything happen, end it and judge."""
        self._until(lambda: self._has(PROMPT), "the shell does not answer")
        self._open()
        for number, event in enumerate(self._plan.events):
            if self._is_over:
                break
            try:
                self._happen(event)
            except WrongError as wrong:
                raise WrongError(f"{wrong} (event {number}, {' '.join(event)})") from None
        self._end()

    def what_it_does(self) -> str:
        """Where the threads of the job are, if it still lives: it may wait for something that never comes."""
        if self._is_over or not self._terminal.is_open:
            return ""
        self._ask()
        self._send("SIGABRT")
        self._send("SIGCONT")
        self._listen(1.0)
        return "\n" + "\n".join(re.findall(r'(?:Thread|Current thread) .*|  File "[^"]*", line.*', self._since))

    def left(self) -> list[int]:
        """The processes of this run, the shell aside, that still live."""
        mark = f"MICROTAPE_DATA={self._folder / 'data'}".encode()
        found = []
        for one in Path("/proc").iterdir():
            if one.name.isdecimal() and int(one.name) != self._terminal.process.pid:
                try:
                    if mark in (one / "environ").read_bytes().split(b"\0") and _status(int(one.name))[0] != "Z":
                        found.append(int(one.name))
                except OSError:
                    continue  # it has ended meanwhile, or is somebody else's
        return found

    def _command_line(self, line: str) -> None:
        """Type a command, after what the shell has got of the keys that were meant for the app."""
        for _ in range(ATTEMPTS):  # bash loses one that comes with a new size
            self._ask()
            self._terminal.press(CLEAR_LINE)
            end = time.monotonic() + PATIENCE / ATTEMPTS
            while not self._has(PROMPT) and time.monotonic() < end:
                self._terminal.read(0.05)
            if self._has(PROMPT):
                break
        else:
            raise WrongError("the shell has no terminal")
        self._ask()
        self._terminal.press(f"{line}\n")

    # What happens

    def _open(self) -> None:
        self._command_line(self._command)
        self._front = self._from
        self._until(self._starts, "the shell does not start the command")
        if not self._plan.early:
            self._until(lambda: self._has(FIRST), "no first frame")
        kind, _, name = self._plan.subject.partition(" ")
        if kind in ("lesson", "typed"):
            self._terminal.press(KEYS["down"] * [one.name for one in COURSE].index(name) + KEYS["enter"])
        if kind == "typed":
            self._start_typing()

    def _start_typing(self) -> None:
        self._until(lambda: self._has("next"), "the lesson does not open")
        self._ask()
        self._terminal.press("e")
        self._until(lambda: self._has("You are editing"), "the file is not opened for editing")

    def _happen(self, event: Event) -> None:
        if event.kind == "keys":
            for key in event.text.split() or [" "]:
                self._terminal.press(KEYS[key])
                if key == "escape":
                    self._listen(0.2)  # with the next key, it would be another key
        elif event.kind == "typed" and self._size < SMALLEST:
            pass  # there is no editor to be seen
        elif event.kind == "typed":
            word = f"typed{len(self._typed)}"
            self._typed.append(f"{word}.")
            self._ask()
            self._terminal.press(self._typed[-1])
            self._until(lambda: self._is_over or word in self._since, "what is typed is not shown")
            self._listen(0.1)
        elif event.kind == "size":
            self._resize(event.text)
            self._listen(1.0 if self._plan.subject.startswith("typed ") else 0)  # until the editor is there again
        elif event.kind == "pause":
            self._listen(float(event.text))
        elif event.kind in ("SIGWINCH", "SIGCONT"):
            self._send(event.kind)
            self._listen(0.3 if event.kind == "SIGCONT" else 0)  # it takes the terminal again, without unread keys
        else:
            self._suspend(event.kind, event.text)
        self._listen(0)

    def _suspend(self, how: str, between: str) -> None:
        """Suspend, look at the terminal, continue, and look for an answer."""
        if not self._stop(how):
            return
        if between == "bg":
            self._command_line("bg")
            self._until(lambda: self._has(PROMPT), "the shell does not answer")
            self._listen(0.3)
            self._until(lambda: self._is_over or _status(self._job)[0] == "T", "it goes on in the background")
            if how != "SIGSTOP":
                self._look_at_the_terminal()
        elif between:
            self._resize(between)
        self._command_line("fg")
        self._front = self._from
        self._until(lambda: self._is_over or self._has(TAKEN), "it does not take the terminal again")
        width, height = self._size
        self._ask()
        self._resize(f"{width}x{height + 1 if height < 100 else 99}")
        self._until(lambda: self._is_over or self._has(f"\x1b[{self._size[1]};1H"), "it does not answer after fg")
        self._listen(1.0 if self._plan.subject.startswith("typed ") else 0)  # until the editor is there again

    def _stop(self, how: str) -> bool:
        """Whether it has stopped. If so, the shell has the terminal."""
        self._ask()
        may_undo = how == "Ctrl+Z" and self._plan.subject.split()[0] in ("lesson", "lessons", "typed")
        begin = time.monotonic()
        times = [begin, begin + AGAIN] if how == "Ctrl+Z" else []  # what is typed while a page opens may be dropped
        if how != "Ctrl+Z":
            self._send(how)

        def is_heeded() -> bool:
            now = time.monotonic()
            if times and now >= times[0]:
                times.pop(0)
                self._terminal.press("\x1a")
            return self._has(PROMPT) or (may_undo and now > begin + HEEDED)

        self._until(is_heeded, f"{how} is not heeded")
        if self._is_over or not self._has(PROMPT):
            return False
        if how != "SIGSTOP":
            self._look_at_the_terminal()
        return True

    def _resize(self, text: str) -> None:
        width, height = map(int, text.split("x"))
        self._size = width, height
        self._terminal.resize(width, height)

    def _send(self, name: str, *, group: bool = False) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            (os.killpg if group else os.kill)(self._job, getattr(signal, name))

    # The end

    def _end(self) -> None:
        name, _, how = self._plan.ending.partition(" ")
        place = self._place() if self._plan.returns and not self._is_over else None
        if self._is_over:
            self._from = self._front
            self._judge_status({0})
        elif name == "closed":
            self._terminal.close()
            self._until_nothing_is_left()
            self._look_at_the_files()
            return
        elif how == "job" and self._stop("SIGTSTP"):
            self._ask()
            ends = f"kill -{name} %1; kill -CONT %1; while kill -0 {self._job} 2>/dev/null; do sleep 0.05; done"
            self._command_line(ends)
            self._judge_status({128 + getattr(signal, name)})
        else:
            self._ask()
            self._send(name, group=how == "group")
            self._until(lambda: self._is_over and self._has(PROMPT), f"{name} does not end it")
            self._judge_status({128 + getattr(signal, name)})
        self._look_at_the_terminal()
        self._until_nothing_is_left()
        self._look_at_the_files()
        if place is not None:
            self._look_at_the_place(place)

    def _judge_status(self, right: set[int]) -> None:
        """Look at what the shell says first: later, it says how what it made of keys for the app has ended."""
        self._until(lambda: STATUS.search(self._since) is not None, "no status")
        found = STATUS.search(self._since)
        assert found is not None
        if int(found[1]) not in right:
            raise WrongError(f"the exit code is {found[1]}")

    def _until_nothing_is_left(self) -> None:
        self._until(lambda: not self.left(), "a process is left behind")

    def _look_at_the_terminal(self) -> None:
        if "\x1b[?" in self._terminal.written and not self._terminal.is_whole():
            raise WrongError("the terminal is not whole")
        if "Traceback" in self._terminal.written:
            raise WrongError("a traceback is printed")

    def _look_at_the_files(self) -> None:
        data = self._folder / "data"
        if (data / "troubles").exists():
            raise WrongError("an error of ours: " + next((data / "troubles").iterdir()).read_text()[-500:])
        if self._typed:
            text = "".join(path.read_text() for path in (data / "exercises").glob("*.py"))
            if "".join(self._typed) not in text:
                raise WrongError("typed text is lost")

    def _place(self) -> str | None:
        """The count of steps that is on the screen, if there is one, and it stands still."""
        seen = []
        for width in (120, 121, 120):
            self._ask()
            self._resize(f"{width}x40")
            self._until(lambda: self._is_over or self._has("\x1b[40;1H"), "it does not answer to a size")
            self._listen(0.3)
            seen.append(COUNT.findall(self._since)[-1:])
        return seen[0][0] if seen[0] and seen[0] == seen[1] == seen[2] else None

    def _look_at_the_place(self, place: str) -> None:
        self._command_line(self._command)
        self._until(lambda: COUNT.search(self._since) is not None, "no place when it is opened again")
        self._listen(0.5)
        if (now := COUNT.findall(self._since)[-1]) != place:
            raise WrongError(f"the place was {place}, and is {now}")

    # Waiting

    def _starts(self) -> bool:
        """Whether the job is in front: what is typed before, the shell gets."""
        self._job = next(iter(self._children()), 0)
        return self._job > 0 and _status(self._job)[5] == str(self._job)

    @property
    def _is_over(self) -> bool:
        return self._job not in self._children()

    @property
    def _since(self) -> str:
        return self._terminal.written[self._from :]

    def _has(self, text: str) -> bool:
        return self._terminal.written.find(text, self._from) >= 0

    def _ask(self) -> None:
        """From now on, look at what is written from here."""
        self._listen(0)
        self._from = len(self._terminal.written)

    def _listen(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self._terminal.read(max(end - time.monotonic(), 0)):
            pass

    def _until(self, holds: Callable[[], bool], otherwise: str) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise WrongError(otherwise)
            if self._terminal.is_open:
                self._terminal.read(0.05)
            else:
                time.sleep(0.05)

    def _children(self) -> list[int]:
        shell = self._terminal.process.pid
        return [int(one) for one in Path(f"/proc/{shell}/task/{shell}/children").read_text().split()]


def _status(process: int) -> list[str]:
    """What the kernel knows: first `T` if it is stopped, or `Z` if it has ended; sixth, which group is in front."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
