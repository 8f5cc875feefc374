"""Textual's driver for terminals, which no byte, no signal and no end of the terminal takes by surprise.

Note [who has the terminal]
    The app has it from `start_application_mode` to `stop_application_mode`. In between, the shell may get it in three
    ways: Ctrl+Z and SIGTSTP, which give it back in order; SIGSTOP, which nobody can announce; and an editor that the
    app runs. A signal arrives at any line of any code, so its handler only asks the app's loop, where nothing else
    is going on. Only the job that is in front may change the terminal: the kernel stops another one that tries.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from tui.shell.terminal import screen

if TYPE_CHECKING:
    from tui.guarded.app import GuardedApp

LOOK = 0.1  # seconds
MOST = 4096  # bytes that are read at once


class TolerantDriver(LinuxDriver):
    """A driver that goes on reading and writing, and gives the terminal back; see Note [who has the terminal]."""

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        self._guarded = cast("GuardedApp", app)
        self._output = _Lasting(screen())
        self._file = self._output  # type: ignore[assignment]
        self._stops_itself = False
        # A signal may reach another thread than the loop's, which would sleep on: with a handler of its own, of any
        # signal, the loop is woken by each.
        self._loop.add_signal_handler(signal.SIGURG, lambda: None)

    # Writing

    @property
    def has_terminal(self) -> bool:
        """Whether the app has the terminal now."""
        return self._writer_thread is not None

    def write(self, data: str) -> None:
        """Write to the terminal, if the app has it."""
        if self.has_terminal:
            super().write(data)

    def start_application_mode(self) -> None:
        """Take the terminal, once this job is in front; not for an app that a signal has ended meanwhile."""
        while not self.has_terminal and self._guarded.ended_by is None:
            if self._is_in_front():
                super().start_application_mode()  # type: ignore[no-untyped-call]
                continue
            time.sleep(LOOK)  # the signal that has continued the job may have come with one that ends it
            if not self._is_in_front() and self._guarded.ended_by is None:
                os.killpg(0, signal.SIGTTOU)  # stops until the shell continues the job
        if not self.has_terminal:
            self._ask(self._guarded.leave)

    def stop_application_mode(self) -> None:
        """Give the terminal back, if the app has it."""
        if self.has_terminal:
            super().stop_application_mode()

    def disable_input(self) -> None:
        """Read no more, if the app has the terminal: to drop what is unread is not for a job in the background."""
        if self.has_terminal:
            super().disable_input()

    def close(self) -> None:
        """Write what is still to be written."""
        super().close()
        self._writer_thread = None

    def drop_output(self) -> None:
        """Write no more, and drop what the terminal has not read.

        While a thread waits for room to write, no other thread's writing begins: it is woken until it has ended.
        """
        import termios

        self._output.is_over = True
        termios.tcflush(self._output.fileno(), termios.TCOFLUSH)
        thread = self._writer_thread.ident if self._writer_thread is not None else None
        while self._output.is_writing and thread is not None:
            signal.pthread_kill(thread, signal.SIGURG)  # it looks again whether there is room
            time.sleep(LOOK / 10)
            termios.tcflush(self._output.fileno(), termios.TCOFLUSH)

    def _is_in_front(self) -> bool:
        try:
            return os.tcgetpgrp(self.fileno) == os.getpgrp()
        except OSError:
            return True  # a terminal that no jobs share

    # Signals

    def _sigtstp_application(self, *_: object) -> None:
        if self._auto_restart:
            self._ask(self._guarded.action_suspend_process)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)  # an editor has the terminal, and has stopped with its job

    def _sigcont_application(self, *_: object) -> None:
        if not self._stops_itself:
            self._ask(self._take_again)

    def _ask(self, do: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(do)

    def _take_again(self) -> None:
        """After a stop that nobody announced: the shell has changed the terminal, and another program may have."""
        if self.has_terminal:
            self.suspend_application_mode()
            self._resume()

    def stop_job(self) -> None:
        """Give the terminal back and stop the whole job, as a Ctrl+Z does that the terminal heeds; returns at `fg`.

        Textual would stop this process alone. A parent that waits for us, as `tui.step` does, would not tell the shell.
        """
        self.suspend_application_mode()
        self._stops_itself = True
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(0, signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)
        self._stops_itself = False
        self._resume()

    def _resume(self) -> None:
        self.resume_application_mode()
        self._guarded.refresh(layout=True)

    # Reading

    def run_input_thread(self) -> None:
        """Read until the app asks for the end, or the terminal is gone. Bytes that are no UTF-8 are left out.

        Textual's own ends the app at such bytes, which a terminal sends for é that is set to Latin-1.
        """
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("ignore").decode
        with self._opened_input() as source:
            while not self.exit_event.is_set():
                if select.select([source], [], [], LOOK)[0]:
                    try:
                        data = os.read(source, MOST)
                    except BlockingIOError:
                        self.exit_event.wait(LOOK)
                        continue
                    except OSError:  # as after the end of a terminal
                        data = b""
                    if not data:
                        self._ask(self._guarded.hang_up)
                        return
                    text = decode(data)
                    for message in parser.feed(text) if text else ():
                        self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)

    @contextlib.contextmanager
    def _opened_input(self) -> Iterator[int]:
        """The terminal, opened once more so that no read waits.

        After a stop that nobody announced, the terminal is in the shell's mode: there, a read waits for a whole line.
        """
        try:
            opened = os.open(os.ttyname(self.fileno), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:  # it has no name here
            yield self.fileno
            return
        try:
            yield opened
        finally:
            os.close(opened)


class _Lasting:
    """A stream to a terminal that may be gone: what cannot be written is lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.fileno = stream.fileno
        self.is_over = False  # then nothing is written any more
        self.is_writing = False

    def write(self, text: str) -> None:
        """Write the text."""
        self._do(lambda: self._stream.write(text))

    def flush(self) -> None:
        """Write what waits."""
        self._do(self._stream.flush)

    def _do(self, work: Callable[[], object]) -> None:
        if self.is_over:
            return
        self.is_writing = True
        with contextlib.suppress(OSError):
            work()
        self.is_writing = False
