"""The nodes and tensors that a recorder has seen, numbered in the order of the tape."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from microtape.node import AccumulateGrad, Edge, Node
from microtape.packed_tensor import PackedTensor
from microtape.recording.borders import Borders
from microtape.recording.constants import constants_of, shortened
from microtape.recording.model import (
    BorderRecord,
    EdgeRecord,
    NodeKind,
    NodeRecord,
    Operand,
    SavedRecord,
    ScopeRecord,
    TensorRecord,
    TensorRef,
    Value,
)
from microtape.recording.names import assignment_target, tensors_in_frames
from microtape.recording.order import in_tape_order
from microtape.recording.places import Sources
from microtape.recording.scope import Scope, open_scopes
from microtape.saved import SavedTensor, saved_version, short_name
from microtape.tensor_state import TensorState, edge_of, is_leaf, requires_grad, version_number


class _TensorEntry:
    """A tensor as far as it is known; an output that nobody kept has no object."""

    def __init__(self, number: int, shape: tuple[int, ...], dtype: str) -> None:
        self.number = number
        self.shape, self.dtype = shape, dtype
        self.objects: list[TensorState] = []  # the tensor, and copies of it that backward has unpacked
        self.names: list[str] = []
        self.node: int | None = None
        self.output_nr = 0
        self.base: int | None = None
        self.values: dict[int, Value] = {}

    @property
    def tensor(self) -> TensorState | None:
        """The tensor itself, None for an output that nobody kept."""
        return self.objects[0] if self.objects else None


class Tape:
    """Numbers nodes and tensors as they come, and turns them into records at the end."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.nodes: list[NodeRecord] = []
        self._ids: dict[Node, int] = {}  # holds the nodes: their identity must not be used again
        self._tensors: list[_TensorEntry] = []
        self._by_object: dict[int, _TensorEntry] = {}
        self._by_edge: dict[tuple[int, int], TensorRef] = {}
        self.scopes: list[ScopeRecord] = []
        self._scope_ids: dict[Scope, int] = {}
        self.borders = Borders()
        self.freed: list[int] = []  # adopted when what they had saved was gone already

    # Nodes

    def id_of(self, node: Node) -> int:
        """The number of a node that has been added or adopted."""
        return self._ids[node]

    def ids_of(self, nodes: Iterable[Node]) -> tuple[int, ...]:
        """The numbers of nodes that have been added or adopted."""
        return tuple(map(self._ids.__getitem__, nodes))

    def has(self, node: Node) -> bool:
        """Whether the node is on the tape."""
        return node in self._ids

    def add(
        self,
        node: Node,
        operands: Sequence[Any],
        outputs: Sequence[Any],
        in_place: bool,
        pass_: int | None,
        made_by: int | None,
    ) -> int:
        """Write down an operation at the moment of its recording."""
        self.adopt([edge[0] for edge in node.next_edges if edge[0] is not None])
        written = outputs[0] if in_place else None
        before = TensorRef(self._entry(written).number, version_number(written) - 1) if written is not None else None
        records = []
        for i, operand in enumerate(operands):
            if before is not None and (operand is written or (i == 0 and node.kind != "function")):
                if node.kind == "operation":  # the operand is a copy of what was there before
                    self._tensors[before.tensor].values.setdefault(before.version, _frozen(operand.array))
                records.append(Operand(before, ""))
            else:
                records.append(self._operand(operand))
        number = self._append(node, tuple(records), outputs, in_place, pass_, made_by)
        if open_scopes.innermost is not None:
            self.nodes[number] = self.nodes[number]._replace(scope=self._scope(open_scopes.innermost))
        return number

    def _scope(self, scope: Scope) -> int:
        """The scope's number; those that it was entered from come before it."""
        unknown: list[Scope] = []
        outer: Scope | None = scope
        while outer is not None and outer not in self._scope_ids:
            unknown.append(outer)
            outer = outer.outer
        for one in reversed(unknown):
            before = None if one.outer is None else self._scope_ids[one.outer]
            number = self._scope_ids[one] = len(self.scopes)
            self.scopes.append(ScopeRecord(number, one.name, before))
        return self._scope_ids[scope]

    def _operand(self, operand: Any) -> Operand:
        if isinstance(operand, TensorState):
            return Operand(self.ref(operand), "")
        return Operand(None, shortened(repr(operand)))

    def _append(
        self,
        node: Node,
        operands: tuple[Operand, ...],
        outputs: Sequence[Any],
        in_place: bool = False,
        pass_: int | None = None,
        made_by: int | None = None,
    ) -> int:
        number = self._ids.setdefault(
            node, len(self.nodes)
        )  # it may have been adopted a moment ago, as another's history
        variable = None
        if isinstance(node, AccumulateGrad):
            variable = self.ref(node.variable).tensor
            self._tensors[variable].node = number
        refs = tuple([self.ref(output) if isinstance(output, TensorState) else None for output in outputs])
        for output_nr, ref in enumerate(refs):
            if ref is not None:
                self._by_edge[number, output_nr] = ref
                entry = self._tensors[ref.tensor]
                entry.node, entry.output_nr = number, output_nr
        site = node.call_site
        record = NodeRecord(
            id=number,
            name=node.name().rpartition("::")[2],
            op=op_of(node),
            kind=cast(NodeKind, node.kind),
            formula=formula_of(node),
            place=self.sources.place(site) if site is not None else None,
            sequence_nr=None if variable is not None else node.sequence_nr,
            operands=operands + tuple([Operand(None, text) for text in constants_of(inner(node))]),
            outputs=refs,
            edges=tuple([self._edge(edge) for edge in node.next_edges]),
            saved=self._saved(node),
            variable=variable,
            in_place=in_place,
            pass_=pass_,
            made_by=made_by,
            hooks=(),
        )
        self.nodes[number : number + 1] = [record]
        return number

    def _edge(self, edge: Edge) -> EdgeRecord:
        return EdgeRecord(None if edge[0] is None else self._ids[edge[0]], edge[1])

    def adopt(self, nodes: Iterable[Node]) -> None:
        """Number nodes that were recorded before we watched, and all that they lead to, in tape order."""
        unknown = list(dict.fromkeys(node for node in nodes if node not in self._ids))
        if not unknown:
            return
        seen = set(unknown)
        stack = list(unknown)
        while stack:
            for node, _ in stack.pop().next_edges:
                if node is not None and node not in seen and node not in self._ids:
                    seen.add(node)
                    stack.append(node)
        for node in in_tape_order([one for one in seen if one.kind != "accumulate"]):
            for following, _ in node.next_edges:
                if following is not None and following not in self._ids:
                    self._append(following, (), ())
            self._adopt_operation(node)
        for node in unknown:
            if node not in self._ids:  # a leaf's
                self._append(node, (), ())

    def _adopt_operation(self, node: Node) -> None:
        """An operation whose call was not seen: operands and outputs as far as the graph still knows them."""
        known = _saved_inputs(node)
        operands = []
        for i, edge in enumerate(node.next_edges):
            if i in known:
                operands.append(Operand(self.ref(known[i]), ""))
            elif edge[0] is None:
                operands.append(Operand(None, "constant"))
            else:
                operands.append(Operand(self._output_of(self._ids[edge[0]], edge), ""))
        number = self._append(node, tuple(operands), ())
        if inner(node).saved is None:
            self.freed.append(number)
        outputs: list[TensorRef | None] = []
        for output_nr in range(node.output_count):
            shape, dtype = node.output_spec(output_nr)
            if shape is None:
                outputs.append(None)
                continue
            entry = self._new_entry(tuple(shape), dtype_name(dtype))
            entry.node, entry.output_nr = number, output_nr
            outputs.append(TensorRef(entry.number, 0))
            self._by_edge[number, output_nr] = TensorRef(entry.number, 0)
        for item in node.saved or ():
            if isinstance(item, SavedTensor):
                ref = outputs[item.output_nr]
                assert ref is not None
                self._tensors[ref.tensor].values.setdefault(version_number(item), _frozen(item.array))
        self.nodes[number] = self.nodes[number]._replace(outputs=tuple(outputs), saved=self._saved(node))

    def _output_of(self, number: int, edge: Edge) -> TensorRef | None:
        variable = self.nodes[number].variable
        if variable is not None:
            assert isinstance(edge[0], AccumulateGrad)
            return self.ref(edge[0].variable)
        return self._by_edge.get((number, edge[1]))

    def adopt_tensor(self, tensor: TensorState) -> TensorRef:
        """A tensor and the graph behind it."""
        if requires_grad(tensor):
            node, output_nr = edge_of(tensor)
            assert node is not None
            self.adopt([node])
            known = self._by_edge.get((self._ids[node], output_nr))
            if known is not None and self._tensors[known.tensor].tensor is None:
                self._bind(self._tensors[known.tensor], tensor)
        return self.ref(tensor)

    def _saved(self, node: Node) -> tuple[SavedRecord, ...]:
        function = inner(node)
        records = []
        for i, item in enumerate(function.saved or ()):
            if item is None or isinstance(item, PackedTensor):  # what was packed before we watched is not known
                continue
            if isinstance(item, SavedTensor):
                ref = self._by_edge.get((self._ids[node], item.output_nr))
                if ref is None:
                    continue
                number = ref.tensor
            else:
                number = self.ref(item).tensor
            records.append(SavedRecord(function.saved_names[i], TensorRef(number, saved_version(function, i))))
        return tuple(records)

    def saved_of(self, node: Node) -> tuple[SavedRecord, ...]:
        """What a node saved, as it was recorded."""
        return self.nodes[self._ids[node]].saved

    # Tensors

    def ref(self, tensor: TensorState) -> TensorRef:
        """The tensor at its present version; its value is copied if this version has not been seen."""
        entry = self._entry(tensor)
        version = version_number(tensor)
        if version not in entry.values:
            entry.values[version] = _frozen(tensor.array)
        return TensorRef(entry.number, version)

    def _entry(self, tensor: TensorState) -> _TensorEntry:
        entry = self._by_object.get(id(tensor))
        if entry is not None:
            return entry
        if tensor.edge is not None and tensor.edge[0] in self._ids:
            entry = self._output_known_as(tensor)
        if entry is None:
            entry = self._new_entry(tensor.array.shape, dtype_name(tensor.array.dtype))
        self._bind(entry, tensor)
        return entry

    def same(self, known: TensorState, tensor: TensorState) -> None:
        """Both are one to the user."""
        self._bind(self._entry(known), tensor)

    def _output_known_as(self, tensor: TensorState) -> _TensorEntry | None:
        """The entry of the same output, if nobody kept it, or if `tensor` is what backward made of it again."""
        assert tensor.edge is not None
        known = self._by_edge.get((self._ids[tensor.edge[0]], tensor.edge[1]))  # type: ignore[index]
        entry = self._tensors[known.tensor] if known is not None else None
        if entry is None or entry.tensor is None or entry.tensor.array is tensor.array:
            return entry
        return None

    def _new_entry(self, shape: tuple[int, ...], dtype: str) -> _TensorEntry:
        entry = _TensorEntry(len(self._tensors), shape, dtype)
        self._tensors.append(entry)
        return entry

    def _bind(self, entry: _TensorEntry, tensor: TensorState) -> None:
        entry.objects.append(tensor)
        self._by_object[id(tensor)] = entry
        view = tensor.meta.view if tensor.meta is not None else None
        if view is not None:
            entry.base = self._entry(view.base).number

    def value_of(self, ref: TensorRef) -> Value | None:
        """The copied value of a tensor at a version."""
        return self._tensors[ref.tensor].values.get(ref.version)

    def grad_of(self, node: Node) -> Value | None:
        """The `.grad` of an AccumulateGrad's leaf now."""
        if not isinstance(node, AccumulateGrad):
            return None
        meta = node.variable.meta
        return copied(meta.grad) if meta is not None else None

    def leaf_grads(self, numbers: Iterable[int]) -> dict[int, Value]:
        """The `.grad` of each leaf among these nodes that has one, by tensor."""
        grads: dict[int, Value] = {}
        for number in numbers:
            variable = self.nodes[number].variable
            if variable is None:
                continue
            tensor = self._tensors[variable].tensor
            value = copied(tensor.meta.grad) if tensor is not None and tensor.meta is not None else None
            if value is not None:
                grads[variable] = value
        return grads

    # Names

    def find_names(self, frame: Any) -> None:
        """Look for the user's variables that hold the tensors, from the innermost frame outwards."""
        for name, tensor in tensors_in_frames(frame):
            entry = self._by_object.get(id(tensor))
            if entry is None and tensor in self.borders:
                entry = self._entry(tensor)
            elif entry is None and tensor.edge is not None:
                known = (
                    self._by_edge.get((self._ids.get(tensor.edge[0], -1), tensor.edge[1])) if tensor.edge[0] else None
                )
                if known is not None and self._tensors[known.tensor].tensor is None:
                    entry = self._entry(tensor)
                    self.ref(tensor)
            if entry is not None and name not in entry.names:
                entry.names.append(name)

    # At the end

    def border_records(self) -> tuple[BorderRecord, ...]:
        """Where history ended on the way to what is on the tape, or to what the user has a name for."""

        def ref(tensor: TensorState, version: int) -> TensorRef:
            return TensorRef(self._entry(tensor).number, version)

        return self.borders.records(self._by_object, self._operand, ref, self.sources)

    def records(self) -> tuple[tuple[NodeRecord, ...], tuple[TensorRecord, ...]]:
        """The nodes and the tensors as data."""
        by_id = {number: node for node, number in self._ids.items()}
        first = min([record.sequence_nr for record in self.nodes if record.sequence_nr is not None], default=0)
        nodes = tuple(
            record._replace(
                hooks=node_hooks(by_id[record.id]),
                sequence_nr=None if record.sequence_nr is None else record.sequence_nr - first,
            )
            for record in self.nodes
        )
        inner = self._inner()
        return nodes, tuple(self._tensor_record(entry, inner) for entry in self._tensors)

    def _inner(self) -> set[int | None]:
        """Nodes whose result another operation of the same call took in, as in `loss = cross_entropy(...)`.

        An operation that takes in its own result, as in a loop of `h = w * h`, is not one of them.
        """
        return {
            edge.node
            for record in self.nodes
            for edge in record.edges
            if edge.node is not None and record.place is not None
            if self.nodes[edge.node].place == record.place and self.nodes[edge.node].op != record.op
        }

    def _tensor_record(self, entry: _TensorEntry, inner: set[int | None]) -> TensorRecord:
        tensor = entry.tensor
        names = list(entry.names)
        if not names and entry.node is not None:
            is_value = len(self.nodes[entry.node].outputs) == 1 and entry.node not in inner
            place = self.nodes[entry.node].place if is_value else None
        else:
            place = self.borders.place_of(tensor, self.sources) if not names and tensor is not None else None
        target = assignment_target(place, self.sources) if place is not None else None
        if target is not None:
            names.append(target)
        return TensorRecord(
            id=entry.number,
            names=tuple(names),
            shape=entry.shape,
            dtype=entry.dtype,
            requires_grad=requires_grad(tensor) if tensor is not None else entry.node is not None,
            is_leaf=is_leaf(tensor) if tensor is not None else False,
            node=entry.node,
            output_nr=entry.output_nr,
            base=entry.base,
            retains_grad=tensor is not None and tensor.meta is not None and tensor.meta.retains_grad,
            hooks=tensor_hooks(tensor) if tensor is not None else (),
            values=entry.values,
            grad=copied(tensor.meta.grad) if tensor is not None and tensor.meta is not None else None,
        )


def inner(node: Node) -> Node:
    """The node that holds what was saved: a CopySlices keeps its operation's node inside."""
    function = getattr(node, "function", node)
    return function if isinstance(function, Node) else node


def _saved_inputs(node: Node) -> Mapping[int, TensorState]:
    """The operands that can be had from what the node saved, by position."""
    if node.kind == "copy_slices":
        return {}
    return {
        source: item
        for source, item in zip(node.sources, node.saved or (), strict=False)
        if source >= 0 and isinstance(item, TensorState)
    }


def op_of(node: Node) -> str:
    """A short word for the operation."""
    if node.kind == "accumulate":
        return "accumulate"
    if node.kind == "function":
        return node.name().removesuffix("Backward")
    if node.kind == "copy_slices":
        return f"{op_of(inner(node))} into view"
    return str(getattr(node, "op", "") or short_name(node).rpartition("::")[2])


def formula_of(node: Node) -> str:
    """The node's one-line formula; for a write into a view, the operation's."""
    return inner(node).formula if node.kind == "copy_slices" else node.formula


@functools.cache
def dtype_name(dtype: Any) -> str:
    """The dtype's name; numpy takes its time to make it up."""
    return str(dtype)


def hook_name(hook: Any) -> str:
    """What to call a hook."""
    return str(getattr(hook, "__qualname__", None) or type(hook).__qualname__)


def node_hooks(node: Node) -> tuple[str, ...]:
    """The names of a node's pre- and post-hooks."""
    if node.hooks is None:
        return ()
    return tuple(hook_name(hook) for hook in (*node.hooks.pre.values(), *node.hooks.post.values()))


def tensor_hooks(tensor: TensorState) -> tuple[str, ...]:
    """The names of the hooks registered on a tensor."""
    if not requires_grad(tensor):
        return ()
    if tensor.edge is None and tensor.meta is not None and tensor.meta.view is None:
        hooks, output_nr = tensor.meta.hooks, 0
    else:
        node, output_nr = edge_of(tensor)
        hooks = node.hooks if node is not None else None
    if hooks is None:
        return ()
    return tuple(
        hook_name(hook) for hook in (*hooks.tensor.get(output_nr, {}).values(), *hooks.post_accumulate.values())
    )


def copied(value: Any) -> Value | None:
    """A read-only copy of an array or of a Tensor's array."""
    if value is None:
        return None
    return _frozen(value.array if isinstance(value, TensorState) else value)


def _frozen(array: Any) -> Value:
    copy: npt.NDArray[Any] = np.array(array)
    copy.flags.writeable = False
    return copy
