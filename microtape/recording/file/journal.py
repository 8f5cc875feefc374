"""Journals: files to which the passes of a running program are added as they end.

Note [Journals]
  A program may end without a word: by a signal, a crash in C, `os._exit`. So what each pass adds to the recording is
  appended to a journal beside the file that will be written, `run.tape.journal`, before the program goes on. It costs
  time and space in proportion to what is added, and is removed once the whole recording is written. If the program
  ends before that, whoever started it makes the recording of the journal; if that was killed as well, the journal stays
  and can be opened like a recording.

  It begins with `START`. Each part has a header, its length and its CRC-32, and is a recording as in a `.tape` file,
  but in the numbers of the whole recording: what it adds to the parts before; see `growing`. A last part that is cut
  off, because the program was killed in the middle of writing it, does not count.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterator

from microtape.recording.file.archive import write_whole

START = b"microtape journal 1\n"
_HEADER = struct.Struct("<QI")  # length, CRC-32


def journal_of(path: str) -> str:
    """The journal beside a recording."""
    return f"{path}.journal"


def in_its_place(path: str) -> str:
    """The file to read for a recording: its journal, if the recording itself was never written."""
    journal = journal_of(path)
    return journal if os.path.exists(journal) and not os.path.exists(path) else path


class JournalWriter:
    """Writes a journal. A process that is killed loses no part that `append` has written: the system has it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor: int | None = None

    def append(self, part: bytes) -> None:
        """Append a part; the first one begins the file. Raises OSError."""
        data = _framed(part)
        if self._descriptor is None:
            self.remove()  # of an earlier run
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(self._path, flags, 0o600)
            data = START + data
        while data:
            data = data[os.write(self._descriptor, data) :]

    def replace(self, part: bytes) -> None:
        """Begin again with this part, in one step. Raises OSError."""
        self._close()
        write_whole(self._path, START + _framed(part))

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def remove(self) -> None:
        """Remove the journal: it is not needed any more."""
        self._close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)


def _framed(part: bytes) -> bytes:
    return _HEADER.pack(len(part), zlib.crc32(part)) + part


def parts_of(data: bytes) -> Iterator[bytes]:
    """The parts of a journal up to the first that is cut off or altered."""
    at = len(START)
    while at + _HEADER.size <= len(data):
        length, checksum = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        part = data[at : at + length]
        if len(part) != length or zlib.crc32(part) != checksum:
            return
        yield part
        at += length
