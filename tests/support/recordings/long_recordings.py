"""Recordings that are read as if they were long: into columns, from which a record is made when it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest.mock import patch

from microtape.recording.file import json_parts, tape_file
from microtape.recording.file.json_columns import ColumnReader


@contextlib.contextmanager
def all_long() -> Iterator[None]:
    """Every recording that is loaded counts as long, and so does every list of two integers or rows in its JSON."""
    with (
        patch.object(tape_file, "ColumnReader", lambda values: ColumnReader(values, long=0)),
        patch.object(json_parts, "_INTEGERS", json_parts.integers(2)),
        patch.object(json_parts, "_MANY_ROWS", 1),
    ):
        yield
