"""`backward` and `grad`: they check their arguments and run a GraphTask."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from microtape.backward.engine import GraphTask
from microtape.basics.call_site import CallSite, user_site, user_stacklevel
from microtape.basics.dtypes import DType
from microtape.errors import GradientError, NoGraphError, UnusedInputError
from microtape.ops.shape.joining import stack
from microtape.tape.inference import mark_if_inference
from microtape.tape.node import NO_EDGE, Edge, Node, is_array
from microtape.tape.tensor_state import edge_of, new_tensor, requires_grad
from microtape.tape.watch import watch
from microtape.tensors.attributes import Size
from microtape.tensors.tensor import Tensor


class GradientEdge(NamedTuple):
    """A tensor's edge. It stands for the tensor in calls of `backward` and `grad`, and keeps the graph alive."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor. Raises NoGraphError, a RuntimeError, if it does not require grad.

    Raises AssertionError for a view made in no_grad mode, whose gradient goes nowhere.
    """
    if not tensor.requires_grad:
        raise NoGraphError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, output_nr = edge_of(tensor)
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    return GradientEdge(node, output_nr)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of `tensors`, summed over all of them, and add them to the `.grad` of the leaves.

    `tensors` is a Tensor, a GradientEdge, or a sequence of them. `grad_tensors` has a first gradient for each of them,
    of the same shape; None stands for ones and is allowed for tensors of one element. `retain_graph` keeps the saved
    tensors for another backward; it defaults to `create_graph`. `create_graph` records the backward pass itself, so
    that the gradients can be differentiated. `inputs` limits accumulation to these tensors or GradientEdges, a sequence
    or a dict of them; a non-leaf tensor among them retains its gradient from then on.

    Raises subclasses of RuntimeError, with torch's wording: NoGraphError for a tensor without history, GradientError
    for a first gradient that is missing or of the wrong shape, FreedGraphError for a graph that was freed, and
    ModifiedInPlaceError for a saved tensor that was overwritten. Raises TypeError for a gradient that is not a Tensor.
    """
    wanted = None if inputs is None else _inputs_of(inputs, "backward")
    roots = _as_tuple(tensors)
    gradients = _first_gradients(roots, grad_tensors)
    edges = _root_edges(roots)
    for tensor in wanted or ():
        if isinstance(tensor, Tensor) and not tensor.is_leaf:
            tensor.retain_grad()
        elif isinstance(tensor, Tensor) and not tensor.requires_grad:
            raise NoGraphError("can't retain_grad on Tensor that has requires_grad=False")
    capture = None if wanted is None else [_input_edge(tensor) for tensor in wanted]
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
            "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None "
            "after use to break the cycle and avoid the leak.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    GraphTask(
        edges,
        gradients,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        capture=capture,
        tensor_type=Tensor,
        outputs=roots,
        inputs=wanted or (),
        call_site=_user_call_site(),
    ).run()


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
) -> Any:
    """Compute the gradients of `outputs`, summed over all of them, with respect to `inputs`; `.grad` does not change.

    Returns a tuple with a gradient for each input, of its shape and dtype; a dict if `inputs` is a dict. For an input
    that the outputs do not depend on, it raises UnusedInputError, returns None if `allow_unused`, or returns zeros if
    `materialize_grads`. With `is_grads_batched`, each of `grad_outputs` has an additional first dimension, the batch,
    and so has each result. The other arguments, and the errors raised, are those of `backward`; ValueError is raised
    for `allow_unused=False` with `materialize_grads`.
    """
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    roots, wanted = _as_tuple(outputs), _inputs_of(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use microtape.autograd.backward.",
            FutureWarning,
            stacklevel=user_stacklevel(),
        )
    keep_graph = create_graph if retain_graph is None else retain_graph
    may_be_unused = bool(allow_unused) or materialize_grads
    if is_grads_batched:
        batches = _as_tuple([None] * len(roots) if grad_outputs is None else grad_outputs)
        result = _batched_gradients(roots, wanted, batches, keep_graph, create_graph, may_be_unused)
    else:
        gradients = _first_gradients(roots, grad_outputs)
        result = _gradients_of(roots, wanted, gradients, keep_graph, create_graph, may_be_unused)
    if materialize_grads:
        result = [
            _zeros_for(tensor, create_graph) if gradient is None else gradient
            for tensor, gradient in zip(wanted, result, strict=True)
        ]
    return dict(zip(inputs, result, strict=True)) if type(inputs) is dict else tuple(result)


def _gradients_of(
    roots: tuple[Any, ...],
    wanted: tuple[Any, ...],
    gradients: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    may_be_unused: bool,
) -> list[Any]:
    """Run one pass and return the captured gradients; None for an input that the roots do not depend on."""
    task = GraphTask(
        _root_edges(roots),
        gradients,
        keep_graph=keep_graph,
        create_graph=create_graph,
        capture=[_input_edge(tensor) for tensor in wanted],
        accumulate=False,
        tensor_type=Tensor,
        outputs=roots,
        inputs=wanted,
        call_site=_user_call_site(),
    )
    task.run()
    result = [task.captured.get(edge) for edge in task.capture or ()]
    unused = [i for i, gradient in enumerate(result) if gradient is None]
    if unused and not may_be_unused:
        raise UnusedInputError(
            f"The differentiated Tensor at index {unused[0]} appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    found = [
        mark_if_inference(new_tensor(Tensor, np.array(gradient, order="C"))) if is_array(gradient) else gradient
        for gradient in result
    ]
    if (watcher := watch.watcher) is not None:
        operands = tuple([one for one in roots if isinstance(one, Tensor)])
        for one in found if operands else ():
            if one is not None and not requires_grad(one):
                watcher.without_history("grad", operands, one)
    return found


def _batched_gradients(
    roots: tuple[Any, ...],
    wanted: tuple[Any, ...],
    batches: tuple[Any, ...],
    keep_graph: bool,
    create_graph: bool,
    may_be_unused: bool,
) -> list[Any]:
    """Run one pass for each index of the first dimension of the first gradients, and stack the results.

    Raises IndexError if it is missing or empty; ValueError if its sizes differ, or for a root without a first gradient
    (RuntimeError if that is no scalar).
    """

    def gradients(i: int) -> Sequence[Any]:
        return _first_gradients(roots, tuple([None if batch is None else batch[i] for batch in batches]), batched=True)

    gradients(0)
    if any([batch is None for batch in batches]):
        raise ValueError(
            "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
            "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
        )
    sizes = [len(batch) for batch in batches]
    if len(set(sizes)) != 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    count = sizes[0]
    rows = [
        _gradients_of(
            roots,
            wanted,
            gradients(i),
            keep_graph or i + 1 < count,
            create_graph,
            may_be_unused,
        )
        for i in range(count)
    ]
    return [None if column[0] is None else stack(column) for column in zip(*rows, strict=True)]


def _zeros_for(tensor: Any, create_graph: bool) -> Tensor:
    """Zeros as the gradient of an input that the roots do not depend on. Raises RuntimeError for a GradientEdge."""
    if isinstance(tensor, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    zeros = new_tensor(Tensor, np.zeros_like(tensor.array))
    return zeros.requires_grad_(create_graph)


def _as_tuple(tensors: Any) -> tuple[Any, ...]:
    """One tensor or GradientEdge, or a sequence of them, as a tuple."""
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def _inputs_of(inputs: Any, function: str) -> tuple[Any, ...]:
    """The `inputs` of `backward` or `grad` as a tuple. Raises TypeError for a Mapping, RuntimeError if empty."""
    if type(inputs) is dict:
        inputs = inputs.values()
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return wanted


def _root_edges(roots: tuple[Any, ...]) -> list[Edge]:
    """The edges where backward starts. Raises NoGraphError for a root without history."""
    edges = []
    for i, root in enumerate(roots):
        edge = _as_edge(root)
        if edge[0] is None:
            raise NoGraphError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
    return edges


def _input_edge(tensor: Any) -> Edge:
    """The edge to capture for an input. Raises NoGraphError if it does not require grad."""
    edge = _as_edge(tensor)
    if edge is NO_EDGE:
        raise NoGraphError("One of the differentiated Tensors does not require grad")
    return edge


def _as_edge(tensor: Any) -> Edge:
    """The edge of a Tensor or GradientEdge."""
    return (tensor.node, tensor.output_nr) if isinstance(tensor, GradientEdge) else edge_of(tensor)


def _first_gradients(roots: Sequence[Any], given: Any, *, batched: bool = False) -> list[Any]:
    """The first gradient of each root, checked; ones if it was not given and the root has one element."""
    if given is None:
        return [_implicit_gradient(root) for root in roots]
    gradients = _as_tuple(given)
    result = [
        _first_gradient(i, root, gradient, batched)
        for i, (root, gradient) in enumerate(zip(roots, gradients, strict=False))
    ]
    if len(result) < len(roots):
        raise GradientError(f"got {len(roots)} tensors and {len(result)} gradients")
    return result


def _first_gradient(i: int, root: Any, gradient: Any, batched: bool) -> Any:
    """The first gradient of root number `i`: the given one, checked, or ones."""
    if gradient is None:
        return _implicit_gradient(root)
    shape, dtype = _spec_of(root)
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient.array.shape != shape:
        if batched:
            raise GradientError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{i}] has a shape of {Size(gradient.array.shape)} "
                f"and output[{i}] has a shape of {Size(shape)}. If you only want some tensors in "
                "`grad_output` to be considered batched, consider using vmap."
            )
        raise GradientError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {Size(gradient.array.shape)} and output[{i}] has a "
            f"shape of {Size(shape)}."
        )
    if (gradient.array.dtype.kind == "c") != (dtype.kind == "c"):
        raise GradientError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of microtape.{gradient.array.dtype.name} and output[{i}] has a dtype of "
            f"microtape.{dtype.name}."
        )
    return gradient


def _implicit_gradient(root: Any) -> Tensor:
    """A gradient of ones. Raises GradientError unless the root is real and has one element.

    A root without history passes: `_root_edges` raises for it.
    """
    shape, dtype = _spec_of(root)
    if not shape and dtype.kind == "f":
        return new_tensor(Tensor, np.array(1, dtype))  # the fast path: np.ones takes four times as long
    if isinstance(root, GradientEdge) or requires_grad(root):
        if any([size != 1 for size in shape]):
            raise GradientError("grad can be implicitly created only for scalar outputs")
        if dtype.kind != "f":
            raise GradientError(
                f"grad can be implicitly created only for real scalar outputs but got microtape.{dtype.name}"
            )
    return new_tensor(Tensor, np.ones(shape, dtype))


def _spec_of(root: Any) -> tuple[tuple[int, ...], DType]:
    """The shape and dtype of a root."""
    if isinstance(root, GradientEdge):
        return root.node.output_spec(root.output_nr)
    return root.array.shape, root.array.dtype


def _user_call_site() -> CallSite | None:
    """The user's call site, if there is an observer to tell; otherwise None."""
    return user_site() if watch.watcher is not None else None
