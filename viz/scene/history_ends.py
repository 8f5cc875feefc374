"""The ends of history in a picture: tensors that were detached or computed off the tape, and their sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from microtape.recording.model.cut_history import crossing, way_back
from microtape.recording.model.model import BorderKind, BorderRecord, NodeRecord, TensorRef
from microtape.recording.moments.moment import Moment
from viz.basics.graph import Row
from viz.planning.dataflow import Cut
from viz.planning.display_names import call_title, location, operand_name, tensor_name

WORDS: dict[BorderKind, str] = {
    "detach": "detached",
    "no_grad": "under no_grad",
    "inference_mode": "in inference mode",
    "not differentiable": "not differentiable",
    "not an argument": "not an argument",
    "copied": "only its value",
    "constant": "off the tape",
}


@dataclass(frozen=True, eq=False, slots=True)
class HistoryEnd:
    """A tensor without history that was computed from tensors with one."""

    border: BorderRecord
    crossed: BorderRecord  # the operation that left the tape: the border itself or an earlier one
    length: int  # how many operations off the tape led to the tensor
    sources: tuple[TensorRef, ...]  # the tensors with a history that it was computed from


def history_end(now: Moment, ref: TensorRef) -> HistoryEnd | None:
    """The end of history at this version of a tensor; None if its history does not end here."""
    by_output = now.timeline.borders
    border = by_output.get(ref)
    if border is None or (border.in_place and border.kind != "detach"):
        return None
    way = way_back(border, by_output)
    refs = (operand.ref for one in way if one.kind != "constant" for operand in one.operands)
    tensors = now.recording.tensors
    kept = (one for one in refs if one is not None and one not in by_output)
    sources = dict.fromkeys(one for one in kept if one in now.timeline.producer or tensors[one.tensor].requires_grad)
    return HistoryEnd(border, crossing(border, by_output), len(way), tuple(sources) or (ref,))


def find_cuts(now: Moment, nodes: Collection[int], inputs: Iterable[int | TensorRef]) -> Iterator[Cut]:
    """The cuts between values with a history and the `inputs` that were computed from them off the tape."""
    for one in inputs:
        found = history_end(now, one) if isinstance(one, TensorRef) else leaf_history_end(now, one)
        for source in found.sources if found is not None else ():
            maker, output = now.timeline.producer.get(source, (now.recording.tensors[source.tensor].node, 0))
            if maker is not None and maker in nodes and maker != one:
                yield Cut(maker, output, one)
            elif maker is None and source != one:
                yield Cut(source, 0, one)


def leaf_history_end(now: Moment, node: int) -> HistoryEnd | None:
    """`history_end`, for a leaf that was made by detaching a tensor."""
    variable = now.recording.nodes[node].variable
    ref = now.timeline.made_without_history.get(variable) if variable is not None else None
    return history_end(now, ref) if ref is not None else None


def border_title(now: Moment, ref: TensorRef, border: BorderRecord) -> str:
    """The operation at the border, as a line of code: `target = detach(h)`."""
    operands = [operand_name(now, operand) for operand in border.operands]
    called = call_title(tensor_name(now, ref), border.op, operands)
    return called if now.recording.tensors[ref.tensor].name else called.partition(" = ")[2]


def border_rows(now: Moment, found: HistoryEnd) -> list[Row]:
    """The kind of border, and its line in the program."""
    crossed, length = found.crossed, found.length
    place = f", {location(now.recording, crossed.place)}" if crossed.place is not None else ""
    rows = [Row("", f"✂ {WORDS[crossed.kind]}{place}: no gradient goes back", "muted")]
    if length > 1:
        rows.append(Row("", f"the last of {length} operations off the tape", "muted"))
    return rows


def detached_rows(now: Moment, node: NodeRecord) -> list[Row]:
    """Rows for results that were detached in place after the node had computed them."""
    found = [history_end(now, ref) for ref in node.outputs if ref is not None]
    return [row for one in found if one is not None for row in border_rows(now, one)]


def written_rows(now: Moment, ref: TensorRef) -> list[Row]:
    """A row for a leaf written to off the tape, as gradient descent does, before the operations here used it."""
    border = now.timeline.borders.get(ref)
    if border is None or not border.in_place or border.kind == "detach":
        return []
    place = f", {location(now.recording, border.place)}" if border.place is not None else ""
    return [Row("written", f"v{ref.version - 1} → v{ref.version} {WORDS[border.kind]}{place}", "muted")]
