"""Notes about nodes and tensors, taken while the program runs; records are made of them at the end."""

from __future__ import annotations

from collections.abc import Sequence

from microtape.recording.model.model import Operand, SavedRecord, TensorRef, Value
from microtape.recording.writing.names.constant_arguments import has_arrays
from microtape.recording.writing.names.node_text import About
from microtape.recording.writing.names.node_text import about as about_node
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState


class NodeEntry:
    """A node, and the facts about it that cannot be read off it at the end."""

    __slots__ = ("about", "in_place", "made_by", "node", "operands", "outputs", "pass_", "saved", "scope", "variable")

    def __init__(self, node: Node, *, about: bool = True) -> None:
        self.node = node  # held, so that its id is not reused
        self.about: About | None = None
        if about and (node.kind == "copy_slices" or has_arrays(node)):
            self.about = about_node(node)  # now: backward frees the operation inside, and the arrays may be overwritten
        self.operands: Sequence[Operand] = ()
        self.outputs: Sequence[TensorRef | None] = ()
        self.saved: Sequence[tuple[int, SavedRecord]] = ()  # each with its position among the node's saved tensors
        self.variable: int | None = None
        self.in_place = False
        self.pass_: int | None = None
        self.made_by: int | None = None
        self.scope: int | None = None


class TensorEntry:
    """A tensor as far as it is known; an output that the program did not keep has no object."""

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
        self.latest: TensorRef | None = None  # shared by all that refer to the same version

    @property
    def tensor(self) -> TensorState | None:
        """The tensor itself; None for an output that the program did not keep."""
        return self.objects[0] if self.objects else None
