"""What a pass of torch's engine was asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from microtape.recording.pytorch.graph import Graph, NodeEdge
from microtape.recording.pytorch.reading.modes import without_dispatch_modes
from microtape.recording.pytorch.reading.subclasses import PLAIN
from microtape.recording.pytorch.reading.wrapped import is_wrapped
from microtape.recording.pytorch.tensors import grad_fn_of, tells_history


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
    """Stands for torch's node of a leaf that is not told: that of a function transform which is over, for example."""

    next_functions = ()

    def __init__(self, variable: torch.Tensor) -> None:
        self.variable = variable


def edge_of(output: Any) -> tuple[Any, int]:
    """The node that computed an output, or accumulates its gradient, and which of the node's outputs it is."""
    if not isinstance(output, torch.Tensor):
        return output.node, output.output_nr
    if output.grad_fn is not None:
        return output.grad_fn, output.output_nr
    with torch.inference_mode(False), torch.enable_grad(), without_dispatch_modes():
        try:
            return torch.autograd.graph.get_gradient_edge(output).node, 0
        except (AssertionError, AttributeError):
            if not is_wrapped(output):
                raise
        except Exception:  # torch looks at a view: there may be none of a sparse tensor, a named one, a subclass
            with contextlib.suppress(Exception):
                copied: Any = output.clone().grad_fn
                return copied.next_functions[0][0], 0
        return AccumulateGrad(output), 0


def has_graph(output: Any) -> bool:
    """Whether a pass can begin at an output."""
    if not isinstance(output, torch.Tensor):
        return True
    if not tells_history(output):
        return False
    if grad_fn_of(output) is not None:
        return True
    if not output.requires_grad or output.is_inference():
        return False
    if type(output) not in PLAIN:
        return True
    try:
        return edge_of(output)[0] is not None
    except (AssertionError, AttributeError):  # torch finds no AccumulateGrad: a view of an inference tensor
        return False


def keys_in(graph: Graph, wanted: Sequence[Any]) -> list[NodeEdge]:
    """The edges that end at what a pass was asked for; without a node where it is not in the graph."""
    leaves = {id(leaf): key for key, leaf in graph.leaves.items()} if wanted else {}
    found: list[NodeEdge] = []
    for one in wanted:
        if is_leaf(one):
            found.append((leaves.get(id(one)), 0))
        else:
            node, output_nr = edge_of(one)
            found.append((graph.keys.get(id(node)), output_nr))
    return found


def is_leaf(wanted: Any) -> bool:
    """Whether a pass was asked for a tensor that no node computed."""
    return isinstance(wanted, torch.Tensor) and grad_fn_of(wanted) is None


def is_transformed(tensor: Any) -> bool:
    """Whether a tensor belongs to a function transform of torch's (grad, vjp, vmap, ...), which wraps its tensors."""
    return isinstance(tensor, torch.Tensor) and is_wrapped(tensor)
