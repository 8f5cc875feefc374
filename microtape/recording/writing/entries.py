"""What is noted of a node and of a tensor while the program runs, before there are records of them."""

from __future__ import annotations

from collections.abc import Sequence

from microtape.recording.model.model import Operand, SavedRecord, TensorRef, Value
from microtape.recording.writing.node_text import About, about
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState


class NodeEntry:
    """A node, and what will not be known of it at the end."""

    __slots__ = ("about", "in_place", "made_by", "node", "operands", "outputs", "pass_", "saved", "scope", "variable")

    def __init__(self, node: Node) -> None:
        self.node = node  # held, because its identity must not be used again
        self.about: About | None = (
            about(node) if node.kind == "copy_slices" else None
        )  # its operation is freed with what it saved
        self.operands: Sequence[Operand] = ()
        self.outputs: Sequence[TensorRef | None] = ()
        self.saved: Sequence[tuple[int, SavedRecord]] = ()  # with their positions among what the node keeps
        self.variable: int | None = None
        self.in_place = False
        self.pass_: int | None = None
        self.made_by: int | None = None
        self.scope: int | None = None


class TensorEntry:
    """A tensor as far as it is known; an output that nobody kept has no object."""

    __slots__ = ("base", "dtype", "latest", "names", "node", "number", "objects", "output_nr", "shape", "values")

    def __init__(self, number: int, shape: tuple[int, ...], dtype: str) -> None:
        self.number = number
        self.shape, self.dtype = shape, dtype
        self.objects: list[TensorState] = []  # the tensor, and copies of it that backward has unpacked
        self.names: list[str] = []
        self.node: int | None = None
        self.output_nr = 0
        self.base: int | None = None
        self.values: dict[int, Value] = {}
        self.latest: TensorRef | None = None  # one object for the many who refer to the same version

    @property
    def tensor(self) -> TensorState | None:
        """The tensor itself, None for an output that nobody kept."""
        return self.objects[0] if self.objects else None
