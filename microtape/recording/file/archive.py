"""Files as a whole: written in one step, members of a zip that are equal for equal content, reasons of failures."""

from __future__ import annotations

import contextlib
import os
import secrets
import zipfile


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


def reason(error: OSError) -> str:
    """Why a file could not be read or written."""
    return error.strerror or type(error).__name__
