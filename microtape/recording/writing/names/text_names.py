"""The names that the program's text gives to tensors which no variable holds any more, such as a function's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microtape.recording.model.model import NodeRecord
from microtape.recording.model.source import Position, assigned_names, filled_names, repeating, written_names
from microtape.recording.writing.names.sources import Sources


def names_from_text(nodes: Sequence[NodeRecord], returned: Sequence[int], sources: Sources) -> Mapping[int, str]:
    """The names of tensors, by their numbers: of the variable that was assigned what a call had computed.

    `returned` says of each node how many tensors its call returned. The first name counts: in `y = x + 1; y += 1`,
    both operations give the same tensor.
    """
    inside = _inside_of_calls(nodes, sources)
    found: dict[int, str] = {}
    for node, count in zip(nodes, returned, strict=True):
        if node.place is None:
            continue
        text, position = sources.text(node.place.file), node.place[1:5]
        if node.kind == "copy_slices":  # its output is the whole tensor, of which a part was assigned to
            names: tuple[str, ...] = filled_names(text).get(position, ())
        else:
            is_result = node.id not in inside and len(node.outputs) == count
            names = _result_names(text, position, node.in_place) if is_result else ()
        if len(names) == len(node.outputs):
            for output, name in zip(node.outputs, names, strict=True):
                if output is not None and name:
                    found.setdefault(output.tensor, name)
    return found


def _result_names(text: str, position: Position, in_place: bool) -> tuple[str, ...]:
    """The variables that get what a call has computed; of a call in place, which may have none, that of its tensor."""
    names = assigned_names(text).get(position, ())
    return written_names(text).get(position, ()) if in_place and not names else names


def _inside_of_calls(nodes: Sequence[NodeRecord], sources: Sources) -> set[int]:
    """Nodes whose result another operation of the same call uses, as in `loss = cross_entropy(...)`.

    An operation that uses its own result, as `h = w * h` in a loop, does not count, unless one expression repeats it.
    """
    return {
        to.node
        for one in nodes
        if one.place is not None
        for to in one.edges
        if to.node is not None
        and nodes[to.node].place == one.place
        and (nodes[to.node].op != one.op or one.place[1:5] in repeating(sources.text(one.place.file)))
    }
