"""Custom differentiable operations: `Function`, and the ctx that its forward leaves for its backward.

Note [The ctx is the node]
  What `forward` and `backward` receive as `ctx` is the very node that is put into the graph: `y.grad_fn` of an output.
  Each Function class has a node class of its own, named `<Function>Backward` as in torch.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from microtape.call_site import LIBRARY_FILES, user_frame
from microtape.errors import GradientError, InPlaceError
from microtape.grad_mode import _GradMode, mode
from microtape.in_place import rebase_history
from microtape.node import NO_EDGE, Edge, Node, next_sequence_nr
from microtape.saved import SavedTensor, keep_versions, unpack
from microtape.tensor_state import (
    TensorState,
    edge_of,
    ensure_version,
    is_leaf,
    is_view,
    new_tensor,
    requires_grad,
)
from microtape.views import make_view
from microtape.watch import watch


class FunctionNode(Node):
    """The node, and at the same time the ctx, of one call of a Function."""

    kind = "function"
    multi_output = True
    function: ClassVar[type[Function]]

    needs_input_grad: tuple[bool, ...]
    is_tensor_input: tuple[bool, ...]
    tensor_type: type[TensorState]

    def __init__(self) -> None:
        super().__init__()
        self.to_save: tuple[TensorState | None, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True

    # What the user's forward calls

    def save_for_backward(self, *tensors: TensorState | None) -> None:
        """Keep tensors (or None) for backward, which reads them as `ctx.saved_tensors`, checked for in-place writes.

        Raises TypeError for anything else; put other values on ctx as attributes.
        """
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, TensorState):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(tensor).__name__}"
                )
        self.to_save = tensors

    def mark_dirty(self, *tensors: TensorState) -> None:
        """Declare inputs that forward has written to. Each must be returned as an output."""
        self.dirty = tensors

    def mark_non_differentiable(self, *outputs: TensorState) -> None:
        """Declare outputs that have no derivative; they do not require grad, and their gradient arrives as zeros."""
        self.non_differentiable = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Whether undefined gradients reach backward as zeros (the default) or as None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved. Raises FreedGraphError after backward has freed it, ModifiedInPlaceError if overwritten."""
        return tuple(unpack(self, True))

    # What the engine calls

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """Run the user's backward on Tensors and check what it returns."""
        arguments = [
            one if one is None or isinstance(one, TensorState) else new_tensor(self.tensor_type, np.asarray(one))
            for one in gradient
        ]
        returned = self.function.differentiate(self, *arguments)
        gradients = self._checked(returned if isinstance(returned, tuple) else (returned,))
        return gradients if create_graph else [g.array if g is not None else None for g in gradients]

    def materialized(self, gradients: Sequence[Any], create_graph: bool) -> list[Any]:
        """The gradients that arrived, with zeros for those that did not, unless forward has asked for None."""
        return [
            self._zeros(i, create_graph) if one is None and self.materialize_grads else one
            for i, one in enumerate(gradients)
        ]

    def _zeros(self, output_nr: int, as_tensor: bool) -> Any:
        shape, dtype = self.output_spec(output_nr)
        if shape is None:
            return None  # that output is not a tensor
        zeros = np.zeros(shape, dtype)
        return new_tensor(self.tensor_type, zeros) if as_tensor else zeros

    def _checked(self, gradients: tuple[Any, ...]) -> list[Any]:
        count = len(self.is_tensor_input)
        if len(gradients) > count and all(extra is None for extra in gradients[count:]):
            gradients = gradients[:count]
        if len(gradients) != count:
            raise GradientError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {count}, got {len(gradients)})",
                ("forward", self.call_site),
            )
        kept = []
        for i, (gradient, is_tensor) in enumerate(zip(gradients, self.is_tensor_input, strict=True)):
            if is_tensor:
                if gradient is not None and not isinstance(gradient, TensorState):
                    raise TypeError(f"expected Variable or None (got {type(gradient).__name__})")
                kept.append(gradient)
            elif gradient is not None:
                raise GradientError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable",
                    ("forward", self.call_site),
                )
        return kept


class FunctionMeta(type):
    """Gives each Function class the class of its nodes."""

    node_class: type[FunctionNode]

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls.node_class = type(f"{name}Backward", (FunctionNode,), {"function": cls, "__module__": cls.__module__})
        cls.node_class.formula = namespace.get("formula", "")


class Function(metaclass=FunctionMeta):
    """A differentiable operation of your own.

    Write `forward(ctx, *args)` and `backward(ctx, *grad_outputs)` as static methods and call `YourFunction.apply(...)`.
    `forward` runs unrecorded; `backward` gets one gradient for each output and returns one for each argument, None
    where there is none. A class attribute `formula` is shown by the stepper.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: `forward(ctx, *args)`, or `forward(*args)` beside a `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, if `forward` has no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments from those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @classmethod
    def differentiate(cls, ctx: FunctionNode, *grad_outputs: Any) -> Any:
        """Call the user's `backward`, by whichever of its two names it has."""
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return (cls.vjp if cls.vjp is not Function.vjp else cls.backward)(ctx, *grad_outputs)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` on the arguments and record the call. Tensors inside containers are not seen."""
        if cls.setup_context is not Function.setup_context:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return call_function(cls, args, kwargs, sys._getframe(1))


def call_function(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any) -> Any:
    """One call of a Function: run its forward unrecorded, then give the outputs their history."""
    node = cls.node_class()
    tensors = [argument for argument in args if isinstance(argument, TensorState)]
    edges = tuple([edge_of(tensor) for tensor in tensors])
    recorded = mode.enabled and any([edge is not NO_EDGE for edge in edges])
    node.is_tensor_input = tuple([isinstance(argument, TensorState) for argument in args])
    node.needs_input_grad = tuple([isinstance(argument, TensorState) and requires_grad(argument) for argument in args])
    with _GradMode(False):
        if cls.setup_context is not Function.setup_context:
            returned = cls.forward(*args, **kwargs)
            cls.setup_context(node, args, returned)
        else:
            returned = cls.forward(node, *args, **kwargs)
    outputs = returned if isinstance(returned, tuple) else (returned,)
    if tensors:
        node.tensor_type = type(tensors[0])
    if recorded:
        place_on_tape(node, edges, outputs, frame)
    check_dirty(node, tensors, outputs)
    outputs = give_history(node, tensors, outputs, recorded)
    if recorded:
        save(node, tensors, outputs)
    dirty = node.dirty
    node.to_save = node.dirty = node.non_differentiable = ()
    if recorded and watch.watcher is not None:
        watch.watcher.operation(node, args, outputs, bool(dirty))
    return outputs if isinstance(returned, tuple) else outputs[0]


def place_on_tape(node: FunctionNode, edges: tuple[Edge, ...], outputs: tuple[Any, ...], frame: Any) -> None:
    """Like `operation.attach`, for several outputs; an output that is no tensor has no shape."""
    node.next_edges = edges
    node.sequence_nr = next_sequence_nr()
    node.shape = [output.array.shape if isinstance(output, TensorState) else None for output in outputs]
    node.dtype = [output.array.dtype if isinstance(output, TensorState) else None for output in outputs]
    if frame.f_code.co_filename in LIBRARY_FILES:
        frame = user_frame(frame)
    if frame is not None:
        node.code, node.instruction = frame.f_code, frame.f_lasti


def check_dirty(node: FunctionNode, tensors: list[Any], outputs: tuple[Any, ...]) -> None:
    """Check that what was marked dirty was an input and is returned, and count the writes."""
    for tensor in node.dirty:
        if not contains(tensors, tensor):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input tensors should be passed to "
                "ctx.mark_dirty().",
                UserWarning,
                stacklevel=4,
            )
        if not contains(outputs, tensor):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )
        ensure_version(tensor).bump()


def give_history(node: FunctionNode, tensors: list[Any], outputs: tuple[Any, ...], recorded: bool) -> tuple[Any, ...]:
    """The outputs as the caller gets them, each with `node` as its history where it has one."""
    floating = [
        isinstance(output, TensorState)
        and output.array.dtype.kind in "fc"
        and not contains(node.non_differentiable, output)
        for output in outputs
    ]
    several = sum(floating) > 1
    given: dict[int, Any] = {}  # an output that is returned twice stays one object
    result = []
    for i, output in enumerate(outputs):
        if not isinstance(output, TensorState):
            result.append(output)
            continue
        if id(output) not in given:
            is_input = contains(tensors, output)
            if recorded and floating[i]:
                given[id(output)] = differentiable_output(node, i, output, is_input, several)
            else:
                given[id(output)] = plain_output(output, is_input, contains(node.dirty, output))
        result.append(given[id(output)])
    return tuple(result)


def differentiable_output(node: FunctionNode, output_nr: int, output: Any, is_input: bool, several: bool) -> Any:
    """Make `node` the history of one output."""
    if is_input and contains(node.dirty, output):
        return rebase_dirty(node, output_nr, output, several)
    if is_input:  # returned as it is: a view of it carries the node, so that the input keeps its own history
        alias = new_tensor(type(output), output.array.view())
        alias.edge = (node, output_nr)
        make_view(alias, output, (), "function")
        return alias
    if is_view(output):
        view = output.meta.view
        view.edge, view.origin = (node, output_nr), "function"
    else:
        output.edge = (node, output_nr)
    return output


def rebase_dirty(node: FunctionNode, output_nr: int, output: Any, several: bool) -> Any:
    """The input that was written to becomes the output; the very same object."""
    if requires_grad(output) and is_leaf(output):
        raise InPlaceError("a leaf Variable that requires grad has been used in an in-place operation.")
    if is_view(output):
        if several:
            raise InPlaceError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
                "return more than one Tensor. If this is not supported by your code, you can make the input of your "
                "Function a non-view by cloning it."
            )
        rebase_history(output, node)
    else:
        rebase_history(output, node)
        output.edge = (node, output_nr)
    return output


def plain_output(output: Any, is_input: bool, is_dirty: bool) -> Any:
    """An output without history: an input is returned as an alias, so that its own flags stay."""
    if is_input and not is_dirty:
        alias = new_tensor(type(output), output.array.view())
        alias.version = ensure_version(output)
        return alias
    return output


def save(node: FunctionNode, tensors: list[Any], outputs: tuple[Any, ...]) -> None:
    """Turn what `save_for_backward` was given into saved tensors; see Note [Saved tensors]."""
    kept: list[Any] = []
    sources = []
    for tensor in node.to_save:
        edge = tensor.edge if tensor is not None else None
        if edge is not None and edge[0] is node:
            kept.append(SavedTensor(tensor, edge[1]))  # type: ignore[arg-type]
        else:
            kept.append(tensor)
        sources.append(next((i for i, other in enumerate(tensors) if other is tensor), -1))
    node.sources = tuple(sources)
    node.saved_names = tuple(f"saved_tensors[{i}]" for i in range(len(kept)))
    node.saved = tuple(kept)
    keep_versions(node)


def contains(tensors: Sequence[Any], tensor: Any) -> bool:
    """Whether this very object is among them; `in` would compare values."""
    return any(other is tensor for other in tensors)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated again: a double backward through it raises."""

    @functools.wraps(backward)
    def run(ctx: Any, *grad_outputs: Any) -> Any:
        with _GradMode(False):
            returned = backward(ctx, *grad_outputs)
        if not mode.enabled or not any(isinstance(g, TensorState) and requires_grad(g) for g in grad_outputs):
            return returned
        values = returned if isinstance(returned, tuple) else (returned,)
        blocked = tuple(block(value, sys._getframe(1)) for value in values)
        return blocked if isinstance(returned, tuple) else blocked[0]

    return run


class Error(Node):
    """The node behind a gradient that cannot be differentiated again."""

    kind = "error"

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """Raise."""
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def block(value: Any, frame: Any) -> Any:
    """`value` with an Error node as its history."""
    if not isinstance(value, TensorState):
        return value
    node = Error()
    node.sequence_nr = next_sequence_nr()
    node.shape, node.dtype = value.array.shape, value.array.dtype
    return new_tensor(type(value), value.array, (node, 0))
