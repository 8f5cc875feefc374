"""Checks of the numbers that the records of one recording refer to each other by. Each raises Damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from microtape.recording.file.json_records import Damaged
from microtape.recording.file.packing import MOST_DIMENSIONS
from microtape.recording.model.model import (
    EdgeRecord,
    ErrorRecord,
    Operand,
    Place,
    Recording,
    SavedRecord,
    SavedUse,
    TensorRef,
)
from microtape.recording.tables.columns import NONE
from microtape.recording.tables.fields import inside, integers

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

MOST = 2**31  # lines, columns, versions, input numbers: more than any program has, and safe for every viewer
OUT_OF_RANGE = "has a number out of range"
MOST_ELEMENTS = 2**53  # of an array


class References:
    """The valid ranges of one recording, and a check for each kind of reference; `where` names what refers."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.nodes = len(recording.nodes)
        self.tensors = len(recording.tensors)
        self.edges = inside(recording.nodes, "edges")[0]

    def all_refs(self, refs: Sequence[TensorRef | None], of: Owners) -> None:
        """Tensors at a version."""
        tensor, version = integers(refs, "tensor"), integers(refs, "version")
        of.refuse(outside(tensor, self.tensors) | outside(version, MOST), "refers to a tensor that does not exist")

    def all_node_ids(self, nodes: Integers, of: Owners) -> None:
        """The numbers of nodes."""
        of.refuse(outside(nodes, self.nodes), "refers to a node that does not exist")

    def all_tensor_ids(self, tensors: Integers, of: Owners) -> None:
        """The numbers of tensors."""
        of.refuse(outside(tensors, self.tensors), "refers to a tensor that does not exist")

    def all_places(self, places: Sequence[Place | None], of: Owners) -> None:
        """Places in the program."""
        line, end_line = integers(places, "line"), integers(places, "end_line")
        wrong = outside(line - 1, MOST) | outside(end_line - line, MOST) | outside(end_line, MOST)
        wrong |= outside(integers(places, "column"), MOST) | outside(integers(places, "end_column"), MOST)
        of.refuse(wrong & (line != NONE), "has an impossible position")

    def error(self, error: ErrorRecord | None) -> None:
        """The places of an error."""
        for _, place in error.places if error else ():
            self.place(place, "an error")

    def operands(self, operands: Iterable[Operand], where: str) -> None:
        """The tensors of operands."""
        for operand in operands:
            self.ref(operand.ref, where)

    def saved(self, saved: tuple[SavedRecord, ...] | tuple[SavedUse, ...], where: str) -> None:
        """The tensors that were saved."""
        for one in saved:
            self.ref(one.ref, where)

    def ref(self, ref: TensorRef | None, where: str) -> None:
        """A tensor at a version."""
        if ref is not None and not (0 <= ref.tensor < self.tensors and 0 <= ref.version < MOST):
            raise Damaged(f"{where} refers to a tensor that does not exist")

    def edge_list(self, edges: tuple[EdgeRecord, ...], before: int, where: str) -> None:
        """Edges lead backwards on the tape, so that following them ends."""
        for node, input_nr in edges:
            if node is not None and not 0 <= node < before:
                raise Damaged(f"an edge of {where} leads to a node that does not come before it")
            if not 0 <= input_nr < MOST:
                raise Damaged(f"{where} has a number out of range")

    def node_id(self, node: int | None, where: str) -> None:
        """The number of a node, or None."""
        if node is not None and not 0 <= node < self.nodes:
            raise Damaged(f"{where} refers to a node that does not exist")

    def tensor_id(self, tensor: int | None, where: str) -> None:
        """The number of a tensor, or None."""
        if tensor is not None and not 0 <= tensor < self.tensors:
            raise Damaged(f"{where} refers to a tensor that does not exist")

    def place(self, place: Place | None, where: str) -> None:
        """A place in the program, or None."""
        if place is not None and not (
            1 <= place.line <= place.end_line < MOST and 0 <= place.column < MOST and 0 <= place.end_column < MOST
        ):
            raise Damaged(f"{where} has an impossible position")


class Owners:
    """The records to which the numbers of a column belong, for the message about a wrong one."""

    def __init__(self, names: Callable[[int], str], sizes: Integers | None = None) -> None:
        """`names` are those of the records; with `sizes`, so many numbers belong to each."""
        self._names = names
        self._sizes = sizes

    def refuse(self, wrong: npt.NDArray[np.bool_], why: str) -> None:
        """Raise Damaged if a number is wrong."""
        if wrong.any():
            at = int(wrong.argmax())
            number = at if self._sizes is None else int(np.searchsorted(np.cumsum(self._sizes), at, "right"))
            raise Damaged(f"{self._names(number)} {why}")


def numbered(found: Integers, expected: Integers, of: Owners) -> None:
    """Records are numbered by their places in their table."""
    for at in np.flatnonzero(found != expected):
        of.refuse(np.arange(len(found)) == at, f"is numbered {found[at]}")


def outside(numbers: Integers, end: int | Integers) -> npt.NDArray[np.bool_]:
    """Whether each number is not from 0, below the end; None is not."""
    found: npt.NDArray[np.bool_] = ((numbers < 0) | (numbers >= end)) & (numbers != NONE)
    return found


def same(found: int, expected: int, where: str) -> None:
    """A record is numbered by its place in its table."""
    if found != expected:
        raise Damaged(f"{where} is numbered {found:d}"[:60])


def within(number: int, end: int, where: str) -> None:
    """A number from 0, below the end."""
    if not 0 <= number < end:
        raise Damaged(f"{where} has a number out of range")


def shape_within(shape: tuple[int, ...], where: str) -> None:
    """The shape of an array."""
    if len(shape) > MOST_DIMENSIONS:
        raise Damaged(f"{where} has {len(shape):,} dimensions")
    all_within(shape, MOST, where)


def all_within(numbers: Iterable[int], end: int, where: str) -> None:
    """Numbers from 0, below the end."""
    for number in numbers:
        if not 0 <= number < end:
            raise Damaged(f"{where} has a number out of range")
