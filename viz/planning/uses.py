"""Who uses what: the edges along which gradients come back, and the operands that get none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from microtape.recording.model.model import NodeRecord, TensorRecord, TensorRef
from microtape.recording.model.moment import Moment


@dataclass(frozen=True, slots=True)
class Use:
    """That a node uses a value: along one of its edges (`edge`), or without any gradient going back (None)."""

    of: int | TensorRef  # the node that computed it (of a leaf, its AccumulateGrad), or a tensor that nobody drawn did
    output: int
    by: int
    edge: int | None
    ended: bool = False  # it was detached in place before it was used
    saved: bool = False  # it is no operand: the node only saved it for its backward


@dataclass(frozen=True, slots=True)
class Cut:
    """That a leaf or a constant was computed from a value without being recorded."""

    of: int | TensorRef  # a leaf that no recorded operation used is not on the tape, so it has no node
    output: int
    into: int | TensorRef


def find_uses(now: Moment, nodes: Sequence[int], constants: bool) -> list[Use]:
    """What each of these nodes uses, in the order of its edges, then of its operands that get no gradient.

    With `constants`, also tensors that need no gradient and that no node here computed.
    """
    drawn, found = set(nodes), []
    for node_id in nodes:
        node = now.recording.nodes[node_id]
        if node.variable is not None:
            continue  # a leaf uses nothing, whatever a file may say
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
        elif maker is None and constants and (_worth_a_box(tensor) or ref in now.timeline.borders):
            found.setdefault((ref, 0), Use(ref, 0, node.id, None, saved=saved))
    return list(found.values())


def _only_saved(node: NodeRecord, operands: Collection[TensorRef]) -> list[TensorRef]:
    """What it saved that is neither operand nor result: a Function's mask, an index. A write saves what was there."""
    if node.in_place or node.kind == "copy_slices":
        return []
    known = {ref.tensor for ref in (*operands, *node.outputs) if ref is not None}
    return [one.ref for one in node.saved if one.ref.tensor not in known]


def _worth_a_box(tensor: TensorRecord) -> bool:
    """A number without a name is said in the operation's title already."""
    return not tensor.requires_grad and (tensor.name != "" or tensor.shape != ())
