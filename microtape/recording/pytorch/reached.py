"""What passes reach of a program's graphs: read while it lives, and put into order when a recording is made.

Note [What is noted, and what is made of it]
  A pass costs the program little, because little happens in it. When it begins, what may be gone afterwards is read
  from each node that it can reach (`Reached`), and each node's hook notes the values that came and went (`StepNotes`).
  All else follows from these notes, at any time: the numbers of nodes and tensors (`Tape`), the sums in the buffers and
  the records of the steps (`PassNotes.record`), the summaries of large arrays (`LaterSummary`). Most passes of a loop
  are forgotten before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.model.model import Value
from microtape.recording.pytorch.graph import NO_EDGE, Graph, NodeEdge, walk
from microtape.recording.pytorch.names import KINDS
from microtape.recording.pytorch.node_text import about_dropped, about_node, dimension_texts
from microtape.recording.pytorch.notes import LEAF, GraphNode, Operation, Origin, SeenTensor, Version
from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.ranges import Ranges
from microtape.recording.pytorch.reading.modes import without_dispatch_modes
from microtape.recording.pytorch.reading.values import shape_and_dtype
from microtape.recording.pytorch.reading.wrapped import levels_inside
from microtape.recording.pytorch.saved import TELLS_HOOKS, PackedRanges, Saved, saved_by
from microtape.recording.pytorch.tape_entries import NodeEntry
from microtape.recording.pytorch.tensors import Tensors, grad_fn_of, tells_history, version_of
from microtape.recording.writing.faults import Faults
from microtape.recording.writing.names.module_names import names_in_frames


class Found(NamedTuple):
    """Nodes that were not known before, in no order."""

    entries: list[NodeEntry]


class Crossed(NamedTuple):
    """A tensor that came out of a border."""

    border: Operation
    output: Version


class Named(NamedTuple):
    """A variable of the program's that holds a tensor."""

    name: str
    seen: SeenTensor


class Reached:
    """What the passes of a segment have reached."""

    def __init__(
        self, tensors: Tensors, operations: Operations, packed: PackedRanges, faults: Faults, makers: Ranges[GraphNode]
    ) -> None:
        self._tensors, self._operations, self._packed, self._faults = tensors, operations, packed, faults
        self._first = next_sequence_nr()  # of the nodes that are recorded while they are made
        self.makers = makers  # by the sequence numbers of what they made in a pass
        self.log: list[Found | Crossed | Named] = []
        self.entries: dict[GraphNode, NodeEntry] = {}
        self.leaves: list[SeenTensor] = []  # that have an AccumulateGrad here
        self.values: Mapping[SeenTensor, dict[int, Value | None]] = {}  # of tensors that went on into another segment

    def walk(self, roots: Iterable[Any], known: Graph | None = None) -> Graph:
        """The graph behind these nodes of torch's, added to the graph `known`."""
        return walk(roots, self._tensors, known)

    def see_outputs(self, graph: Graph, tensors: Iterable[torch.Tensor]) -> None:
        """Read those of the tensors that nodes of this graph computed, if it is not known, before it is adopted."""
        for tensor in tensors:
            grad_fn = grad_fn_of(tensor)
            node = self._tensors.node(grad_fn) if grad_fn is not None else None
            if node is not None and node in graph.nodes and tensor.output_nr not in node.outputs:
                node.outputs[tensor.output_nr] = self._tensors.read(tensor)

    def see_variables(self, graph: Graph, frame: FrameType | None) -> None:
        """Read what nodes from before the recording computed, as far as a variable of the program holds it."""
        first = self._first
        if any(not node.outputs and node.sequence_nr < first for node in graph.nodes):
            self.see_outputs(graph, [tensor for _, tensor in names_in_frames(frame, KINDS)])

    def adopt(self, graph: Graph) -> None:
        """Read what must be read while the nodes of a graph live.

        What the operands came out of is read as well, also behind a border, where no edge leads.
        """
        entries, whole, lost = self.entries, graph, dict[GraphNode, None]()
        outside = self._outside(graph.nodes, whole)
        while outside:
            dropped, alive = self._lost(outside)
            lost.update(dict.fromkeys(dropped))
            wider = self.walk(alive, whole)
            outside = self._outside([one for one in wider.nodes if one not in whole.nodes], wider)
            whole = wider
        for node, tensor in whole.leaves.items():
            node.outputs[0] = self._tensors.read_leaf(tensor, whole.nodes[node])
        with without_dispatch_modes():
            found = [
                self._entry(node, python_node, whole.edges[node])
                for node, python_node in whole.nodes.items()
                if (known := entries.get(node)) is None or known.is_dropped
            ]
        found += [self._dropped(node) for node in lost if node not in whole.nodes]
        if found:
            self.log.append(Found(found))

    def _entry(self, node: GraphNode, python_node: Any, edges: tuple[NodeEdge, ...]) -> NodeEntry:
        """Read what a node has saved, and how many outputs it has."""
        if node.sequence_nr == LEAF:
            return self._leaf(node, edges)
        entry = self.entries[node] = NodeEntry(node, about_node(python_node), edges)
        try:
            if entry.about.saved and (TELLS_HOOKS or node.sequence_nr not in self._packed):
                found = self._saved_by(python_node, entry)
                entry.saved, entry.is_freed = found or (), found is None
            if not node.outputs:
                entry.described = getattr(python_node, "_input_metadata", ())  # since torch 2.5
                entry.dimensions = dimension_texts(python_node, entry.about)
        except Exception as error:
            self._faults.add(f"what {entry.about.name} saved", error)
        return entry

    def _saved_by(self, python_node: Any, entry: NodeEntry) -> list[Saved] | None:
        """What a node has saved; None if it was freed. What has overwritten it is noted."""
        found = saved_by(python_node, entry.about, self._tensors)
        for one in found or ():
            if one.now != one.version:
                self._note_writes(one)
        return found

    def overwritten_since(self, node: GraphNode, python_node: Any) -> Sequence[Saved] | None:
        """What a node that failed has saved, if some of it was overwritten after the node was read."""
        entry = self.entries[node]
        if not entry.saved or any([one.is_overwritten for one in entry.saved]):
            return None
        with without_dispatch_modes():
            found = self._saved_by(python_node, entry) or ()
        return found if any([one.is_overwritten for one in found]) else None

    def _note_writes(self, saved: Saved) -> None:
        """Note the writes without a history into the memory of a saved tensor, after it was saved."""
        for written, version, write in self._operations.writes.into(saved.tensor.base or saved.tensor):
            if version > saved.version:
                self.log.append(Crossed(write, (written, version)))

    def _dropped(self, node: GraphNode) -> NodeEntry:
        edges = edges_of(node.operation) if node.operation is not None else ()
        for to, _ in edges:
            if to is not None and to.sequence_nr == LEAF and to not in self.entries:
                self._leaf(to, ())
        entry = self.entries[node] = NodeEntry(node, about_dropped(node.name), edges)
        entry.is_dropped = True
        return entry

    def _leaf(self, node: GraphNode, edges: tuple[NodeEdge, ...]) -> NodeEntry:
        entry = self.entries[node] = NodeEntry(node, about_dropped("AccumulateGrad"), edges)
        self.leaves.append(node.outputs[0][0])
        return entry

    def _outside(self, nodes: Iterable[GraphNode], graph: Graph) -> list[Origin]:
        """What the operands of these nodes came out of, as far as it is neither in the graph nor known."""
        nodes_here, entries, operation_of = graph.nodes, self.entries, self._operations.operation_of
        found: list[Origin] = []
        met = set[Operation]()  # a call may have made many nodes, mostly one after the other
        last: Operation | None = None
        is_flat = self._operations.has_flat_ranges
        for node in nodes:
            operation = node.operation
            if operation is None:
                if node.sequence_nr == LEAF:
                    continue
                if last is None or not (is_flat and last.start <= node.sequence_nr < last.end):
                    last = operation_of(node.sequence_nr)
                operation = node.operation = last
            if operation is None or operation in met:
                continue
            met.add(operation)
            for i, behind in enumerate(operation.behind):
                if behind is not None and behind not in nodes_here and behind not in entries:
                    found.append(behind)
                    if isinstance(behind, Operation):
                        self.log.append(Crossed(behind, operation.operands[i]))
        return found

    def _lost(self, origins: Iterable[Origin]) -> tuple[list[GraphNode], list[Any]]:
        """The unknown nodes behind these nodes and borders: those that the program has dropped, and torch's others.

        A node is known to live if the program still has a tensor that it computed.
        """
        dropped: dict[GraphNode, None] = {}
        alive: list[Any] = []
        waiting = list(origins)
        seen = set(waiting)
        while waiting:
            one = waiting.pop()
            if isinstance(one, GraphNode):
                if one.sequence_nr == LEAF or one in self.entries:
                    continue
                if (node := self._living(one)) is not None:
                    alive.append(node)
                    continue
                dropped[one] = None
                if one.operation is None:
                    one.operation = self._operations.operation_of(one.sequence_nr)
                one = one.operation
            if one is None:
                continue
            for behind, operand in zip(one.behind, one.operands, strict=True):
                if isinstance(behind, Operation):
                    self.log.append(Crossed(behind, operand))
                if behind is not None and behind not in seen:
                    seen.add(behind)
                    waiting.append(behind)
        return list(dropped), alive

    def _living(self, node: GraphNode) -> Any:
        """torch's own node, if the program has a tensor that it computed."""
        for seen, _ in node.outputs.values():
            tensor = seen.tensor
            grad_fn = grad_fn_of(tensor) if tensor is not None else None
            if grad_fn is not None and self._tensors.node(grad_fn) is node:
                return grad_fn
        return None

    def note_computed(self, gradients: Iterable[tuple[Any, Value | None]]) -> None:
        """Note gradients that nodes have computed which a step has made, and their values."""
        given = [(gradient, value) for gradient, value in gradients if gradient is not None]
        inside = [(one, value) for gradient, value in given for one in levels_inside(gradient)]
        for gradient, value in [*given, *inside]:
            if (grad_fn := grad_fn_of(gradient)) is not None:
                node = self._tensors.node(grad_fn)
                if gradient.output_nr not in node.outputs and gradient.output_nr not in node.inner:
                    seen = SeenTensor(*shape_and_dtype(gradient))
                    seen.requires_grad = True
                    version = seen.latest = version_of(gradient)
                    seen.values[version] = value
                    node.note_inner(gradient.output_nr, seen, version)

    # Names

    def find_names(self, frame: Any, is_numbered: Callable[[SeenTensor], bool]) -> None:
        """Note the user's variables that hold tensors, and the paths of parameters in modules.

        `is_numbered` says whether a tensor is on the tape.
        """
        used = self._tensors.stand_ins()
        for name, tensor in names_in_frames(frame, KINDS):
            if not tells_history(tensor) or tensor.is_meta:  # that has no numbers, and gets no gradient
                continue
            if (leaf := used.get(id(tensor))) is not None:
                self.log.append(Named(name, leaf))
                continue
            seen = self._tensors.find(tensor)
            if seen is None and tensor.is_leaf and tensor.requires_grad:
                seen, _ = self._tensors.read(tensor)
            elif seen is None and tensor.grad_fn is not None:
                known = self._tensors.node(tensor.grad_fn).outputs.get(tensor.output_nr)
                seen = known[0] if known is not None and known[0].tensor is None else None
            if seen is not None:
                seen.requires_grad = tensor.requires_grad  # `requires_grad_` may have changed it
                self._reach(seen, is_numbered)
                self.log.append(Named(name, seen))

    def _reach(self, seen: SeenTensor, is_numbered: Callable[[SeenTensor], bool]) -> None:
        """Read what a tensor came out of."""
        origin: Origin = seen.border
        if seen.border is not None:
            self.log.append(Crossed(seen.border, (seen, seen.latest)))
        else:
            origin = seen.node() if seen.node is not None else None
            if origin is None or origin in self.entries or is_numbered(seen):
                return
        dropped, alive = self._lost([origin])
        self.adopt(self.walk(alive))
        found = [self._dropped(node) for node in dropped if node not in self.entries]
        if found:
            self.log.append(Found(found))


def edges_of(operation: Operation) -> tuple[NodeEdge, ...]:
    """The edges of a node that the program has dropped, from the operands of its operation."""
    return tuple(
        (behind, operand[0].output_nr) if isinstance(behind, GraphNode) else NO_EDGE
        for behind, operand in zip(operation.behind, operation.operands, strict=True)
    )
