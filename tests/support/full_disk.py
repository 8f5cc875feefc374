"""A disk that becomes full, for tests of writing files."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def full_disk(room: int = 100) -> Iterator[None]:
    """No file of this process can get longer than `room` bytes: writing stops in the middle of a longer one."""
    resource = pytest.importorskip("resource")
    before, wrote = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # Python would leave half a module, and fail to import it from then on
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = wrote
