"""Custom differentiable operations: `Function`, and the ctx that its forward leaves for its backward.

Note [The ctx and its node]
  What `forward` and `backward` receive as `ctx` stands for the node that is put into the graph: it passes on what the
  node knows, `y.grad_fn` of an output passes on what the user has put on ctx, and the user's attributes cannot get into
  the way of the node's own, whatever they are called (`ctx.shape = x.shape`). NB: in torch the two are one object.
  Each Function class has a node class of its own, named `<Function>Backward` as in torch.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from microtape.call_site import LIBRARY_FILES, user_frame
from microtape.errors import GradientError, InPlaceError
from microtape.grad_mode import _GradMode, mode
from microtape.in_place import check_in_place, rebase_history, renewed_history
from microtape.node import Edge, Node, next_sequence_nr
from microtape.saved import SavedTensor, keep_versions, unpack
from microtape.saved_attributes import RawSavedTensor, all_raw_saved
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


class Context:
    """The ctx of one call of a Function: the user's attributes, and whatever the node has besides."""

    def __init__(self, node: FunctionNode) -> None:
        vars(self)["_node"] = weakref.ref(node)  # the node holds its ctx; held back, the graph would live on

    def __getattr__(self, name: str) -> Any:
        node = vars(self)["_node"]()
        if node is None or name == "ctx":
            raise AttributeError(f"ctx has no attribute '{name}'")
        return getattr(node, name)


class FunctionNode(Node):
    """The node of one call of a Function, with the methods that its ctx passes on; see Note [The ctx and its node]."""

    kind = "function"
    multi_output = True
    function: ClassVar[type[Function]]

    needs_input_grad: tuple[bool, ...]
    is_tensor_input: tuple[bool, ...]
    tensor_type: type[TensorState]

    def __init__(self) -> None:
        super().__init__()
        self.ctx = Context(self)
        self.to_save: tuple[TensorState | None, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.saved_for_forward: tuple[TensorState | None, ...] | None = None  # until jvp has run

    def __getattr__(self, name: str) -> Any:
        """What the user has put on ctx."""
        try:
            return vars(vars(self)["ctx"])[name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None

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

    def save_for_forward(self, *tensors: TensorState | None) -> None:
        """Keep tensors for `jvp`, which reads them as `ctx.saved_tensors`. Raises AssertionError for anything else."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, TensorState):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx."
                )
        self.saved_for_forward = tensors

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
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        return tuple(unpack(self, True))

    @property
    def _raw_saved_tensors(self) -> tuple[RawSavedTensor, ...]:
        return all_raw_saved(self)

    # What the engine calls

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """Run the user's backward on Tensors and check what it returns."""
        arguments = [
            one if one is None or isinstance(one, TensorState) else new_tensor(self.tensor_type, np.asarray(one))
            for one in gradient
        ]
        returned = self.function.differentiate(self.ctx, *arguments)
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

    def release(self) -> bool:
        """See Node.release; after it `saved_tensors` raises, even if nothing was saved."""
        freed, self.saved = bool(self.saved), None
        return freed

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
        kept: list[Any] = []
        for i, (gradient, is_tensor) in enumerate(zip(gradients, self.is_tensor_input, strict=True)):
            if is_tensor:
                if gradient is not None and not isinstance(gradient, TensorState):
                    raise GradientError(
                        f"expected Variable or None (got {type(gradient).__name__})", ("forward", self.call_site)
                    )
                if gradient is not None:
                    self._check_real(len(kept), gradient)
                kept.append(gradient)
            elif gradient is not None:
                raise GradientError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable",
                    ("forward", self.call_site),
                )
        return kept

    def _check_real(self, output: int, gradient: TensorState) -> None:
        receiver, input_nr = self.next_edges[output]
        if receiver is None or gradient.array.dtype.kind != "c" or receiver.output_spec(input_nr)[1].kind == "c":
            return
        raise GradientError(
            f"Function {self.name()} returned an invalid gradient at index {output} - got a complex one for a real "
            "input. Return its real part",
            ("forward", self.call_site),
        )


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

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """How the outputs change as the arguments do, for forward-mode AD: None for an argument that is no tensor."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: call `apply` on the class."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @classmethod
    def differentiate(cls, ctx: Context, *grad_outputs: Any) -> Any:
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
        if has_setup_context(cls):
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return call_function(cls, args, kwargs, sys._getframe(1))


def has_setup_context(cls: type[Function]) -> bool:
    """Whether `forward` has no ctx."""
    return cls.setup_context is not Function.setup_context


class _InsideForward(_GradMode):
    """While a Function's forward runs, nothing is recorded, and forward-mode AD leaves the tangents to `jvp`."""

    def __enter__(self) -> None:
        super().__enter__()
        self.followed, mode.forward_ad = mode.forward_ad, False

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        mode.forward_ad = self.followed


def call_function(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any) -> Any:
    """One call of a Function: run its forward unrecorded, then give the outputs their history."""
    node = cls.node_class()
    tensors = [argument for argument in args if isinstance(argument, TensorState)]
    node.is_tensor_input = tuple([isinstance(argument, TensorState) for argument in args])
    node.needs_input_grad = tuple([isinstance(argument, TensorState) and requires_grad(argument) for argument in args])
    recorded = mode.enabled and any(node.needs_input_grad)
    if recorded:
        node.next_edges = tuple([edge_of(tensor) for tensor in tensors])
        node.sequence_nr = next_sequence_nr()
    with _InsideForward(False):
        if has_setup_context(cls):
            returned = cls.forward(*args, **kwargs)
            cls.setup_context(node.ctx, args, returned)
        else:
            returned = cls.forward(node.ctx, *args, **kwargs)
    raw = returned if isinstance(returned, tuple) else (returned,)
    if tensors:
        node.tensor_type = type(tensors[0])
    if recorded:
        place_on_tape(node, raw, frame)
    count_writes(node, tensors)
    outputs = give_history(node, tensors, raw, recorded)
    if recorded:
        save(node, tensors, raw, check_inputs=has_setup_context(cls))
        tell(node, args, outputs)
    if watch.watcher is not None:
        watch.watcher.called(node, args, raw, outputs)
    node.to_save = node.dirty = node.non_differentiable = ()
    node.saved_for_forward = None
    return outputs if isinstance(returned, tuple) else outputs[0]


def tell(node: FunctionNode, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Let the observer know, if there is one; a view that was written to gets its own new history after that."""
    written = outputs[0] if node.dirty else None
    if written is not None and is_view(written) and contains(node.dirty, written):
        base = written.meta.view.base
        if watch.watcher is not None:
            watch.watcher.operation(edge_of(base)[0], args, (base,), True)  # type: ignore[arg-type]
        renewed_history(written)
    elif watch.watcher is not None:
        watch.watcher.operation(node, args, outputs, bool(node.dirty))


def place_on_tape(node: FunctionNode, outputs: tuple[Any, ...], frame: Any) -> None:
    """Like `operation.attach`, for several outputs; an output that is no tensor has no shape."""
    node.shape = [output.array.shape if isinstance(output, TensorState) else None for output in outputs]
    node.dtype = [output.array.dtype if isinstance(output, TensorState) else None for output in outputs]
    if frame.f_code.co_filename in LIBRARY_FILES:
        frame = user_frame(frame)
    if frame is not None:
        node.code, node.instruction = frame.f_code, frame.f_lasti


def count_writes(node: FunctionNode, tensors: list[Any]) -> None:
    """Count one write on each tensor that was marked dirty."""
    for tensor in node.dirty:
        if not contains(tensors, tensor):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
                "should be passed to ctx.mark_dirty().",
                UserWarning,
                stacklevel=4,
            )
        ensure_version(tensor).bump()


def give_history(node: FunctionNode, tensors: list[Any], raw: tuple[Any, ...], recorded: bool) -> tuple[Any, ...]:
    """The outputs as the caller gets them, each with `node` as its history where it has one."""
    outputs = list(raw)
    differentiable = 0
    for i, output in enumerate(raw):
        if not isinstance(output, TensorState):
            continue
        is_input, is_dirty = contains(tensors, output), contains(node.dirty, output)
        if recorded and output.array.dtype.kind in "fc" and not contains(node.non_differentiable, output):
            differentiable += 1
            outputs[i] = differentiable_output(output, (node, i), is_input, is_dirty, len(raw))
        else:
            outputs[i] = plain_output(output, is_input, is_dirty)
        if not (is_input and is_dirty) and is_view(outputs[i]):
            view = outputs[i].meta.view
            view.origin, view.made = "function", node.call_site
    if differentiable > 1:
        for output in outputs:
            if isinstance(output, TensorState) and is_view(output):
                output.meta.view.origin = "multi_output"  # type: ignore[union-attr]
    if not all([contains(raw, tensor) for tensor in node.dirty]):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    return tuple(outputs)


def differentiable_output(output: Any, edge: Edge, is_input: bool, is_dirty: bool, count: int) -> Any:
    """One of `count` outputs, with `edge` as its history. An input that was written to becomes the output itself."""
    if is_dirty:
        if requires_grad(output) and is_leaf(output):
            raise InPlaceError("a leaf Variable that requires grad has been used in an in-place operation.")
        if is_view(output) and count > 1:
            raise InPlaceError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
                "return more than one Tensor. This is not supported by the current autograd engine. You should either "
                "make sure the input is not a view (using .clone() for example) or make your Function only return one "
                "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
                "Tensor and a second one that does the other operations). You can ask on the forum "
                "https://discuss.pytorch.org/ if you need help to do this change."
            )
        del output.grad  # it was that of another value
        check_in_place(output)
        rebase_history(output, edge)
        return output
    if is_input:  # returned as it is: a view of it carries the node, so that the input keeps its own history
        output = view_as_itself(output)
    if is_view(output):
        view = output.meta.view
        view.edge, view.seen = edge, output.version.number
    else:
        output.edge = edge
    return output


def plain_output(output: Any, is_input: bool, is_dirty: bool) -> Any:
    """An output without this call in its history; an input keeps its own flags, so something else stands in for it."""
    if not requires_grad(output):
        return view_as_itself(output) if is_input and not is_dirty else output
    if is_input:
        return output.detach()
    if not is_view(output):
        output.detach_()
    return output


def view_as_itself(tensor: Any) -> Any:
    """A view of all of it, without a history."""
    view = new_tensor(type(tensor), tensor.array.view())
    make_view(view, tensor, (), "function")
    return view


def save(node: FunctionNode, tensors: list[Any], raw: tuple[Any, ...], *, check_inputs: bool) -> None:
    """Turn what `save_for_backward` was given into saved tensors; see Note [Saved tensors]."""
    kept: list[Any] = []
    sources = []
    for tensor in node.to_save:
        source = next((i for i, other in enumerate(tensors) if other is tensor), -1)
        output_nr = next((i for i, output in reversed(list(enumerate(raw))) if output is tensor), None)
        if tensor is None or output_nr is None:
            kept.append(tensor)
        elif source >= 0 and not contains(node.dirty, tensor):
            if check_inputs:
                raise RuntimeError(
                    "An input that has been returned as-is as output is being saved for backward. This is not "
                    "supported if you override setup_context. You should return and save a view of the input instead, "
                    "e.g. with x.view_as(x) or setup ctx inside the forward function itself."
                )
            kept.append(tensor)
        else:
            kept.append(SavedTensor(tensor, output_nr) if requires_grad(tensor) else tensor)
        sources.append(source)
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

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::Error"

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
