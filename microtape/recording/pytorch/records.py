"""Makes the records of a tape at the end, from its entries."""

from __future__ import annotations

import torch

from microtape.recording.model.model import (
    UNKNOWN,
    EdgeRecord,
    NodeRecord,
    Operand,
    SavedRecord,
    TensorRecord,
    Value,
)
from microtape.recording.pytorch.calls.function_kinds import called_name
from microtape.recording.pytorch.node_text import hook_names
from microtape.recording.pytorch.notes import GraphNode, Operation
from microtape.recording.pytorch.reading.inner_values import fill_in
from microtape.recording.pytorch.tape import Tape
from microtape.recording.pytorch.tape_entries import NodeEntry, TensorEntry
from microtape.recording.pytorch.tensors import tells_history
from microtape.recording.writing.names.text_names import names_from_text

_PICKING = ("Where", "Masked")  # nodes that read a mask
_BEGIN_PASSES = (torch.autograd.grad, torch.autograd.backward, torch.Tensor.backward)
"""Calls during which passes make nodes, which have no call of their own then."""


def tape_records(tape: Tape, first: int) -> tuple[tuple[NodeRecord, ...], tuple[TensorRecord, ...]]:
    """The records of the nodes and the tensors of a tape. `first` is the sequence number from which to count."""
    used: dict[Operation, set[int]] = {}
    nodes = tuple([_node_record(tape, number, entry, first, used) for number, entry in enumerate(tape.nodes)])
    inside = tape.inside_of_borders()
    returned = [_returned(entry) if number not in inside else 0 for number, entry in enumerate(tape.nodes)]
    names = names_from_text(nodes, returned, tape.sources)
    tensors = [_tensor_record(tape, one, names.get(one.number)) for one in tape.tensors]
    fill_in(nodes, tensors)
    return nodes, tuple(tensors)


def _node_record(tape: Tape, number: int, entry: NodeEntry, first: int, used: dict[Operation, set[int]]) -> NodeRecord:
    operation, described = entry.operation, entry.about
    site = operation.site if operation is not None else None
    called = operation if operation is not None and operation.function not in _BEGIN_PASSES else None
    pass_, made_by = tape.maker_of(entry.node)
    outputs = [tape.output(entry.node, i) for i in range(entry.output_count)] if entry.variable is None else []
    return NodeRecord(
        id=number,
        name=described.name,
        op=_op(entry, called),
        kind=described.kind,
        formula=described.formula,
        place=tape.sources.place(site) if site is not None else None,
        sequence_nr=None if entry.variable is not None else entry.node.sequence_nr - first,
        operands=_operands(tape, entry, called, used) if entry.variable is None else (),
        outputs=tuple(outputs),
        edges=tuple([_edge(tape, number, to, nr) for to, nr in entry.edges]),
        saved=tuple([SavedRecord(one.name, tape.ref((one.tensor, one.version))) for one in entry.saved]),
        variable=entry.variable,
        in_place=_is_written(entry, operation),
        pass_=pass_,
        made_by=made_by,
        hooks=entry.hooks,
        scope=entry.scope,
    )


def _op(entry: NodeEntry, operation: Operation | None) -> str:
    """The name of the function that the program called, at the node of its result; at others that of the node's own."""
    if entry.about.kind == "operation" and operation is not None and entry.node.outputs:
        return called_name(operation.function) or entry.about.op
    return entry.about.op


def _returned(entry: NodeEntry) -> int:
    """How many tensors the call has returned whose result the node computed; 0 if it did not compute the result."""
    return entry.operation.outputs if entry.operation is not None and entry.node.outputs else 0


def _edge(tape: Tape, number: int, to: GraphNode | None, input_nr: int) -> EdgeRecord:
    """An edge; one of a dropped node may lead to a node that was numbered again later, and then leads nowhere."""
    receiver = tape.ids.get(to) if to is not None else None
    return EdgeRecord(receiver, input_nr) if receiver is not None and receiver < number else EdgeRecord(None, 0)


def _is_written(entry: NodeEntry, operation: Operation | None) -> bool:
    """Whether the node stands for the write of an operation in place, rather than for a part of it."""
    return operation is not None and operation.in_place and bool(entry.node.outputs)


def _operands(
    tape: Tape, entry: NodeEntry, operation: Operation | None, used: dict[Operation, set[int]]
) -> tuple[Operand, ...]:
    """The node's operands, first one for each edge where that can be told, and constants of its call or dimensions.

    A call such as `cross_entropy` makes several nodes: the operands of those inside are known from their edges, and the
    last of them gets what none of them has `used`.
    """
    given = list(operation.operands) if operation is not None else []
    constants = [Operand(None, text) for text in operation.constants] if operation is not None else []
    is_last = bool(entry.node.outputs)
    picks = entry.about.name.startswith(_PICKING)
    discrete = ("bool",) if picks and entry.is_alone else () if entry.is_alone else ("bool", "int", "uint")
    others = [tape.ref(one) for one in given if one[0].dtype.startswith(discrete)]  # masks, targets: without an edge
    if is_last and len(given) == len(entry.edges) and entry.is_alone and not others:
        return (*[Operand(tape.ref(one), "") for one in given], *constants)
    found: list[Operand | None] = []
    at_call = {ref.tensor: ref for ref in map(tape.ref, given)}  # a leaf has been written to since
    for to, input_nr in entry.edges:
        ref = tape.output(to, input_nr) if to is not None else None
        ref = at_call.get(ref.tensor, ref) if ref is not None else None
        found.append(Operand(ref, "") if to is not None else None)
    taken = used.setdefault(operation, set()) if operation is not None else set()
    taken.update([one.ref.tensor for one in found if one is not None and one.ref is not None])
    free = [ref for one in given if (ref := tape.ref(one)).tensor not in taken and ref not in others]
    open_ = [i for i, one in enumerate(found) if one is None]
    kept = {tape.ref((one.tensor, one.version)) for one in entry.saved}
    saved = [ref for ref in free if ref in kept]
    for i, ref in zip(open_, free if len(free) == len(open_) else saved, strict=False):
        found[i] = Operand(ref, "")
        free.remove(ref)
        taken.add(ref.tensor)
    rest = [Operand(ref, "") for ref in (*free, *others)] if is_last else []
    if is_last and picks and len(constants) == found.count(None):
        return (*[one or constants.pop(0) for one in found], *rest)  # `where(mask, x, 0.0)`
    if is_last and constants:
        return (*filter(None, found), *rest, *constants)
    return (
        *[one or Operand(None, UNKNOWN) for one in found],
        *rest,
        *[Operand(None, text) for text in entry.dimensions],
    )


def _tensor_record(tape: Tape, entry: TensorEntry, name: str | None) -> TensorRecord:
    seen, tensor = entry.seen, entry.seen.tensor
    if tensor is not None and not tells_history(tensor):
        tensor = None
    return TensorRecord(
        id=entry.number,
        names=tuple(entry.names) or ((name,) if name is not None else ()),
        shape=seen.shape,
        dtype=seen.dtype,
        requires_grad=seen.requires_grad,
        is_leaf=seen.is_leaf,
        node=entry.node,
        output_nr=entry.output_nr,
        base=tape.number_of(seen.base) if seen.base is not None else None,
        retains_grad=bool(tensor is not None and not seen.is_leaf and tensor.requires_grad and tensor.retains_grad),
        hooks=hook_names(getattr(tensor, "_backward_hooks", None)) if tensor is not None else (),
        values={version: value for version, value in entry.values.items() if value is not None},
        grad=_grad(tape, tensor),
    )


def _grad(tape: Tape, tensor: torch.Tensor | None) -> Value | None:
    if tensor is None or not (tensor.is_leaf or tensor.retains_grad):
        return None
    return tape.value(tensor.grad)
