"""Checks of the numbers that the records of one recording refer to each other by. Each raises Damaged."""

from __future__ import annotations

from collections.abc import Iterable

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

MOST = 2**31  # lines, columns, versions, input numbers: more than any program has, and safe for every viewer
MOST_ELEMENTS = 2**53  # of an array


class References:
    """The valid ranges of one recording, and a check for each kind of reference; `where` names what refers."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.nodes = len(recording.nodes)
        self.tensors = len(recording.tensors)
        self.outputs = [len(node.outputs) for node in recording.nodes]
        self.edges = [len(node.edges) for node in recording.nodes]

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
