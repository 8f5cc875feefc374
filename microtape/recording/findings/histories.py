"""What lies behind a node, as the findings ask for it."""

from __future__ import annotations

from microtape.recording.findings.program import Program
from microtape.recording.model.model import NodeRecord


def inputs(program: Program, node: NodeRecord) -> list[NodeRecord]:
    """The nodes whose results a node has used, in the order of its edges."""
    return [program.node(edge.node) for edge in node.edges if edge.node is not None]


def input_at(program: Program, node: NodeRecord, edge: int) -> NodeRecord | None:
    """The node that an edge leads to; None if it leads to none, or if there is no such edge."""
    number = node.edges[edge].node if edge < len(node.edges) else None
    return program.node(number) if number is not None else None


def history(program: Program, node: NodeRecord) -> set[int]:
    """A node with all nodes behind it."""
    found, waiting = set[int](), [node.id]
    while waiting:
        if (number := waiting.pop()) not in found:
            found.add(number)
            waiting += [edge.node for edge in program.node(number).edges if edge.node is not None]
    return found
