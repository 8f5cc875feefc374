"""Writes the passes that are kept to a journal, as they end. See Note [Journals]."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Protocol

from microtape.basics.signals import uninterrupted
from microtape.recording.choosing.keeper import Keeper
from microtape.recording.file.journal import JournalWriter, journal_of
from microtape.recording.file.tape_file import ELEMENT_BUDGET, TOTAL_BUDGET, to_bytes
from microtape.recording.model.model import Recording
from microtape.recording.writing.faults import was_raised_by_a_signal

_SHARE = 0.2  # of the time may be taken by writing passes of which each replaces the one before
_FREE = 5.0  # seconds of the program that count before it begins, so that the first passes are written
_SMALL = 64  # elements; arrays of so few are kept whole even beyond the budget


class _Sealing(Protocol):
    def additions(self) -> Iterator[Recording]: ...


class Journal:
    """The journal beside the file `path`; none beside what is not a file, such as /dev/null.

    Args:
        path: the file that will be written.
        options: the options of the recording.
        element_budget: see `tape_file.save`.
        total_budget: see `tape_file.save`; once the journal has taken so many bytes, arrays become summaries.
    """

    def __init__(
        self,
        path: str,
        options: Mapping[str, object],
        element_budget: int = ELEMENT_BUDGET,
        total_budget: int = TOTAL_BUDGET,
    ) -> None:
        self._writer = JournalWriter(journal_of(path)) if os.path.isfile(path) or not os.path.exists(path) else None
        self._options: Mapping[str, object] = options
        self._element_budget, self._left = element_budget, total_budget
        self._courses = 0  # that were written
        self._since, self._took = monotonic() - _FREE, 0.0
        self._process = os.getpid()  # a fork of the program writes nothing

    def note(self, keeper: Keeper, recorder: _Sealing) -> None:
        """A pass has ended: write what is kept now. If that fails, write no more from now on."""
        if self._writer is None or os.getpid() != self._process:
            return
        try:
            if keeper.until is not None:
                self._replace(self._writer, keeper)
            elif keeper.every is None:
                for part in recorder.additions():
                    self._append(self._writer, part)
            if len(keeper.courses) > self._courses:
                new = tuple(keeper.courses[self._courses :])
                self._courses = len(keeper.courses)
                self._append(self._writer, Recording("", (), (), (), {}, courses=new))
        except OSError:  # a full disk: what is there takes room that the recording itself will need
            self.remove()
            self._writer = None
        except Exception as error:  # the recording itself is written at the end all the same
            self._writer = None
            if was_raised_by_a_signal(error):
                raise

    def _append(self, writer: JournalWriter, part: Recording) -> None:
        elements = self._element_budget if self._left > 0 else min(self._element_budget, _SMALL)
        part = dataclasses.replace(part, options=self._options)
        data = to_bytes(part, element_budget=elements, total_budget=max(self._left, 0))
        self._options = {}  # the first part has them
        self._left -= len(data)
        with uninterrupted():
            writer.append(data)

    def _replace(self, writer: JournalWriter, keeper: Keeper) -> None:
        """Begin the journal again with the last pass, unless that takes too much of the time of a long search."""
        began = monotonic()
        if self._took > _SHARE * (began - self._since):
            return
        whole = keeper.looked_at
        if not whole.passes:
            return  # it could not be recorded
        data = to_bytes(dataclasses.replace(whole, options=self._options), element_budget=self._element_budget)
        with uninterrupted():
            writer.replace(data)
        self._took += monotonic() - began

    def remove(self) -> None:
        """Remove the journal: the whole recording is written, or there is none to write."""
        if self._writer is not None and os.getpid() == self._process:
            self._writer.remove()
