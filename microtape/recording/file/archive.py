"""Files as a whole: written in one step, zips that are equal for equal content, reasons of failures.

Note [How much a file may unpack to]
  A recording holds something else at every step: deflate makes its JSON at most ten times as short, even if the program
  repeats one operation a million times. A file that unpacks to more than `_MOST_TIMES` its own size is refused before
  it is unpacked, unless it is small. `zipped` does not deflate JSON that would be.
  The directory of a zip may lie: a member is unpacked to as many bytes as its entry says, and not one more.
"""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from collections.abc import Iterable, Mapping

from microtape.recording.file.json_records import Damaged

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what else zipfile knows can unpack a million times its size
_MOST_TIMES = 40
_SMALL = 4_000_000  # bytes
_PIECE = 1 << 20


class Refused(Exception):  # noqa: N818 - no user sees it: `load` turns it into a RecordingError
    """The file cannot be read; the message says why, for the user."""


def write_whole(target: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, whole or not at all: an existing file is replaced at the end, in one step. Raises OSError."""
    target = os.path.realpath(target)
    if os.path.exists(target) and not os.path.isfile(target):  # /dev/null or a pipe, which cannot be replaced
        with open(target, "wb") as file:
            file.write(data)
        return
    unfinished = os.path.join(os.path.dirname(target), f".tape-{os.urandom(6).hex()}")
    try:
        with open(unfinished, "xb") as file:
            file.write(data)
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def zipped(name: str, text: str, arrays: Mapping[str, bytes], level: int | None = None) -> bytes:
    """A zip of a text, deflated at this level, and of arrays as they are.

    See Note [How much a file may unpack to].
    """
    deflated = _zipped(name, text, arrays, zipfile.ZIP_DEFLATED, level)
    unpacked_size = len(text) + sum(map(len, arrays.values()))
    if unpacked_size <= most_unpacked(len(deflated)):
        return deflated
    return _zipped(name, text, arrays, zipfile.ZIP_STORED, None)


def _zipped(name: str, text: str, arrays: Mapping[str, bytes], method: int, level: int | None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(_member(name), text, method, level)
        for array, data in arrays.items():
            archive.writestr(_member(array), data)
    return buffer.getvalue()


def _member(name: str) -> zipfile.ZipInfo:
    """A zip entry without the writer's time, system or permissions."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system, info.external_attr = 3, 0o644 << 16
    return info


def most_unpacked(file_size: int) -> int:
    """The number of bytes that a file of this size may unpack to."""
    return _MOST_TIMES * file_size + _SMALL


def check_size(members: Iterable[zipfile.ZipInfo], file_size: int, limit: int) -> None:
    """Raise Refused or Damaged if a file of this size says that it unpacks to too much, or to more than the limit."""
    total = sum([one.file_size for one in members])
    if total > limit:
        raise Refused(
            f"unpacks to {total:,} bytes, more than the limit of {limit:,}; "
            "if you trust it, load(path, size_limit=...) raises it"
        )
    if total > most_unpacked(file_size):
        raise Damaged(f"its {file_size:,} bytes unpack to {total:,}, more than those of any recording")


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytearray:
    """A member, of which never more is unpacked than its entry says: `ZipFile.read` unpacks all that is there.

    It is unpacked piece by piece, which takes half as long as all at once: zlib would collect it in memory of its own.

    Raises Damaged for another size, and for another method than deflate.
    """
    if entry.compress_type not in _METHODS:
        raise Damaged("compressed by another method than deflate")
    with archive.open(entry) as stream:
        data = bytearray(entry.file_size)
        room, size = memoryview(data), 0
        while count := stream.readinto(room[size : size + _PIECE]):  # type: ignore[attr-defined]
            size += count
        if size != entry.file_size or stream.read(1):
            raise Damaged("a member has another size than its entry says")
    return data


def reason(error: OSError) -> str:
    """Why a file could not be read or written."""
    return error.strerror or type(error).__name__
