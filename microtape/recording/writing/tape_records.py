"""Makes the records of a tape at the end, from the notes taken while the program ran and from the nodes and tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from microtape.basics.call_site import CallSite
from microtape.recording.model.model import EdgeRecord, NodeKind, NodeRecord, Operand, TensorRecord
from microtape.recording.writing.copies import copied
from microtape.recording.writing.names.constant_arguments import parameters
from microtape.recording.writing.names.node_text import About, about, node_hooks, tensor_hooks
from microtape.recording.writing.names.text_names import names_from_text
from microtape.recording.writing.names.variable_names import assignment_target
from microtape.recording.writing.tape import Tape
from microtape.recording.writing.tape_entries import NodeEntry, TensorEntry
from microtape.tape.node import Edge, Node
from microtape.tape.tensor_state import is_leaf, requires_grad


def tape_records(tape: Tape, first: int) -> tuple[tuple[NodeRecord, ...], tuple[TensorRecord, ...]]:
    """The records of the nodes and the tensors of a tape. `first` is the sequence number from which to count."""
    nodes = _NodeRecords(tape, first).records()
    names: Mapping[int, str] = {}
    with tape.faults.noting("the names of tensors that no variable holds"):
        names = names_from_text(nodes, [len(one.outputs) for one in nodes], tape.sources)
    tensors = []
    for entry in tape.tensors:
        try:
            record = _tensor_record(tape, entry, names.get(entry.number))
        except Exception as error:
            tape.faults.add(f"what is known of tensor {entry.number}{_named(entry)} besides its values", error)
            record = _bare_tensor(entry)
        tensors.append(record)
    return nodes, tuple(tensors)


def _named(entry: TensorEntry) -> str:
    return f" ({entry.names[0]})" if entry.names else ""


class _NodeRecords:
    """Makes the records of a tape's nodes; texts and edges that many nodes share are made once."""

    def __init__(self, tape: Tape, first: int) -> None:
        self.tape, self.first = tape, first
        self.edges: dict[Edge, EdgeRecord] = {(None, 0): EdgeRecord(None, 0)}
        self.known: dict[tuple[type[Node], str], About] = {}

    def records(self) -> tuple[NodeRecord, ...]:
        """The records of all nodes, in tape order."""
        records = []
        for number, entry in enumerate(self.tape.nodes):
            try:
                record = self._record(number, entry)
            except Exception as error:
                kind = type(entry.node).__name__
                self.tape.faults.add(f"the line, formula, constants and hooks of %{number} {kind}", error)
                record = self._bare_record(number, entry)
            records.append(record)
        return tuple(records)

    def _bare_record(self, number: int, entry: NodeEntry) -> NodeRecord:
        """A record of a node about which a text cannot be made."""
        node, kind = entry.node, type(entry.node).__name__
        edges = tuple([self.edges.get(edge) or self._edge(edge) for edge in node.next_edges])
        saved = tuple([one for _, one in entry.saved])
        sequence_nr = None if entry.variable is not None else node.sequence_nr - self.first
        return NodeRecord(
            number, kind, kind, cast(NodeKind, node.kind), "", None, sequence_nr, tuple(entry.operands),
            tuple(entry.outputs), edges, saved, entry.variable, entry.in_place, entry.pass_, entry.made_by, (),
            entry.scope,
        )  # fmt: skip

    def _record(self, number: int, entry: NodeEntry) -> NodeRecord:
        node = entry.node
        name, op, formula, constants = entry.about or self._about(node)
        return NodeRecord(
            number,
            name,
            op,
            cast(NodeKind, node.kind),
            formula,
            None if node.code is None else self.tape.sources.place(CallSite(node.code, node.instruction)),
            None if entry.variable is not None else node.sequence_nr - self.first,
            (*entry.operands, *[Operand(None, text) for text in constants]) if constants else tuple(entry.operands),
            tuple(entry.outputs),
            tuple([self.edges.get(edge) or self._edge(edge) for edge in node.next_edges]),
            tuple([saved for _, saved in entry.saved]),
            entry.variable,
            entry.in_place,
            entry.pass_,
            entry.made_by,
            node_hooks(node) if node.hooks is not None else (),
            entry.scope,
        )

    def _about(self, node: Node) -> About:
        key = type(node), node.name()
        known = self.known.get(key)
        if known is None:
            known = about(node)
            kind: Any = type(node)
            if not parameters(kind):
                self.known[key] = known
        return known

    def _edge(self, edge: Edge) -> EdgeRecord:
        node, input_nr = edge
        made = self.edges[edge] = EdgeRecord(None if node is None else self.tape.ids[node], input_nr)
        return made


def _tensor_record(tape: Tape, entry: TensorEntry, name: str | None) -> TensorRecord:
    tensor = entry.tensor
    meta = tensor.meta if tensor is not None else None
    names = tuple(entry.names)
    if not names:
        if tensor is not None and entry.node is None and (place := tape.borders.place_of(tensor, tape.sources)):
            name = assignment_target(place, tape.sources)
        names = (name,) if name is not None else ()
    return TensorRecord(
        entry.number,
        names,
        entry.shape,
        entry.dtype,
        requires_grad(tensor) if tensor is not None else entry.node is not None,
        is_leaf(tensor) if tensor is not None else False,
        entry.node,
        entry.output_nr,
        entry.base,
        meta is not None and meta.retains_grad,
        tensor_hooks(tensor) if tensor is not None else (),
        entry.values,
        copied(meta.grad) if meta is not None else None,
    )


def _bare_tensor(entry: TensorEntry) -> TensorRecord:
    """A record of a tensor whose names, hooks or gradient cannot be read."""
    return TensorRecord(
        entry.number, tuple(entry.names), entry.shape, entry.dtype, entry.node is not None, False, entry.node,
        entry.output_nr, entry.base, False, (), entry.values,
    )  # fmt: skip
