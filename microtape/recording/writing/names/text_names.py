"""The names that the program's text gives to tensors which no variable holds any more, such as a function's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microtape.recording.model.model import NodeRecord
from microtape.recording.model.source import assigned_names, repeating, written_names
from microtape.recording.writing.names.sources import Sources


def names_from_text(nodes: Sequence[NodeRecord], returned: Sequence[int], sources: Sources) -> Mapping[int, str]:
    """The names of tensors, by their numbers: of the variable that was assigned what a call had computed.

    `returned` says of each node how many tensors its call returned. The first name counts: in `y = x + 1; y += 1`,
    both operations give the same tensor.
    """
    inside = _inside_of_calls(nodes, sources)
    found: dict[int, str] = {}
    for node, count in zip(nodes, returned, strict=True):
        if node.place is None or node.id in inside or node.kind == "copy_slices" or len(node.outputs) != count:
            continue
        text, position = sources.text(node.place.file), node.place[1:5]
        names = assigned_names(text).get(position, ())
        if not names and node.in_place:
            names = written_names(text).get(position, ())
        if len(names) == count:
            for output, name in zip(node.outputs, names, strict=True):
                if output is not None and name:
                    found.setdefault(output.tensor, name)
    return found


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
