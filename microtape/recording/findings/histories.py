"""What lies behind a node, as the findings ask for it."""

from __future__ import annotations

from microtape.recording.findings.program import Program
from microtape.recording.model.model import NodeRecord

SAME_NUMBERS = (
    "view", "unsafe_view", "reshape", "reshape_alias", "transpose", "t", "permute", "squeeze", "unsqueeze", "select",
    "slice", "index", "clone", "to_copy", "contiguous", "alias", "unbind", "expand",
)  # fmt: skip
"""Operations that hand numbers on, perhaps some of them only, or in another shape."""


def inputs(program: Program, node: NodeRecord) -> list[NodeRecord]:
    """The nodes whose results a node has used, in the order of its edges."""
    return [program.node(edge.node) for edge in node.edges if edge.node is not None]


def input_at(program: Program, node: NodeRecord, edge: int) -> NodeRecord | None:
    """The node that an edge leads to; None if it leads to none, or if there is no such edge."""
    number = node.edges[edge].node if edge < len(node.edges) else None
    return program.node(number) if number is not None else None


def maker_at(program: Program, node: NodeRecord, edge: int) -> NodeRecord | None:
    """What has made the numbers that come by an edge, perhaps in another shape."""
    made = input_at(program, node, edge)
    while made is not None and program.does(made, *SAME_NUMBERS):
        made = input_at(program, made, 0)
    return made


def is_parameter(program: Program, node: NodeRecord) -> bool:
    """Whether a node is that of a leaf, perhaps in another shape."""
    while program.does(node, *SAME_NUMBERS) and len(before := inputs(program, node)) == 1:
        node = before[0]
    return node.kind == "accumulate"


def history(program: Program, node: NodeRecord) -> set[int]:
    """A node with all nodes behind it."""
    found, waiting = set[int](), [node.id]
    while waiting:
        if (number := waiting.pop()) not in found:
            found.add(number)
            waiting += [edge.node for edge in program.node(number).edges if edge.node is not None]
    return found
