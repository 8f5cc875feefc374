"""From a file to the members of its zip; see Note [How much a file may unpack to] in `archive`."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Collection

from microtape.recording.file.archive import Refused, check_size, unpacked
from microtape.recording.file.journal import START
from microtape.recording.file.json_records import Damaged


def read_file(path: str, limit: int) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: it cannot be read.
        Refused: it has more than `limit` bytes, or is neither a zip archive nor a journal.
    """
    with open(path, "rb") as file:
        start = file.peek(4)[:4]
        if start not in (b"PK\x03\x04", START[:4]):
            what = "empty" if not start else "not a recording (a .tape file is a zip archive)"
            raise Refused(f"{what}: make one with `microtape record script.py -o run.tape`")
        data = file.read(min(limit + 1, os.fstat(file.fileno()).st_size or limit + 1))  # allocated at once
    if len(data) > limit:
        raise Refused(f"larger than the limit of {limit:,} bytes; load(path, size_limit=...) raises it")
    return data


def unzip(data: bytes, needed: str, known: Collection[str], limit: int) -> dict[str, bytearray]:
    """The members by name, unpacked after their sizes have been checked.

    Args:
        data: the file.
        needed: the member without which it is no recording.
        known: all names of members.
        limit: the number of bytes that the members may unpack to.

    Raises:
        Refused: it is no recording, or unpacks to more than the limit.
        Damaged: it holds what no recording holds, or cannot be unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = [one.filename for one in members]
            if needed not in names:
                raise Refused("a zip archive, but not a recording: make one with `microtape record`")
            if len(set(names)) != len(names) or not set(known).issuperset(names):
                raise Damaged("unknown or repeated members")
            check_size(members, len(data), limit)
            return {one.filename: unpacked(archive, one) for one in members}
    except (Refused, Damaged):
        raise
    except Exception as error:  # zipfile and zlib raise a dozen kinds for damaged bytes
        raise Damaged("its zip archive is cut off or altered") from error
