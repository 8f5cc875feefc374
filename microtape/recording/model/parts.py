"""What all records are made of: values, places in the program, references to tensors."""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from microtape.basics.call_site import file_and_line, in_cell


class Summary(NamedTuple):
    """What is kept of an array over the budget. Statistics cover the finite elements; None if there are none."""

    shape: tuple[int, ...]
    dtype: str  # as numpy or, if numpy lacks it, PyTorch names it
    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    zeros: int
    nans: int
    infs: int
    histogram: tuple[int, ...]  # counts in equal bins from min to max; estimated for a large array
    thumbnail: tuple[tuple[float | None, ...], ...]  # the array as a matrix of block means; None: no finite element
    negative_infs: int | None = None  # how many of `infs` are -inf; None: complex, or a file of an older format


Value: TypeAlias = "npt.NDArray[np.generic] | Summary"
"""A read-only copy of an array as it was at that moment, or its summary. Both have `.shape`."""


class Place(NamedTuple):
    """A sub-expression of the user's program, by 1-based lines and 0-based columns in characters."""

    file: str  # key of Recording.sources
    line: int
    end_line: int
    column: int
    end_column: int
    function: str  # qualified name, "<module>" at top level

    @property
    def at(self) -> str:
        """The file and the line, `folder/model.py:12`; in a notebook `cell 3, line 2`."""
        return file_and_line(self.file, self.line)

    @property
    def at_name(self) -> str:
        """The same without the file's folder: `model.py:12`."""
        return file_and_line(PurePath(self.file).name, self.line)

    def at_within(self, width: int) -> str:
        """`at`, or `at_name` if that is longer than `width`: the path of an installed package may be long."""
        return self.at if len(self.at) <= width else self.at_name

    @property
    def at_line(self) -> str:
        """The line alone, `line 12`; in a notebook `cell 3, line 2`."""
        return self.at if in_cell(self.file) else f"line {self.line}"


class TensorRef(NamedTuple):
    """A tensor as it was at one version: its value is `recording.value(ref)`."""

    tensor: int
    version: int


UNKNOWN = "constant"
"""The text of an operand without a history of which nothing else is known, as before the recording began."""


class Operand(NamedTuple):
    """An argument of an operation: a tensor, or the text of a constant such as `2.0` or `dim=1`."""

    ref: TensorRef | None
    text: str


class ErrorRecord(NamedTuple):
    """An exception, as the user would see it."""

    type: str
    message: str
    places: tuple[tuple[str, Place], ...]  # (role, place): "saved", "modified", "forward", "raised"
    traceback: str  # as Python prints it, but only the user's frames
