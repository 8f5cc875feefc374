"""Which node uses which value: along an edge that carries gradients back, or as an operand that receives none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from microtape.recording.model.model import NodeRecord, TensorRecord, TensorRef
from microtape.recording.moments.moment import Moment


@dataclass(frozen=True, slots=True)
class Use:
    """A node uses a value: along its edge number `edge`; None if no gradient goes back."""

    of: int | TensorRef  # the computing node (a leaf's AccumulateGrad), or a tensor that no drawn node computed
    output: int
    by: int
    edge: int | None
    ended: bool = False  # the value was detached in place before this use
    saved: bool = False  # not an operand: the node only saved the value for its backward


@dataclass(frozen=True, slots=True)
class Cut:
    """A leaf or a constant was computed from a value without being recorded."""

    of: int | TensorRef  # a TensorRef for a leaf that no recorded operation used: it has no node
    output: int
    into: int | TensorRef


def find_uses(now: Moment, nodes: Sequence[int], constants: bool) -> list[Use]:
    """The values that each node uses: those at the ends of its edges, in order, then operands that receive no gradient.

    `constants` includes tensors that need no gradient and that no drawn node computed.
    """
    drawn, found = set(nodes), []
    for node_id in nodes:
        node = now.recording.nodes[node_id]
        if node.variable is not None:
            continue  # a leaf uses nothing, even if a damaged file says so
        targets = {edge.node for edge in node.edges}
        found += [
            Use(edge.node, edge.input_nr, node_id, number)
            for number, edge in enumerate(node.edges)
            if edge.node is not None and edge.node in drawn
        ]
        found += [use for use in _without_gradient(now, node, drawn, constants) if use.of not in targets]
    return found


def _without_gradient(now: Moment, node: NodeRecord, drawn: Collection[int], constants: bool) -> list[Use]:
    found: dict[tuple[int | TensorRef, int], Use] = {}
    operands = [operand.ref for operand in node.operands if operand.ref is not None]
    for ref in (*operands, *_only_saved(node, operands)):
        tensor = now.recording.tensors[ref.tensor]
        maker, output = now.timeline.producer.get(ref, (tensor.node, 0))
        saved = ref not in operands
        if maker is not None and maker in drawn and maker < node.id:
            ended = ref in now.timeline.borders
            found.setdefault((maker, output), Use(maker, output, node.id, None, ended, saved))
        elif maker is None and constants and (_worth_a_box(tensor, node, saved) or ref in now.timeline.borders):
            found.setdefault((ref, 0), Use(ref, 0, node.id, None, saved=saved))
    return list(found.values())


def _only_saved(node: NodeRecord, operands: Collection[TensorRef]) -> list[TensorRef]:
    """Saved tensors that are neither operand nor result, such as a Function's mask or an index."""
    if node.in_place or node.kind == "copy_slices":
        return []  # an in-place operation saves the value that it overwrites
    known = {ref.tensor for ref in (*operands, *node.outputs) if ref is not None}
    return [one.ref for one in node.saved if one.ref.tensor not in known]


def _worth_a_box(tensor: TensorRecord, node: NodeRecord, saved: bool) -> bool:
    """Whether to draw the tensor: an unnamed number already appears in the operation's title.

    So does what an operation made for itself, such as the mean of a norm, in its row of saved tensors.
    """
    if saved and node.kind == "operation" and not tensor.name:
        return False
    return not tensor.requires_grad and (tensor.name != "" or tensor.shape != ())
