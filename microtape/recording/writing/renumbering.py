"""Gives the records of one segment the numbers that nodes, tensors and scopes have in the whole recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from microtape.recording.model.model import (
    BackwardStep,
    BorderRecord,
    CallRecord,
    CallStep,
    EdgeRecord,
    FunctionRecord,
    NodeRecord,
    Operand,
    Pass,
    SavedUse,
    TensorRecord,
    TensorRef,
    Variable,
)


@dataclass(frozen=True, slots=True)
class Renumbering:
    """The new number of each old one, and a method for each kind of record that contains numbers."""

    nodes: Sequence[int]
    tensors: Sequence[int]
    scopes: Sequence[int]
    calls: int  # how many calls the segments before have
    shifts: Mapping[int, int]  # by tensor (its old number), what to add to its versions
    starts: Sequence[int]  # by length of the old tape, the length of the new one
    _refs: dict[TensorRef, TensorRef] = field(default_factory=dict)  # records share them
    _edges: dict[EdgeRecord, EdgeRecord] = field(default_factory=dict)

    def node(self, one: NodeRecord) -> NodeRecord:
        """A node."""
        return one._replace(
            id=self.nodes[one.id],
            operands=self._operands(one.operands),
            outputs=tuple(map(self._ref, one.outputs)),
            edges=self._edge_list(one.edges),
            saved=tuple([saved._replace(ref=self._known_ref(saved.ref)) for saved in one.saved]),
            variable=None if one.variable is None else self.tensors[one.variable],
            made_by=None if one.made_by is None else self.nodes[one.made_by],
            scope=None if one.scope is None else self.scopes[one.scope],
        )

    def tensor(self, one: TensorRecord) -> TensorRecord:
        """A tensor."""
        shift = self.shifts.get(one.id, 0)
        return one._replace(
            id=self.tensors[one.id],
            node=None if one.node is None else self.nodes[one.node],
            base=None if one.base is None else self.tensors[one.base],
            values={version + shift: value for version, value in one.values.items()} if shift else one.values,
        )

    def border(self, one: BorderRecord) -> BorderRecord:
        """A border."""
        return one._replace(
            operands=self._operands(one.operands),
            outputs=tuple(map(self._known_ref, one.outputs)),
            tape=self.starts[one.tape],
        )

    def one_pass(self, one: Pass) -> Pass:
        """A pass."""
        nodes = self.nodes
        return one._replace(
            roots=self._edge_list(one.roots),
            root_tensors=tuple(map(self._ref, one.root_tensors)),
            captures=tuple([capture._replace(tensor=self.tensors[capture.tensor]) for capture in one.captures]),
            tape=self.starts[one.tape],
            nodes=tuple(sorted([nodes[node] for node in one.nodes])),
            dependencies={nodes[node]: count for node, count in one.dependencies.items()},
            ready=tuple([nodes[node] for node in one.ready]),
            grads={self.tensors[tensor]: grad for tensor, grad in one.grads.items()},
            steps=tuple(map(self._step, one.steps)),
        )

    def function(self, one: FunctionRecord) -> FunctionRecord:
        """The promises of a Function."""
        return one._replace(
            node=self.nodes[one.node],
            arguments=tuple([argument._replace(value=self._operand(argument.value)) for argument in one.arguments]),
            attributes=self._variables(one.attributes),
        )

    def call(self, one: CallRecord) -> CallRecord:
        """A call."""
        return one._replace(
            id=one.id + self.calls,
            node=None if one.node is None else self.nodes[one.node],
            outer=None if one.outer is None else one.outer + self.calls,
            steps=tuple(map(self._call_step, one.steps)),
        )

    def _call_step(self, one: CallStep) -> CallStep:
        return one._replace(
            operands=self._operands(one.operands),
            outputs=self._operands(one.outputs),
            variables=self._variables(one.variables),
            node=None if one.node is None else self.nodes[one.node],
            inner=one.inner + self.calls if one.kind == "call" and one.inner is not None else one.inner,
        )

    def _variables(self, variables: Iterable[Variable]) -> tuple[Variable, ...]:
        return tuple([one._replace(value=self._operand(one.value)) for one in variables])

    def _step(self, one: BackwardStep) -> BackwardStep:
        return one._replace(
            node=self.nodes[one.node],
            saved=tuple([self._use(use) for use in one.saved]),
            deliveries=tuple([delivery._replace(node=self.nodes[delivery.node]) for delivery in one.deliveries]),
            made=tuple([self.nodes[node] for node in one.made]),
        )

    def _use(self, one: SavedUse) -> SavedUse:
        shift = self.shifts.get(one.ref.tensor, 0)
        return one._replace(ref=self._known_ref(one.ref), version_now=one.version_now + shift)

    def _operands(self, operands: Iterable[Operand]) -> tuple[Operand, ...]:
        return tuple(map(self._operand, operands))

    def _operand(self, one: Operand) -> Operand:
        return one if one.ref is None else Operand(self._known_ref(one.ref), one.text)

    def _edge_list(self, edges: Iterable[EdgeRecord]) -> tuple[EdgeRecord, ...]:
        return tuple([edge if edge.node is None else self._edge(edge) for edge in edges])

    def _edge(self, edge: EdgeRecord) -> EdgeRecord:
        made = self._edges.get(edge)
        if made is None:
            assert edge.node is not None
            made = self._edges[edge] = EdgeRecord(self.nodes[edge.node], edge.input_nr)
        return made

    def _ref(self, ref: TensorRef | None) -> TensorRef | None:
        return None if ref is None else self._known_ref(ref)

    def _known_ref(self, ref: TensorRef) -> TensorRef:
        made = self._refs.get(ref)
        if made is None:
            shift = self.shifts.get(ref.tensor, 0)
            made = self._refs[ref] = TensorRef(self.tensors[ref.tensor], ref.version + shift)
        return made
