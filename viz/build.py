"""A recording at a moment as a `VisualGraph`: which boxes, which arrows, which words. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from microtape.recording.model import NodeRecord, Recording, TensorRecord, TensorRef
from microtape.recording.moment import Moment
from microtape.recording.words import format_value
from viz.boxes import BoxMaker
from viz.extent import Extent, Key, extent
from viz.failure import failure_boxes
from viz.graph import Arrow, ArrowKind, Box, VisualGraph
from viz.heading import notes, subtitle, title
from viz.legend import legend
from viz.moment import moment
from viz.naming import usual_dtype, where
from viz.options import MAX_NODES, Detail, details
from viz.ranks import layers

MOST_ARROWS = 4  # a value used in more places is drawn again, small, at the others
TERM_WIDTH = 24


@dataclass(frozen=True, slots=True)
class _Use:
    """That a node uses a value: along one of its edges (`edge`), or without any gradient going back (None)."""

    of: Key
    output: int
    by: int
    edge: int | None


def build(
    recording: Recording,
    *,
    step: int | None = None,
    pass_index: int = 0,
    show: Collection[str] | None = None,
    around: int | str | None = None,
    radius: int = 2,
    max_nodes: int = MAX_NODES,
) -> VisualGraph:
    """The picture's contents. For the meaning of the arguments, and what may be wrong with them, see `viz.draw`."""
    now = moment(recording, pass_index, step)
    which = extent(now, around, radius, max_nodes)
    shown = details(show, len(which.nodes))
    uses = _uses(now, which.nodes, "constants" in shown)
    order: list[Key] = [*dict.fromkeys(use.of for use in uses if isinstance(use.of, TensorRef)), *which.nodes]
    ranks = layers(order, _by_value(uses))
    boxes, homes = _boxes(now, which, shown, ranks, order), {key: _id(key) for key in order}
    again, arrows = _arrows(now, uses, ranks, boxes, homes, shown)
    seeds, seed_arrows = _seeds(now, which, boxes, ranks)
    failures, failure_arrows = failure_boxes(now, which.nodes, ranks)
    every = (*boxes.values(), *again, *seeds, *failures)
    every_arrow = (*arrows, *seed_arrows, *failure_arrows)
    return VisualGraph(
        title=title(now),
        subtitle=subtitle(now),
        boxes=every,
        arrows=every_arrow,
        legend=legend(every, every_arrow) if "legend" in shown else (),
        notes=(*which.notes, *notes(now, which.nodes)),
    )


def _id(key: Key) -> str:
    return f"n{key}" if isinstance(key, int) else f"t{key.tensor}v{key.version}"


def _uses(now: Moment, nodes: Sequence[int], constants: bool) -> list[_Use]:
    """What each node uses, in the order of its edges, then of its operands that get no gradient."""
    drawn, found = set(nodes), []
    for node_id in nodes:
        node = now.recording.nodes[node_id]
        targets = {edge.node for edge in node.edges}
        found += [
            _Use(edge.node, edge.input_nr, node_id, number)
            for number, edge in enumerate(node.edges)
            if edge.node is not None and edge.node in drawn
        ]
        found += [use for use in _without_gradient(now, node, drawn, constants) if use.of not in targets]
    return found


def _without_gradient(now: Moment, node: NodeRecord, drawn: set[int], constants: bool) -> list[_Use]:
    found: dict[tuple[Key, int], _Use] = {}
    for operand in node.operands:
        if operand.ref is None:
            continue
        maker, output = now.timeline.producer.get(operand.ref, (now.recording.tensors[operand.ref.tensor].node, 0))
        if maker is not None and maker in drawn and maker < node.id:
            found.setdefault((maker, output), _Use(maker, output, node.id, None))
        elif maker is None and constants and _worth_a_box(now.recording.tensors[operand.ref.tensor]):
            found.setdefault((operand.ref, 0), _Use(operand.ref, 0, node.id, None))
    return list(found.values())


def _worth_a_box(tensor: TensorRecord) -> bool:
    """A number without a name is said in the operation's title already."""
    return not tensor.requires_grad and (tensor.name != "" or tensor.shape != ())


def _by_value(uses: Sequence[_Use]) -> dict[Key, list[Key]]:
    found: dict[Key, list[Key]] = {}
    for use in uses:
        found.setdefault(use.of, []).append(use.by)
    return found


def _boxes(
    now: Moment, which: Extent, shown: Collection[Detail], ranks: dict[Key, int], order: Sequence[Key]
) -> dict[Key, Box]:
    nodes = now.recording.nodes
    operands = [operand.ref for node in which.nodes for operand in nodes[node].operands if operand.ref is not None]
    tensors = {ref.tensor for ref in operands}
    tensors.update(ref.tensor for node in which.nodes for ref in nodes[node].outputs if ref is not None)
    maker = BoxMaker(now, shown, usual_dtype(now.recording, tensors), {ref.tensor: ref for ref in reversed(operands)})
    boxes = {
        key: maker.node(key, ranks[key], which.hidden.get(key, 0))
        if isinstance(key, int)
        else maker.constant(key, ranks[key])
        for key in order
    }
    if which.middle is not None:
        boxes[which.middle] = replace(boxes[which.middle], in_the_middle=True)
    return boxes


def _arrows(
    now: Moment,
    uses: Sequence[_Use],
    ranks: dict[Key, int],
    boxes: dict[Key, Box],
    homes: dict[Key, str],
    shown: Collection[Detail],
) -> tuple[list[Box], list[Arrow]]:
    """The arrows; and small boxes that stand for a value at its far uses, so that no arrow crosses it all."""
    counts = {key: len(found) for key, found in _by_value(uses).items()}
    again: dict[str, Box] = {}
    arrows = []
    for use in uses:
        home, tail = boxes[use.of], homes[use.of]
        port = use.output if home.ports else None
        if counts[use.of] > MOST_ARROWS and ranks[use.by] > ranks[use.of] + 1:
            tail, port = f"{home.id}at{use.by}", None
            title = home.title if home.kind in ("leaf", "constant") else home.title.partition(" = ")[0]
            again.setdefault(
                tail,
                Box(tail, "again", home.state, title, "", (), (), (f"{home.title}, drawn above",),
                    ranks[use.by] - 1, home.node, home.recorded_by_backward),
            )  # fmt: skip
        kind, term = _travel(now, use)
        about = _arrow_tooltip(use, kind, term, home.title)
        arrows.append(Arrow(tail, port, _id(use.by), kind, term, "terms" in shown and term != "", about))
    return list(again.values()), arrows


def _travel(now: Moment, use: _Use) -> tuple[ArrowKind, str]:
    """Whether a gradient has travelled along an edge, and which."""
    if use.edge is None:
        return "value", ""
    delivery = now.travelled(use.by, use.edge)
    if delivery is None:
        return "future", ""
    if delivery.term is None:
        return "undefined", "None"
    in_this_step = now.current is not None and now.current.node == use.by
    return "now" if in_this_step else "done", format_value(delivery.term, TERM_WIDTH)


def _arrow_tooltip(use: _Use, kind: ArrowKind, term: str, title: str) -> str:
    away = {
        "value": "no gradient goes back here",
        "future": "no gradient has travelled here yet",
        "undefined": "an undefined gradient (None) travelled here: it counts down the wait, and adds nothing",
    }.get(kind, f"gradient {term}")
    return f"%{use.by} uses {title}{f', output {use.output}' if use.output else ''}: {away}"


def _seeds(now: Moment, which: Extent, boxes: dict[Key, Box], ranks: dict[Key, int]) -> tuple[list[Box], list[Arrow]]:
    """Where backward was called, below the outputs it was called on."""
    found, arrows = [], []
    for number, ((node, output), seed) in enumerate(now.timeline.seeds.items()):
        if node not in boxes:
            continue
        text = format_value(seed, TERM_WIDTH)
        pass_ = now.pass_
        place = where(now.recording, pass_.place) if pass_ and pass_.place else ""
        title = f"{pass_.kind}()" if pass_ else ""
        found.append(
            Box(f"s{number}", "seed", "", title, place, (), (),
                (f"the first gradient, {text}: backward starts here",), ranks[node] + 1, None)
        )  # fmt: skip
        kind: ArrowKind = "now" if now.pass_ and not now.steps_done else "done"
        port = output if boxes[node].ports else None
        arrows.append(Arrow(f"n{node}", port, f"s{number}", kind, text, True, f"the first gradient: {text}"))
    return found, arrows
