"""What a pass of torch's engine was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from microtape.recording.pytorch.graph import Graph, NodeEdge
from microtape.recording.pytorch.reading.wrapped import is_wrapped
from microtape.recording.pytorch.tensors import tells_history


class Request(NamedTuple):
    """The arguments of torch's engine."""

    outputs: Sequence[Any]  # tensors or GradientEdges
    seeds: Sequence[Any]
    keep_graph: bool
    create_graph: bool
    inputs: Sequence[Any]
    accumulate: bool
    nodes_were_read: bool  # whether the program has looked at nodes


def request_of(args: tuple[Any, ...], kwargs: dict[str, Any], nodes_were_read: bool) -> Request:
    """The arguments of `run_backward`, which torch passes partly by position."""
    names = ("tensors", "grad_tensors", "keep_graph", "create_graph", "inputs", "allow_unreachable", "accumulate_grad")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return Request(
        tuple(given["tensors"]), tuple(given["grad_tensors"]), bool(given["keep_graph"]),
        bool(given["create_graph"]), tuple(given.get("inputs") or ()), bool(given.get("accumulate_grad", False)),
        nodes_were_read,
    )  # fmt: skip


class AccumulateGrad:
    """Stands for torch's node of a leaf whose function transform is over: torch does not tell it any more."""

    next_functions = ()

    def __init__(self, variable: torch.Tensor) -> None:
        self.variable = variable


def edge_of(output: Any) -> tuple[Any, int]:
    """The node that computed an output, or accumulates its gradient, and which of the node's outputs it is."""
    if not isinstance(output, torch.Tensor):
        return output.node, output.output_nr
    if output.grad_fn is not None:
        return output.grad_fn, output.output_nr
    with torch.inference_mode(False), torch.enable_grad():
        try:
            return torch.autograd.graph.get_gradient_edge(output).node, 0
        except RuntimeError:  # torch looks at a view, and has none of a sparse tensor, or of one with named sides
            copied: Any = output.clone().grad_fn
            return copied.next_functions[0][0], 0
        except (AssertionError, AttributeError):
            if not is_wrapped(output):
                raise
            return AccumulateGrad(output), 0


def has_graph(output: Any, *, is_only_captured: bool = True) -> bool:
    """Whether a pass can begin at an output; a leaf of a transform that is over has no node for a hook of ours."""
    if not isinstance(output, torch.Tensor):
        return True
    if not tells_history(output):
        return False
    if output.grad_fn is not None:
        return True
    if not output.requires_grad or output.is_inference():
        return False
    try:
        node, _ = edge_of(output)
        return node is not None and (is_only_captured or not isinstance(node, AccumulateGrad))
    except (AssertionError, AttributeError):  # torch finds no AccumulateGrad: a view of an inference tensor
        return False


def key_in(graph: Graph, wanted: Any) -> NodeEdge:
    """The edge that ends at what a pass was asked for; without a node if it is not in the graph."""
    if is_transformed(wanted) and wanted.grad_fn is None:  # torch may not tell its AccumulateGrad any more
        return next((key for key, leaf in graph.leaves.items() if leaf is wanted), None), 0
    node, output_nr = edge_of(wanted)
    return graph.keys.get(id(node)), output_nr


def is_transformed(tensor: Any) -> bool:
    """Whether a tensor belongs to a function transform of torch's (grad, vjp, vmap, ...), which wraps its tensors."""
    return isinstance(tensor, torch.Tensor) and is_wrapped(tensor)
