"""A lock between the processes of one learner: two sessions that change a file do so one after the other.

The operating system holds the lock and releases it when a process ends, however it ends. A lock file that stayed behind
would not lock anything.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 5.0  # seconds that a session waits for another one, which needs a few milliseconds
PAUSE = 0.01
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)  # what a system says if another process has the lock


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is a file beside it. Creates its folder.

    Raises:
        TimeoutError: another process keeps the lock.
        OSError: the lock file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _wait_for(handle, path)
        try:
            yield
        finally:
            _release(handle)
    finally:
        os.close(handle)


def refuse_what_is_no_file(path: Path) -> None:
    """Raise an OSError for a pipe or a device: to read one may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "no ordinary file", str(path))


def _wait_for(handle: int, path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not _taken(handle):
        if time.monotonic() > end:
            raise TimeoutError(errno.ETIMEDOUT, "another session keeps it locked", str(path))
        time.sleep(PAUSE)


if sys.platform == "win32":
    import msvcrt

    def _taken(handle: int) -> bool:
        """Take the lock, a lock on the first byte of the file, unless another process has it."""
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in TAKEN:
                return False
            raise
        return True

    def _release(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _taken(handle: int) -> bool:
        """Take the lock unless another process has it. On a file system without locks, there is nothing to wait for."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in TAKEN:
                return False
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                raise
        return True

    def _release(handle: int) -> None:
        with contextlib.suppress(OSError):  # of a file system without locks
            fcntl.flock(handle, fcntl.LOCK_UN)
