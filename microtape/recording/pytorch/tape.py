"""The nodes and tensors of a part of a PyTorch program, numbered in the order of the tape.

Everything about a node that is needed later is read when a pass begins: afterwards the node may be gone.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import accumulate
from typing import Any

import torch

from microtape.basics.scope import Scope
from microtape.recording.model.model import BorderRecord, Operand, ScopeRecord, TensorRef, Value
from microtape.recording.pytorch.names import KINDS
from microtape.recording.pytorch.node_text import about_dropped, about_node
from microtape.recording.pytorch.notes import LEAF, GraphNode, Operation, Origin, SeenTensor, Version
from microtape.recording.pytorch.operations import Operations
from microtape.recording.pytorch.reading.values import shape_and_dtype
from microtape.recording.pytorch.saved import TELLS_HOOKS, PackedRanges, saved_by
from microtape.recording.pytorch.tape_entries import Graph, NodeEdge, NodeEntry, TensorEntry, walk
from microtape.recording.pytorch.tensors import Tensors, tells_history, version_of
from microtape.recording.writing.faults import Faults
from microtape.recording.writing.module_names import names_in_frames
from microtape.recording.writing.sources import Sources


class Tape:
    """Numbers nodes and tensors in the order in which passes reach them."""

    def __init__(
        self, sources: Sources, faults: Faults, tensors: Tensors, operations: Operations, packed: PackedRanges
    ) -> None:
        self._packed = packed
        self.sources, self.faults, self._tensors, self._operations = sources, faults, tensors, operations
        self.nodes: list[NodeEntry] = []
        self.tensors: list[TensorEntry] = []
        self.ids: dict[GraphNode, int] = {}
        self.freed: list[int] = []
        self.scopes: list[ScopeRecord] = []
        self._made: list[tuple[int, int, int, int]] = []  # (first number, end, pass, node): made by backward
        self._made_until: list[int] = []
        self._scope_ids: dict[Scope, int] = {}
        self._numbers: dict[SeenTensor, TensorEntry] = {}
        self._described: dict[tuple[GraphNode, int], tuple[tuple[int, ...], str]] = {}  # shape and dtype of outputs
        self._borders: dict[Operation, list[Version]] = {}

    # Nodes

    def walk(self, roots: Iterable[Any], known: Graph | None = None) -> Graph:
        """The graph behind these nodes of torch's, added to the graph `known`."""
        return walk(roots, self._tensors, known)

    def see_outputs(self, graph: Graph, tensors: Iterable[torch.Tensor]) -> None:
        """Read those of the tensors that nodes of this graph computed, if it is not known, before it is adopted."""
        for tensor in tensors:
            node = self._tensors.node(tensor.grad_fn) if tensor.grad_fn is not None else None
            if node is not None and node in graph.nodes and tensor.output_nr not in node.outputs:
                node.outputs[tensor.output_nr] = self._tensors.read(tensor)

    def adopt(self, graph: Graph) -> None:
        """Number the nodes of a graph in tape order, and note what must be read while they live.

        What the operands came out of is numbered as well, also behind a border, where no edge leads.
        """
        for node in graph.nodes:
            if (known := self.ids.get(node)) is not None and self.nodes[known].is_dropped:
                self._forget(node, known)
        whole, lost = graph, dict[GraphNode, None]()
        outside = self._outside(graph.nodes, whole)
        while outside:
            dropped, alive = self._lost(outside)
            lost.update(dict.fromkeys(dropped))
            wider = self.walk(alive, whole)
            outside = self._outside([one for one in wider.nodes if one not in whole.nodes], wider)
            whole = wider
        for node, tensor in whole.leaves.items():
            node.outputs[0] = self._tensors.read(tensor)
        unknown = [one for one in (*whole.nodes, *lost) if one.sequence_nr != LEAF and one not in self.ids]
        for node in sorted(unknown, key=_sequence_nr):
            self._number_with_those_behind(node, whole)
        for node in whole.leaves:
            self._number_leaf(node)

    def _outside(self, nodes: Iterable[GraphNode], graph: Graph) -> list[Origin]:
        """What the operands of these nodes came out of, as far as it is neither in the graph nor on the tape."""
        known, operation_of = graph.nodes, self._operations.operation_of
        found: list[Origin] = []
        for node in nodes:
            if node.operation is None and node.sequence_nr != LEAF:
                node.operation = operation_of(node.sequence_nr)
            if node.operation is not None:
                for behind, operand in zip(node.operation.behind, node.operation.operands, strict=True):
                    if behind is not None and behind not in known and behind not in self.ids:
                        found.append(behind)
                        if isinstance(behind, Operation):
                            self._note_border(behind, operand)
        return found

    def _forget(self, node: GraphNode, number: int) -> None:
        """Number a node again that was taken for dropped: now its edges are known."""
        self.nodes[number].node = GraphNode(node.name, node.sequence_nr)
        del self.ids[node]

    def _number_with_those_behind(self, node: GraphNode, graph: Graph) -> None:
        """Number a node, but first those that its gradients go to: another thread has sequence numbers of its own."""
        waiting = [node]
        while waiting:
            one = waiting[-1]
            edges = graph.edges[one] if one in graph.edges else _edges_of(one.operation) if one.operation else ()
            before = [to for to, _ in edges if to is not None and to not in self.ids and to.sequence_nr != LEAF]
            if before:
                waiting += before
            else:
                self._number_operation(waiting.pop(), graph)

    def _number_operation(self, node: GraphNode, graph: Graph) -> None:
        if node in self.ids:
            return
        python_node = graph.nodes.get(node)
        operation: Operation | None = node.operation
        if python_node is not None:
            entry = NodeEntry(node, about_node(python_node))
            entry.edges = graph.edges[node]
        else:
            entry = NodeEntry(node, about_dropped(node.name))
            entry.is_dropped = True
            entry.edges = _edges_of(operation) if operation is not None else ()
            entry.output_count = max(node.outputs, default=-1) + 1
        for to, _ in entry.edges:
            if to is not None and to.sequence_nr == LEAF and to not in self.ids:
                self._number_leaf(to)
        number = self._put(entry)
        if python_node is not None:
            try:
                self._read(entry, python_node, number)
            except Exception as error:
                self.faults.add(f"what %{number} {entry.about.name} saved", error)
        for output_nr, (seen, version) in node.outputs.items():
            tensor = self._entry(seen)
            tensor.node, tensor.output_nr = number, output_nr
            if version > seen.latest:
                seen.latest = version
        entry.pass_, entry.made_by = self._maker_of(node.sequence_nr)
        if operation is not None:
            for seen, _ in operation.operands:  # so that they can have names
                self._entry(seen)
            if operation.scope is not None:
                entry.scope = self._scope(operation.scope)

    def _read(self, entry: NodeEntry, python_node: Any, number: int) -> None:
        """Read what the node saved, and how many outputs it has."""
        if entry.about.saved and (TELLS_HOOKS or entry.node.sequence_nr not in self._packed):
            found = saved_by(python_node, entry.about, self._tensors)
            names = entry.node.inside.saved if entry.node.inside is not None else {}
            entry.saved = tuple([
                one._replace(name=names[i]) if (i := _position(one.name)) in names else one for one in found.tensors
            ]) if names else found.tensors  # fmt: skip
            for one in found.tensors:
                self._entry(one.tensor)
            if found.freed:
                self.freed.append(number)
        outputs = entry.node.outputs
        if outputs:
            entry.output_count = max(outputs) + 1 if len(outputs) > 1 or 0 not in outputs else 1
            if entry.operation is not None and entry.operation.outputs > entry.output_count and entry.is_alone:
                entry.output_count = entry.operation.outputs
            return
        entry.output_count = 1
        metadata = getattr(python_node, "_input_metadata", None)
        if metadata is not None:  # since torch 2.9
            entry.output_count = len(metadata)
            for output_nr, one in enumerate(metadata):
                with contextlib.suppress(Exception):
                    self._described[entry.node, output_nr] = shape_and_dtype(one)

    def note_made(self, first: int, end: int, pass_: int, maker: int) -> None:
        """Note that a step of a pass has made the nodes with these sequence numbers."""
        self._made.append((first, end, pass_, maker))
        self._made_until.append(end)

    def note_computed(self, gradients: Iterable[tuple[Any, Value | None]]) -> None:
        """Note gradients that nodes have computed which a step has made, and their values."""
        for gradient, value in gradients:
            if gradient is not None and gradient.grad_fn is not None:
                node = self._tensors.node(gradient.grad_fn)
                if gradient.output_nr not in node.outputs and gradient.output_nr not in node.inner:
                    seen = SeenTensor(*shape_and_dtype(gradient))
                    seen.requires_grad = True
                    version = seen.latest = version_of(gradient)
                    seen.values[version] = value
                    node.inner[gradient.output_nr] = seen, version

    def _maker_of(self, sequence_nr: int) -> tuple[int | None, int | None]:
        """The pass and the node that made a node; None for the program's own forward."""
        position = bisect_right(self._made_until, sequence_nr)
        if position < len(self._made):
            first, _, pass_, maker = self._made[position]
            if first <= sequence_nr:
                return pass_, maker
        return None, None

    def _number_leaf(self, node: GraphNode) -> None:
        if node in self.ids:
            return
        entry = NodeEntry(node, about_dropped("AccumulateGrad"))
        entry.variable = self._entry(node.outputs[0][0]).number
        number = self._put(entry)
        self.tensors[entry.variable].node = number

    def _put(self, entry: NodeEntry) -> int:
        number = self.ids[entry.node] = len(self.nodes)
        self.nodes.append(entry)
        return number

    def _lost(self, origins: Iterable[Origin]) -> tuple[list[GraphNode], list[Any]]:
        """The unnumbered nodes behind these nodes and borders: those that the program has dropped, and torch's others.

        A node is known to live if the program still has a tensor that it computed.
        """
        dropped: dict[GraphNode, None] = {}
        alive: list[Any] = []
        waiting = list(origins)
        seen = set(waiting)
        while waiting:
            one = waiting.pop()
            if isinstance(one, GraphNode):
                if one.sequence_nr == LEAF or one in self.ids:
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
                    self._note_border(behind, operand)
                if behind is not None and behind not in seen:
                    seen.add(behind)
                    waiting.append(behind)
        return list(dropped), alive

    def _living(self, node: GraphNode) -> Any:
        """torch's own node, if the program has a tensor that it computed."""
        for seen, _ in node.outputs.values():
            tensor = seen.tensor
            grad_fn = tensor.grad_fn if tensor is not None and tells_history(tensor) else None
            if grad_fn is not None and self._tensors.node(grad_fn) is node:
                return grad_fn
        return None

    def _note_border(self, border: Operation, output: Version) -> None:
        outputs = self._borders.setdefault(border, [])
        if output not in outputs:
            outputs.append(output)

    def _scope(self, scope: Scope) -> int:
        """The scope's number; the enclosing scopes have smaller numbers."""
        known = self._scope_ids.get(scope)
        if known is None:
            outer = self._scope(scope.outer) if scope.outer is not None else None
            known = self._scope_ids[scope] = len(self.scopes)
            self.scopes.append(ScopeRecord(known, scope.name, outer))
        return known

    @property
    def scope_objects(self) -> tuple[Scope, ...]:
        """The scopes, by number."""
        return tuple(self._scope_ids)

    # Tensors

    def _entry(self, seen: SeenTensor) -> TensorEntry:
        entry = self._numbers.get(seen)
        if entry is None:
            entry = self._numbers[seen] = TensorEntry(len(self.tensors), seen)
            self.tensors.append(entry)
            if seen.base is not None:
                self._entry(seen.base)
        return entry

    def ref(self, version: Version) -> TensorRef:
        """A tensor at a version."""
        return TensorRef(self._entry(version[0]).number, version[1])

    def ref_with(self, seen: SeenTensor, version: int, value: Value | None) -> TensorRef:
        """A tensor at a version whose value is known."""
        entry = self._entry(seen)
        if value is not None:
            entry.values.setdefault(version, value)
        return TensorRef(entry.number, version)

    def ref_of(self, tensor: torch.Tensor) -> TensorRef:
        """A tensor as it is now."""
        return self.ref(self._tensors.read(tensor))

    def output(self, node: GraphNode, output_nr: int) -> TensorRef | None:
        """What a node computed, if it is known."""
        known = node.outputs.get(output_nr) or node.inner.get(output_nr)
        if known is None:
            described = self._described.get((node, output_nr))
            if described is None:
                return None
            known = node.inner[output_nr] = SeenTensor(*described), 0
            known[0].requires_grad = True
        entry = self._entry(known[0])
        if entry.node is None:
            entry.node, entry.output_nr = self.ids.get(node), output_nr
        return self.ref(known)

    def value_of(self, ref: TensorRef) -> Value | None:
        """The value of a tensor at a version."""
        return self.tensors[ref.tensor].values.get(ref.version)

    def value(self, tensor: torch.Tensor | None) -> Value | None:
        """The value of a gradient, as it is now."""
        found = self._tensors.value(tensor)
        self._tensors.values.clear()
        return found

    def number_of(self, seen: SeenTensor) -> int | None:
        """The tensor's number; None if it is not on the tape."""
        entry = self._numbers.get(seen)
        return entry.number if entry is not None else None

    @property
    def first_sequence_nr(self) -> int | None:
        """The lowest sequence number of its nodes; None without nodes."""
        return min([one.node.sequence_nr for one in self.nodes if one.variable is None], default=None)

    # Names

    def find_names(self, frame: Any) -> None:
        """Note the user's variables that hold tensors, and the paths of parameters in modules."""
        for name, tensor in names_in_frames(frame, KINDS):
            if not tells_history(tensor):
                continue
            seen = self._tensors.find(tensor)
            is_leaf = tensor.is_leaf and tensor.requires_grad
            if seen is None and is_leaf:
                seen, _ = self._tensors.read(tensor)
            elif seen is None and tensor.grad_fn is not None:
                known = self._tensors.node(tensor.grad_fn).outputs.get(tensor.output_nr)
                seen = known[0] if known is not None and known[0].tensor is None else None
            if seen is not None:
                seen.requires_grad = tensor.requires_grad  # `requires_grad_` may have changed it
            if seen is None or (seen not in self._numbers and not is_leaf and seen.border is None and not seen.node):
                continue
            if seen.border is not None:
                self._note_border(seen.border, (seen, seen.latest))
                self._adopt_lost(seen.border)
            elif seen not in self._numbers and seen.node is not None and (node := seen.node()) is not None:
                self._adopt_lost(node)
            entry = self._entry(seen)
            if name not in entry.names:
                entry.names.append(name)

    def _adopt_lost(self, origin: Origin) -> None:
        """Number what a tensor came out of."""
        dropped, alive = self._lost([origin])
        self.adopt(self.walk(alive))
        nothing = Graph({}, {}, {}, {})
        for node in sorted(dropped, key=_sequence_nr):
            self._number_operation(node, nothing)

    # Borders

    def border_records(self, matters: Callable[[int], bool]) -> tuple[BorderRecord, ...]:
        """The places where the history of a tensor on the tape ends."""
        return tuple(self._border_records())

    def _border_records(self) -> Iterator[BorderRecord]:
        numbered = sorted([(one.node.sequence_nr, i + 1) for i, one in enumerate(self.nodes)])
        lengths = [0, *accumulate([length for _, length in numbered], max)]
        for one, outputs in sorted(self._borders.items(), key=lambda item: item[0].start):
            if not outputs or one.kind is None:
                continue
            yield BorderRecord(
                kind=one.kind,
                op=one.word,
                place=self.sources.place(one.site) if one.site is not None else None,
                operands=(
                    *[Operand(self.ref(operand), "") for operand in one.operands],
                    *[Operand(None, text) for text in one.constants],
                ),
                outputs=tuple(map(self.ref, outputs)),
                in_place=one.in_place,
                tape=lengths[bisect_left(numbered, (one.end, 0))],  # how long it was at that number
            )

    @property
    def objects(self) -> Collection[int]:
        """None: here a border matters by what is numbered, see `_note_border`."""
        return ()

    @property
    def leaves(self) -> list[SeenTensor]:
        """The leaves that have an AccumulateGrad on the tape."""
        return [self.tensors[one.variable].seen for one in self.nodes if one.variable is not None]


def _sequence_nr(node: GraphNode) -> int:
    return node.sequence_nr


def _edges_of(operation: Operation) -> tuple[NodeEdge, ...]:
    """The edges of a node that the program has dropped, from the operands of its operation."""
    return tuple(
        (behind, operand[0].output_nr) if isinstance(behind, GraphNode) else (None, 0)
        for behind, operand in zip(operation.behind, operation.operands, strict=True)
    )


def _position(name: str) -> int:
    """The position of a saved tensor of a Function, from `saved_tensors[2]`."""
    return int(name.partition("[")[2].rstrip("]") or 0)
