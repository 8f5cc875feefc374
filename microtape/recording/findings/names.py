"""What the user calls the nodes, tensors and passes of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from microtape.recording.findings.wording import join
from microtape.recording.model.formatting import format_shape, format_value
from microtape.recording.model.model import NodeRecord, Operand, Pass, Place, Recording, TensorRecord, TensorRef
from microtape.recording.model.source import expression, written_operands

_LONGEST_EXPRESSION = 32
_NOBODY = "_"
"""What a program writes for a result that it does not want: the name of no tensor."""


class Names:
    """A recording, with the names of what is in it."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    @cached_property
    def producer(self) -> Mapping[TensorRef, int]:
        """Maps a tensor at a version to the node that computed it."""
        return {ref: node.id for node in self.recording.nodes for ref in node.outputs if ref is not None}

    def node(self, node: int) -> NodeRecord:
        """A node's record."""
        return self.recording.nodes[node]

    def name(self, node: int) -> str:
        """The user's name for a leaf or a result; else the expression, such as `exp(h)`; else `%7`."""
        label = self.recording.label(node)
        if not label.startswith("%") and label != _NOBODY:
            return label
        if (leaf := self.node(node).variable) is not None:
            return self.leaves_written.get(leaf) or f"a tensor ({format_shape(self.recording.tensors[leaf].shape)})"
        return self.expression(self.node(node).place) or label.replace(_NOBODY, f"{self.node(node).op}()")

    def tensor_name(self, tensor: int) -> str:
        """The user's name for a tensor, else the expression that computed it, else its shape."""
        record = self.recording.tensors[tensor]
        name = _called(record)
        if name or record.node is None:
            return name or f"a tensor ({format_shape(record.shape)})"
        return self.name(record.node)

    def ref_name(self, ref: TensorRef) -> str:
        """The user's name for a tensor at a version, else for what it is a view of, else the expression."""
        record = self.recording.tensors[ref.tensor]
        if name := _called(record):
            return name
        if record.base is not None and (base := _called(self.recording.tensors[record.base])):
            return f"a part of {base}"
        number = self.producer.get(ref)
        return self.name(number) if number is not None else self.written.get(ref) or self.tensor_name(ref.tensor)

    def operand_name(self, operand: Operand) -> str:
        """The name of a tensor, or the text of a constant."""
        if operand.ref is None:
            return operand.text
        record = self.recording.tensors[operand.ref.tensor]
        if called := _called(record):
            return called
        node = self.producer.get(operand.ref)
        name = self.name(node) if node is not None else ""
        written = self.written.get(operand.ref, "")
        if not name or name.startswith("%") or written.isidentifier():  # which also says it of one of several results
            name = written or name
        if name:
            return name
        value = self.recording.value(operand.ref)
        return format_value(value, 12) if value is not None and not value.shape else self.tensor_name(record.id)

    @cached_property
    def written(self) -> Mapping[TensorRef, str]:
        """How operands without a name are written in the source, if it is short."""
        return {ref: text for ref, text in written_operands(self.recording).items() if len(text) <= _LONGEST_EXPRESSION}

    @cached_property
    def leaves_written(self) -> Mapping[int, str]:
        """The same for leaves that no variable holds, at any version."""
        return {ref.tensor: text for ref, text in self.written.items()}

    def expression(self, place: Place | None) -> str:
        """The expression at a place, if it is short."""
        text = expression(self.recording, place)
        return text if len(text) <= _LONGEST_EXPRESSION else ""

    def pass_name(self, pass_: int) -> str:
        """`pass 3`, numbered as in the program."""
        return f"pass {self.recording.passes[pass_].index + 1}"

    def root_name(self, pass_: Pass) -> str:
        """The names of the pass's roots: `loss`; without one, its operation: `mse_loss()`."""
        names = [self._root_name(ref.tensor) for ref in pass_.root_tensors if ref is not None]
        if not names:
            names = [self._result_name(root.node) for root in pass_.roots if root.node is not None]
        return join(names) or "the loss"

    def _root_name(self, tensor: int) -> str:
        record = self.recording.tensors[tensor]
        if _called(record) or record.node is None:
            return self.tensor_name(tensor)
        return self._result_name(record.node)

    def _result_name(self, node: int) -> str:
        name = self.name(node)
        return f"{self.node(node).op}()" if name.startswith("%") else name


def _called(record: TensorRecord) -> str:
    """The user's name for a tensor, or an empty string."""
    return next((name for name in record.names if name != _NOBODY), "")
