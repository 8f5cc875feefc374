"""`backward` and `grad`: checking what the user asks for, and running one GraphTask."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.call_site import CallSite, user_frame, user_stacklevel
from microtape.engine import GraphTask
from microtape.errors import GradientError, NoGraphError, UnusedInputError
from microtape.node import NO_EDGE, Edge
from microtape.tensor import Size, Tensor
from microtape.tensor_state import edge_of, new_tensor


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors`, summed over all of them, to the `.grad` of the leaves.

    `grad_tensors` has a gradient of the same shape for each tensor, or None for those with one element.
    `retain_graph` keeps what was saved, for another backward; it defaults to `create_graph`, which records the backward
    pass itself. `inputs` limits what accumulates.

    Raises RuntimeError, with torch's wording, for a root without history, a missing or misshapen gradient, a graph
    that was freed, and a saved tensor that was overwritten.
    """
    if inputs is not None and not as_tuple(inputs):
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
            "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None "
            "after use to break the cycle and avoid the leak.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    roots = as_tuple(tensors)
    gradients = seeds(roots, grad_tensors, create_graph)
    capture = None if inputs is None else [input_edge(tensor) for tensor in as_tuple(inputs)]
    task = GraphTask(
        root_edges(roots),
        gradients,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        capture=capture,
        root_tensors=roots,
        inputs=() if inputs is None else as_tuple(inputs),
        call_site=caller(),
    )
    task.run()
    if inputs is not None:
        keep_for_results(task, as_tuple(inputs), create_graph)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of `outputs`, summed over all of them, with respect to each of `inputs`; `.grad` is not touched.

    An input that the outputs do not depend on is an error, or gives None with `allow_unused=True`, or zeros with
    `materialize_grads=True`. The other arguments are those of `backward`.
    """
    wanted, roots = as_tuple(inputs), as_tuple(outputs)
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True).", stacklevel=2)
    if is_grads_batched:
        return batched_grad(roots, wanted, grad_outputs, create_graph, bool(allow_unused), materialize_grads)
    task = GraphTask(
        root_edges(roots),
        seeds(roots, grad_outputs, create_graph),
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        capture=[input_edge(tensor) for tensor in wanted],
        accumulate=False,
        root_tensors=roots,
        inputs=wanted,
        call_site=caller(),
    )
    task.run()
    result = []
    for i, (tensor, edge) in enumerate(zip(wanted, task.capture or (), strict=True)):
        gradient = task.captured.get(edge)
        if gradient is None:
            if not allow_unused and not materialize_grads:
                raise UnusedInputError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
            result.append(new_tensor(Tensor, np.zeros_like(tensor.array)) if materialize_grads else None)
        else:
            result.append(gradient if isinstance(gradient, Tensor) else new_tensor(Tensor, np.array(gradient)))
    return tuple(result)


def batched_grad(
    roots: tuple[Any, ...],
    wanted: tuple[Any, ...],
    grad_outputs: Any,
    create_graph: bool,
    allow_unused: bool,
    materialize_grads: bool,
) -> tuple[Any, ...]:
    """`grad` for each entry of a leading batch dimension of `grad_outputs`, one pass after the other."""
    batches = as_tuple(grad_outputs)
    rows = [
        grad(
            roots,
            wanted,
            tuple([batch[i] for batch in batches]),
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
        for i in range(len(batches[0]))
    ]
    from microtape.ops.shape import stack

    return tuple([None if column[0] is None else stack(column) for column in zip(*rows, strict=True)])


def keep_for_results(task: GraphTask, inputs: tuple[Any, ...], create_graph: bool) -> None:
    """`backward(inputs=)` gives results among the inputs a `.grad` too."""
    for tensor, edge in zip(inputs, task.capture or (), strict=True):
        gradient = task.captured.get(edge)
        if gradient is not None and not tensor.is_leaf:
            tensor.accumulate(gradient if isinstance(gradient, Tensor) else np.array(gradient), create_graph)


def as_tuple(tensors: Any) -> tuple[Any, ...]:
    """One tensor or several."""
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def root_edges(roots: tuple[Any, ...]) -> list[Edge]:
    """Where backward starts. Raises NoGraphError for a root without history."""
    edges = [edge_of(root) for root in roots]
    for i, edge in enumerate(edges):
        if edge is NO_EDGE:
            raise NoGraphError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return edges


def input_edge(tensor: Any) -> Edge:
    """The edge whose gradient is asked for. Raises RuntimeError if the tensor does not require grad."""
    edge = edge_of(tensor)
    if edge is NO_EDGE:
        raise NoGraphError("One of the differentiated Tensors does not require grad")
    return edge


def seeds(roots: Sequence[Any], gradients: Any, create_graph: bool) -> list[Any]:
    """The first gradient of each root, checked; ones for a root of one element that was given none."""
    given = (None,) * len(roots) if gradients is None else as_tuple(gradients)
    if len(given) != len(roots):
        raise GradientError(f"got {len(roots)} tensors and {len(given)} gradients")
    result: list[Any] = []
    for i, (root, gradient) in enumerate(zip(roots, given, strict=True)):
        if gradient is None:
            if edge_of(root) is not NO_EDGE:
                check_scalar(root)
            gradient = new_tensor(Tensor, np.ones(root.array.shape, root.array.dtype))
        elif not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        elif gradient.array.shape != root.array.shape:
            raise GradientError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {Size(gradient.array.shape)} and output[{i}] has a "
                f"shape of {Size(root.array.shape)}."
            )
        result.append(gradient if create_graph else gradient.array)
    return result


def check_scalar(root: Any) -> None:
    """Raise GradientError where a first gradient of one cannot be assumed."""
    if root.array.size != 1:
        raise GradientError("grad can be implicitly created only for scalar outputs")
    if root.array.dtype.kind != "f":
        raise GradientError(
            f"grad can be implicitly created only for real scalar outputs but got microtape.{root.array.dtype.name}"
        )


def caller() -> CallSite | None:
    """The user's line that called us."""
    frame = user_frame(sys._getframe(1))
    return CallSite(frame.f_code, frame.f_lasti) if frame is not None else None
