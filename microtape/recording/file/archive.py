"""Files as a whole: written in one step, members of a zip that are equal for equal content, reasons of failures."""

from __future__ import annotations

import contextlib
import os
import secrets
import zipfile

from microtape.recording.file.json_records import Damaged

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what else zipfile knows can unpack a million times its size


def write_whole(target: str, data: bytes) -> None:
    """Write a file, whole or not at all: an existing file is replaced at the end, in one step. Raises OSError."""
    target = os.path.realpath(target)
    if os.path.exists(target) and not os.path.isfile(target):  # /dev/null or a pipe, which cannot be replaced
        with open(target, "wb") as file:
            file.write(data)
        return
    unfinished = os.path.join(os.path.dirname(target), f".tape-{secrets.token_hex(6)}")
    try:
        with open(unfinished, "xb") as file:
            file.write(data)
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def member(name: str) -> zipfile.ZipInfo:
    """A zip entry without the writer's time, system or permissions."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system, info.external_attr = 3, 0o644 << 16
    return info


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A member, of which never more is unpacked than its entry says: `ZipFile.read` unpacks all that is there.

    Raises Damaged for another size, and for another method than deflate.
    """
    if entry.compress_type not in _METHODS:
        raise Damaged("compressed by another method than deflate")
    with archive.open(entry) as stream:
        data = stream.read(entry.file_size)
        if len(data) != entry.file_size or stream.read(1):
            raise Damaged("a member has another size than its entry says")
    return data


def reason(error: OSError) -> str:
    """Why a file could not be read or written."""
    return error.strerror or type(error).__name__
