"""The nodes and tensors that a recorder has seen, numbered in the order of the tape.

While the program runs, only facts that would be lost are noted: which tensors at which versions, and copies of their
arrays. What stays on the nodes is read at the end, in `tape_records`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeAlias

from microtape.basics.scope import open_scopes
from microtape.recording.model.model import UNKNOWN, BorderRecord, Operand, SavedRecord, TensorRef, Value
from microtape.recording.writing.borders import Borders
from microtape.recording.writing.copies import copied, frozen, same_elements
from microtape.recording.writing.faults import Faults
from microtape.recording.writing.left_behind import free_arrays
from microtape.recording.writing.names.constant_arguments import constant_text, shortened
from microtape.recording.writing.names.module_names import names_in_frames, our_kinds
from microtape.recording.writing.names.node_text import dtype_name, inner
from microtape.recording.writing.names.scopes import Scopes
from microtape.recording.writing.names.sources import Sources
from microtape.recording.writing.old_values import old_value
from microtape.recording.writing.saved_tensors import saved_inputs, saved_items
from microtape.recording.writing.tape_entries import NodeEntry, TensorEntry
from microtape.recording.writing.tape_order import in_tape_order
from microtape.tape.node import NO_EDGE, AccumulateGrad, Edge, Node
from microtape.tape.saved import SavedTensor, saved_version
from microtape.tape.tensor_state import (
    INFERENCE,
    NUMBER,
    TensorState,
    edge_of,
    is_leaf,
    requires_grad,
    version_number,
)

Copies: TypeAlias = dict[int, tuple[int, Value]]
"""By the `id` of a tensor: the last version of which there is a copy, and the copy."""


class Tape:
    """Numbers nodes and tensors in the order in which they are seen."""

    def __init__(self, sources: Sources, faults: Faults, copies: Copies | None = None) -> None:
        self.sources = sources
        self.faults = faults
        self.nodes: list[NodeEntry] = []
        self.tensors: list[TensorEntry] = []
        self.ids: dict[Node, int] = {}
        self.leaves: list[TensorState] = []  # those with an AccumulateGrad on the tape
        self.copies: Copies = copies if copies is not None else {}
        self._by_object: dict[int, TensorEntry] = {}
        self._by_edge: dict[tuple[int, int], TensorRef] = {}
        self.scopes = Scopes()
        self.borders = Borders()
        self.freed: list[int] = []  # nodes whose saved tensors were already freed when they were adopted
        self._seen_before = 0, 0  # how many tensors there were at the last two ends of a pass

    # Nodes

    def add(
        self,
        node: Node,
        operands: Sequence[Any],
        outputs: Sequence[Any],
        in_place: bool,
        pass_: int | None,
        made_by: int | None,
        before: Sequence[Operand] = (),
    ) -> int:
        """Note an operation at the moment when it is recorded; `before` are its operands, if they are known already."""
        for following in node.next_nodes:
            if following is not None and following not in self.ids:
                self.adopt([one for one in node.next_nodes if one is not None])
                break
        if before:
            records = list(before)
        elif in_place:
            records = self._overwritten(node, operands, outputs[0])
        else:
            records = list(map(self.operand, operands))
        number = self._append(node, records, outputs)
        entry = self.nodes[number]
        entry.in_place, entry.pass_, entry.made_by = in_place, pass_, made_by
        if open_scopes.innermost is not None:
            entry.scope = self.scopes.number_of(open_scopes.innermost)
        return number

    def keep(self, tensor: TensorState) -> None:
        """Copy the value of a tensor and of those whose memory it has, as far as they are on the tape."""
        if tensor.version is not INFERENCE:
            for one in self.borders.sharing(tensor):
                if id(one) in self._by_object:
                    self.ref(one)

    def holds(self, tensor: TensorState) -> bool:
        """Whether the tensor, or another one whose memory it has, is on the tape."""
        return any(id(one) in self._by_object for one in self.borders.sharing(tensor))

    def _overwritten(self, node: Node, operands: Sequence[Any], written: TensorState) -> list[Operand]:
        """The operands of an in-place operation: the first is the written tensor at its version before the write."""
        before = TensorRef(self._entry(written).number, version_number(written) - 1)
        values = self.tensors[before.tensor].values
        if before.version not in values and inner(node).kind != "function":
            values[before.version] = old_value(node, operands[0], written)
        return [
            Operand(before, "") if operand is written or (i == 0 and node.kind != "function")
            else self.operand(operand)
            for i, operand in enumerate(operands)
        ]  # fmt: skip

    def operand(self, operand: Any) -> Operand:
        """An argument of an operation."""
        if isinstance(operand, TensorState):
            return Operand(self.ref(operand), "")
        return Operand(None, shortened(constant_text(operand)))

    def _append(self, node: Node, operands: Sequence[Operand], outputs: Sequence[Any]) -> int:
        """Number a node. Its entry is made first, so that no half of one is left if that fails."""
        entry = NodeEntry(node)
        if isinstance(node, AccumulateGrad):
            entry.variable = self.ref(node.variable).tensor
            return self._put(node, entry)
        entry.operands = operands
        entry.outputs = refs = [self.ref(output) if isinstance(output, TensorState) else None for output in outputs]
        entry.saved = self._saved(node, refs)
        number = self._put(node, entry)
        for output_nr, ref in enumerate(refs):
            if ref is not None:
                self._by_edge[number, output_nr] = ref
                tensor = self.tensors[ref.tensor]
                tensor.node, tensor.output_nr = number, output_nr
        return number

    def _put(self, node: Node, entry: NodeEntry) -> int:
        number = self.ids.setdefault(node, len(self.nodes))
        if isinstance(node, AccumulateGrad):
            self.leaves.append(node.variable)
        if number < len(self.nodes):  # it has just been adopted, as part of another node's history
            self.nodes[number] = entry
        else:
            self.nodes.append(entry)
        if entry.variable is not None:
            self.tensors[entry.variable].node = number
        return number

    def adopt(self, nodes: Iterable[Node]) -> None:
        """Number nodes that were recorded before the recorder watched, and all that they lead to, in tape order."""
        unknown = list(dict.fromkeys([node for node in nodes if node not in self.ids]))
        if not unknown:
            return
        seen = set(unknown)
        stack = list(unknown)
        while stack:
            for node in stack.pop().next_nodes:
                if node is not None and node not in seen and node not in self.ids:
                    seen.add(node)
                    stack.append(node)
        for node in in_tape_order([one for one in seen if one.kind != "accumulate"]):
            for following in node.next_nodes:
                if following is not None and following not in self.ids:
                    self._adopt_one(following)
            self._adopt_one(node)
        for node in unknown:
            if node not in self.ids:  # an AccumulateGrad
                self._adopt_one(node)

    def _adopt_one(self, node: Node) -> None:
        """Number one node, in the worst case with nothing but its edges: later nodes and passes refer to it."""
        try:
            if isinstance(node, AccumulateGrad):
                self._append(node, (), ())
            else:
                self._adopt_operation(node)
        except Exception as error:
            if node not in self.ids:
                entry = NodeEntry(node, about=False)
                if isinstance(node, AccumulateGrad):
                    entry.variable = self._entry(node.variable).number
                self._put(node, entry)
            self.faults.add(f"the tensors of %{self.ids[node]} {type(node).__name__}", error)

    def _adopt_operation(self, node: Node) -> None:
        """Number an operation whose call was not seen, with the operands and outputs that the graph still holds."""
        known = saved_inputs(node)
        operands = []
        for i, edge in enumerate(node.next_edges):
            if i in known:
                operands.append(Operand(self.ref(known[i]), ""))
            elif edge[0] is None:
                operands.append(Operand(None, UNKNOWN))
            else:
                operands.append(Operand(self._output_of(self.ids[edge[0]], edge), ""))
        number = self._append(node, operands, ())
        if inner(node).saved is None:
            self.freed.append(number)
        outputs: list[TensorRef | None] = []
        for output_nr in range(node.output_count):
            shape, dtype = node.output_spec(output_nr)
            if shape is None:
                outputs.append(None)
                continue
            tensor = self._new_entry(tuple(shape), dtype_name(dtype))
            tensor.node, tensor.output_nr = number, output_nr
            tensor.latest = self._by_edge[number, output_nr] = TensorRef(tensor.number, 0)
            outputs.append(tensor.latest)
        for item in node.saved or ():
            if isinstance(item, SavedTensor):
                ref = outputs[item.output_nr]
                assert ref is not None
                values = self.tensors[ref.tensor].values
                if version_number(item) not in values:
                    values[version_number(item)] = frozen(item.array)
        entry = self.nodes[number]
        entry.outputs, entry.saved = outputs, self._saved(node, outputs)

    def _output_of(self, number: int, edge: Edge) -> TensorRef | None:
        if self.nodes[number].variable is not None:
            assert isinstance(edge[0], AccumulateGrad)
            return self.ref(edge[0].variable)
        return self._by_edge.get((number, edge[1]))

    def adopt_tensor(self, tensor: TensorState) -> TensorRef:
        """Number a tensor and the graph behind it."""
        node, output_nr = edge_of(tensor) if requires_grad(tensor) else NO_EDGE
        if node is not None:  # a view that inference mode made requires grad, and leads nowhere
            self.adopt([node])
            known = self._by_edge.get((self.ids[node], output_nr))
            if known is not None and self.tensors[known.tensor].tensor is None:
                self._bind(self.tensors[known.tensor], tensor)
        return self.ref(tensor)

    def _saved(self, node: Node, outputs: Sequence[TensorRef | None]) -> list[tuple[int, SavedRecord]]:
        """What the node saved of what the program gave it; a result that it saved is one of these outputs."""
        found = []
        for i, name, item in saved_items(node):
            if isinstance(item, SavedTensor):
                ref = outputs[item.output_nr] if item.output_nr < len(outputs) else None
            else:
                ref = self.ref(item)
            if ref is None:
                continue
            version = saved_version(inner(node), i)
            if version != ref.version:
                ref = TensorRef(ref.tensor, version)
            found.append((i, SavedRecord(name, ref)))
        return found

    # Tensors

    def ref(self, tensor: TensorState) -> TensorRef:
        """The tensor at its current version; its value is copied if this version is new."""
        entry = self._by_object.get(id(tensor)) or self._entry(tensor)
        version = 0 if tensor.version is None else version_number(tensor)
        ref = entry.latest
        if ref is None or ref.version != version:
            ref = entry.latest = TensorRef(entry.number, version)
        if version not in entry.values:
            entry.values[version] = self._copied(tensor, version)
        return ref

    def _copied(self, tensor: TensorState, version: int) -> Value:
        """A copy of the tensor's array: the one that an earlier tape has, unless somebody wrote behind our back."""
        known, copy = self.copies.get(id(tensor), (None, None))
        if known != version or copy is None or not same_elements(copy, tensor.array):
            copy = frozen(tensor.array)
            self.copies[id(tensor)] = version, copy
        return copy

    def _entry(self, tensor: TensorState) -> TensorEntry:
        entry = self._by_object.get(id(tensor))
        if entry is not None:
            return entry
        if tensor.edge is not None and tensor.edge[0] in self.ids:
            entry = self._output_known_as(tensor)
        if entry is None:
            entry = self._new_entry(tensor.array.shape, dtype_name(tensor.array.dtype))
        self._bind(entry, tensor)
        return entry

    def same(self, known: TensorState, tensor: TensorState) -> None:
        """Treat two tensors as one: to the user they are the same number."""
        self._bind(self._entry(known), tensor)

    def _output_known_as(self, tensor: TensorState) -> TensorEntry | None:
        """The entry of the same output, if its tensor was not kept, or if backward unpacked it again as `tensor`."""
        assert tensor.edge is not None
        known = self._by_edge.get((self.ids[tensor.edge[0]], tensor.edge[1]))  # type: ignore[index]
        entry = self.tensors[known.tensor] if known is not None else None
        if entry is None or entry.tensor is None or entry.tensor.array is tensor.array:
            return entry
        return None

    def _new_entry(self, shape: tuple[int, ...], dtype: str) -> TensorEntry:
        entry = TensorEntry(len(self.tensors), shape, dtype)
        self.tensors.append(entry)
        return entry

    def _bind(self, entry: TensorEntry, tensor: TensorState) -> None:
        entry.objects.append(tensor)
        self._by_object[id(tensor)] = entry
        view = tensor.meta.view if tensor.meta is not None else None
        if view is not None:
            entry.base = self._entry(view.base).number

    def pass_ended(self) -> None:
        """Free what the last two passes have left behind: a loop's variables hold their tensors for a round more."""
        before, last = self._seen_before
        free_arrays(self.tensors[before:])
        self._seen_before = last, len(self.tensors)

    def value_of(self, ref: TensorRef) -> Value | None:
        """The copied value of a tensor at a version."""
        return self.tensors[ref.tensor].values.get(ref.version)

    def leaf_grads(self, numbers: Iterable[int]) -> dict[int, Value]:
        """The `.grad` of each leaf among these nodes that has one, by tensor."""
        grads: dict[int, Value] = {}
        for number in numbers:
            variable = self.nodes[number].variable
            if variable is None:
                continue
            tensor = self.tensors[variable].tensor
            value = copied(tensor.meta.grad) if tensor is not None and tensor.meta is not None else None
            if value is not None:
                grads[variable] = value
        return grads

    @property
    def first_sequence_nr(self) -> int | None:
        """The lowest sequence number of its nodes; None without nodes."""
        return min([one.node.sequence_nr for one in self.nodes if one.variable is None], default=None)

    def number_of(self, tensor: TensorState) -> int | None:
        """The tensor's number; None if it is not on the tape."""
        entry = self._by_object.get(id(tensor))
        return entry.number if entry is not None else None

    def put(self, leaf: TensorState) -> None:
        """Number a leaf that no pass has reached."""
        self.ref(leaf)

    def operand_inside(self, value: Any) -> Operand:
        """A value in a function of the user's. A tensor whose history is not on the tape is only described.

        To number such a tensor now would number it twice: adopting its history does it again.
        """
        if not issubclass(type(value), TensorState):
            return Operand(None, shortened(constant_text(value)))
        if value.meta is NUMBER:  # the engine made it of a number of the user's
            return Operand(None, constant_text(value.array.item()))
        one = value
        while one is not None and id(one) not in self._by_object:
            if one.edge is not None and one.edge[0] is not None and one.edge[0] not in self.ids:
                return Operand(None, constant_text(value))
            one = one.meta.view.base if one.meta is not None and one.meta.view is not None else None
        return Operand(self.ref(value), "")

    def overwritten(self, written: TensorState, old: Any) -> Operand:
        """A tensor as it was before the last write to it; `old` holds a copy of that value, if it is another object."""
        before = TensorRef(self._entry(written).number, max(version_number(written) - (old is not written), 0))
        values = self.tensors[before.tensor].values
        if before.version not in values and isinstance(old, TensorState):
            values[before.version] = frozen(old.array)
        return Operand(before, "")

    def name_saved(self, number: int, name: str, position: int) -> None:
        """Give a saved tensor of a node the name of the user's variable."""
        entry = self.nodes[number]
        entry.saved = [(i, one._replace(name=name) if i == position else one) for i, one in entry.saved]

    # Names

    def find_names(self, frame: Any) -> None:
        """Note the user's variables that hold the tensors, from the innermost frame outwards."""
        for name, tensor in names_in_frames(frame, our_kinds()):
            entry = self._by_object.get(id(tensor))
            if entry is None and (tensor in self.borders or (is_leaf(tensor) and requires_grad(tensor))):
                entry = self._entry(tensor)  # a leaf that no operation has used may be meant to be used
            elif entry is None and tensor.edge is not None:
                known = (
                    self._by_edge.get((self.ids.get(tensor.edge[0], -1), tensor.edge[1])) if tensor.edge[0] else None
                )
                if known is not None and self.tensors[known.tensor].tensor is None:
                    entry = self._entry(tensor)
                    self.ref(tensor)
            if entry is not None and name not in entry.names:
                entry.names.append(name)

    # At the end

    @property
    def objects(self) -> Collection[int]:
        """The `id` of each tensor on the tape."""
        return self._by_object.keys()

    def border_records(self, matters: Callable[[int], bool]) -> tuple[BorderRecord, ...]:
        """The borders that led to a tensor whose `id` matters: it is on a tape, or a variable holds it."""

        def ref(tensor: TensorState, version: int) -> TensorRef:
            entry = self._entry(tensor)
            if version == version_number(tensor):
                self.keep(tensor)
            return TensorRef(entry.number, version)

        return self.borders.records(matters, self.operand, ref, self.sources, self.faults)
