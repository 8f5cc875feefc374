"""Records a loop from inside of the program: the pass where something happens, passes by number, or each hundredth.

Nobody has to start our command and nothing needs a terminal. A file is written at once, before the program goes on or
fails, and a line on standard error names it. The program itself is never stopped, and never gets an error of ours.
What was kept so far is in a journal, in case that the program is killed; see Note [Journals].
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from microtape.basics.ranks import rank_of_process, rank_options, with_rank
from microtape.basics.signals import uninterrupted
from microtape.errors import RecordingError
from microtape.recording.choosing import keeper
from microtape.recording.choosing.condition import ExpressionError
from microtape.recording.choosing.journal import Journal
from microtape.recording.choosing.keeper import Keeper
from microtape.recording.choosing.passes import parse_passes
from microtape.recording.choosing.until import Until
from microtape.recording.file.destination import check_writable
from microtape.recording.file.tape_file import save as save_recording
from microtape.recording.model.displayed import Displayed
from microtape.recording.model.model import ErrorRecord, Recording

_GOES_ON = "the program went on after the passes that are kept"
_SUCH_AS = {"until": '"nan"', "passes": '"3-5"', "thread": '"main"'}
_GROWTH = 1.1  # a course is written again when it is so many times as long: all writes take as long as a few


class _Recorder(keeper.Recorder, Protocol):
    error: ErrorRecord | None

    def __enter__(self) -> Any: ...

    def __exit__(self, *error: Any) -> None: ...

    def error_record(self, error: BaseException) -> ErrorRecord: ...

    def stop(self) -> None: ...

    def additions(self) -> Iterator[Recording]: ...


class LoopRecorder(Displayed):
    """A context around a loop. `recording` is what was kept so far.

    `make` makes the recorder, given its `after_pass`; `record` explains the other arguments.

    Raises:
        RecordingError: an argument is wrong, or the file cannot be written.
    """

    def __init__(
        self,
        make: Callable[..., _Recorder],
        *,
        until: str | None = None,
        passes: str | None = None,
        every: int | None = None,
        thread: str | None = None,
        save: str | os.PathLike[str] | None = None,
    ) -> None:
        _check_texts(until=until, passes=passes, thread=thread)
        if passes is not None and not (until is None and every is None):
            raise RecordingError("record(): passes chooses them by their numbers: leave out until and every")
        if every is not None and (type(every) is not int or every < 1):
            raise RecordingError(f"record(every={every!r}): give a number of passes from 1")
        first, last = parse_passes(passes if passes is not None else "all")
        self._path = with_rank(_path(save), rank_of_process()) if save is not None else None
        if self._path is not None:
            check_writable(self._path)
            self._path = os.path.abspath(self._path)  # the program may change its folder
        self._options: dict[str, object] = {"until": until, **rank_options()}
        self._name = os.path.basename(self._path or "")
        self._recorder = make(after_pass=self._after_pass, thread=thread)
        self._journal = Journal(self._path, self._options) if self._path is not None else None
        seals = self._journal is not None
        self._keeper = Keeper(
            self._recorder, first=first, last=last, until=_until(until), every=every, sleeps=True, seals=seals
        )
        self._done = False  # nothing more is recorded
        self._kept: Recording | None = None
        self._problem = ""  # for which the file could not be written
        self._written = 0  # how long the course was when it was last written

    @property
    def recording(self) -> Recording:
        """What was kept so far."""
        return self._kept if self._kept is not None else self._whole()

    def __repr__(self) -> str:
        """`<Recorder with <Recording of 'record()': 3 nodes, 1 pass, 3 steps>>`"""
        return f"<Recorder with {self.recording!r}>"

    def __enter__(self) -> LoopRecorder:
        self._recorder.__enter__()
        self._keeper.begin()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._recorder.__exit__(kind, error, trace)
        if not self._done:
            with self._own_faults():
                self._loop_ended(error)

    def _after_pass(self, index: int) -> None:
        if self._done:
            return
        with self._own_faults():
            if self._keeper.ended(index):
                until = self._keeper.until
                self._finish(f"pass {index + 1}" if until is None else f"{until.text} in pass {index + 1}")
            elif len(self._keeper.courses) >= max(self._written * _GROWTH, self._written + 1):
                self._written = len(self._keeper.courses)
                self._write(self._whole(), f"the course of {_passes(len(self._keeper.courses))}")
            elif self._journal is not None and self._keeper.every is None:
                self._journal.note(self._keeper, self._recorder)

    def _finish(self, what: str) -> None:
        """All that was asked for is there: keep it, and leave the program alone."""
        self._done = True
        self._keeper.make_course()
        self._kept = self._whole((_GOES_ON,))
        self._recorder.stop()
        if self._write(self._kept, what):
            _say(f"{what}: written to {self._name}; the program goes on unrecorded")

    def _loop_ended(self, error: BaseException | None) -> None:
        """The loop is over, and not all that was asked for is there."""
        self._done = True
        until, count = self._keeper.until, self._recorder.count
        failed = isinstance(error, Exception) and (until is not None or self._keeper.every is not None)
        if failed and error is not None and not any(one.has_failed for one in self._recorder.passes):
            self._recorder.error = self._recorder.error_record(error)
        self._keeper.make_course()
        self._kept = self._whole()
        what = f"{type(error).__name__} after {_passes(count)}" if failed else f"the loop ended after {_passes(count)}"
        wanted = failed or until is None or bool(self._keeper.courses)
        if wanted and (self._kept.passes or self._kept.courses or (failed and self._kept.nodes)):
            if self._write(self._kept, what):
                _say(f"{what}: written to {self._name}")
        elif self._path is not None:
            why = f"the loop {until.never(count)}" if until is not None and not failed else what
            _say(f"{why}: nothing is written to {self._name}")
            self._remove_journal()

    def _whole(self, notes: tuple[str, ...] = ()) -> Recording:
        recording = self._recorder.recording
        return dataclasses.replace(
            recording,
            courses=tuple(self._keeper.courses),
            notes=(*recording.notes, *notes),
            options={**recording.options, **self._options},
        )

    def _write(self, recording: Recording, what: str) -> bool:
        """Whether the file was written. If not, a line says why, of a course only once, and the loop goes on."""
        if self._path is None:
            return False
        try:
            with uninterrupted():
                save_recording(recording, self._path)
        except RecordingError as problem:
            if self._done or not self._problem:
                _say(f"{what}: {problem}")
            self._problem = str(problem)
            return False
        self._remove_journal()
        return True

    def _remove_journal(self) -> None:
        if self._journal is not None:
            self._journal.remove()

    @contextlib.contextmanager
    def _own_faults(self) -> Any:
        """Record no more if something of ours fails; the program goes on."""
        try:
            yield
        except Exception as fault:
            self._done = True
            self._recorder.stop()
            _say(f"the loop is not recorded any more, by a fault of microtape: {type(fault).__name__}: {fault}")


def _check_texts(**options: object) -> None:
    for name, value in options.items():
        if value is not None and not isinstance(value, str):
            raise RecordingError(f"record({name}={value!r}): give a text, such as {_SUCH_AS[name]}")


def _path(save: str | os.PathLike[str]) -> str:
    if not save or not isinstance(save, str | os.PathLike):
        raise RecordingError(f'record(save={save!r}): give the name of a file, such as "nan.tape"')
    return os.fspath(save)


def _until(text: str | None) -> Until | None:
    try:
        return Until.read(text) if text is not None else None
    except ExpressionError as error:
        raise RecordingError(f"record(until={text!r}): say nan, error or a condition: {error}") from None


def _passes(count: int) -> str:
    return f"{count} pass" if count == 1 else f"{count} passes"


def _say(text: str) -> None:
    """A line on standard error, if there is one."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"microtape: {text}", file=sys.stderr, flush=True)
