"""Views: tensors that look at another tensor's memory.

Note [Views and their history]
  A view knows its base and the view operations that lead to it. As long as the base is not written to, the view's
  history is that of its own operations. Once it is, the history that counts is the base's new one: the view's grad_fn
  is then made again, the next time somebody asks, as an AsStridedBackward0 that repeats those operations.
  A view requires grad as soon as its base does. One that was made without grad mode has no history all the same: it
  is a leaf, and when its base is written to nobody can say what its gradient should be, so that is an error.
  NB: torch repeats them by strides and storage offset; replaying the operations gives the same gradients.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microtape.basics.call_site import CallSite, user_frame
from microtape.errors import InPlaceError
from microtape.tape.broadcast import unbroadcast
from microtape.tape.grad_mode import mode
from microtape.tape.node import NO_EDGE, Edge
from microtape.tape.operation import Operation, Unary, record, tracked
from microtape.tape.saved import short_name
from microtape.tape.tensor_state import TensorState, edge_of, ensure_meta, ensure_version, new_tensor, requires_grad
from microtape.tape.watch import watch

ADVICE = {
    "no_grad": (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
        "both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
        "tracked) or both outside (if you want the inplace to be tracked)."
    ),
    "inference_mode": (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
        "both the view and the inplace either both inside the inference_mode block (if you don't want the inplace to "
        "be tracked) or both outside (if you want the inplace to be tracked)."
    ),
    "multi_output": (
        "This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
    ),
    "function": (
        "This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
        "logic to handle view+inplace would override the custom backward associated with the custom Function, leading "
        "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function."
    ),
}
"""Why a view may not be written to, and what to do instead, by where the view comes from."""


class View:
    """How a tensor came to be a view: its root base, and the operations from there, which may be its history."""

    __slots__ = ("base", "edge", "is_source", "made", "origin", "seen", "steps")

    def __init__(self, base: TensorState, steps: tuple[ViewOperation, ...], origin: str) -> None:
        self.base = base
        self.steps = steps
        self.origin = origin  # a key of ADVICE, or "" where in-place writes are fine
        self.made: CallSite | None = None  # where, if it must not be written to
        self.edge = NO_EDGE  # its history, as of version `seen`
        self.seen = (base.version or ensure_version(base)).number
        self.is_source = False  # whether requires_grad_() was called on the view itself

    def history(self, tensor: TensorState) -> Edge:
        """The node that computed the view as it is now; see Note [Views and their history]."""
        number = (self.base.version or ensure_version(self.base)).number
        if self.seen != number and (self.edge is not NO_EDGE or requires_grad(self.base)):
            self.check("its base or another view of its base has been")
            self.rebuild_history(tensor)
            self.seen = number
        return self.edge

    def rebuild_history(self, tensor: TensorState) -> None:
        """Make a new history, behind the base's, for the view `tensor`."""
        node = AsStridedBackward0(self.steps)
        before, self.edge = self.edge, (node, 0)
        record(node, (self.base,), (edge_of(self.base),), (tensor,), sys._getframe(1))
        move_retained(tensor, before, self.edge)

    def check(self, what_is: str) -> None:
        """Raise InPlaceError if the view comes from where writes to it, or to its base, would make gradients wrong."""
        if not self.origin:
            return
        node, output_nr = self.edge
        which = "" if node is None else f"Output {output_nr} of {short_name(node)} is a view"
        if node is None or self.origin in ("no_grad", "inference_mode"):
            which = f"{which} of a view which was created in" if which else "A view was created in"
            message = f"{which} no_grad mode and {what_is} modified inplace with grad mode enabled."
            if self.origin == "inference_mode":
                message = f"{which} inference mode and {what_is} modified inplace in normal mode."
        else:
            message = f"{which} and {what_is} modified inplace."
        raise InPlaceError(f"{message} {ADVICE[self.origin]}", ("view made", self.made))


class ViewOperation(Unary):
    """An operation whose result looks at its operand's memory. Its `__slots__` are its constructor's parameters."""

    __slots__ = ("x_shape",)
    x_shape: tuple[int, ...]

    def parameters(self) -> tuple[Any, ...]:
        """What the constructor was given."""
        return tuple(getattr(self, name) for name in type(self).__slots__)


class AsStridedBackward0(Unary):
    """z = the view of x that these view operations lead to."""

    __slots__ = ("steps",)
    formula = "z = view(x)    ∂x = g placed where the view looks, 0 elsewhere"

    def __init__(self, steps: tuple[ViewOperation, ...]) -> None:
        super().__init__()
        self.steps = steps

    def grad_x(self, g: Any) -> Any:
        """Back through the view operations, the last one first."""
        for step in reversed(self.steps):
            g = step.gradients[0](step, g)
            if g.shape != step.x_shape:
                g = unbroadcast(g, step.x_shape)
        return g


def view_call(x: Any, cls: type[ViewOperation], *parameters: Any) -> Any:
    """Run and record a view operation; on an array, just look."""
    node = cls(*parameters)
    if not isinstance(x, TensorState):
        node.x_shape = x.shape
        return node.forward(x)
    array = x.array
    node.x_shape = array.shape
    output = new_tensor(type(x), node.forward(array))
    edges = tracked((x,))
    view = make_view(output, x, (node,))
    if edges:
        view.edge = (node, 0)
        record(node, (x,), edges, (output,), sys._getframe(2))
    elif watch.watcher is not None:
        watch.watcher.unrecorded(node, (x,), (output,), False)
    return output


class MultiViewOperation(Operation):
    """An operation with several results, all of which look at its operand's memory."""

    __slots__ = ()
    operands = ()
    multi_output = True
    grad_x: Callable[[list[Any]], Any]

    def parts(self, shape: tuple[int, ...]) -> Sequence[ViewOperation]:
        """A view operation for each result, for an operand of this shape."""
        raise NotImplementedError

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        first = next(one for one in gradient if one is not None)
        return (
            self.grad_x(
                [
                    _zeros_like(first, shape) if one is None else one
                    for one, shape in zip(gradient, self.shape, strict=True)
                ]
            ),
        )


def _zeros_like(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of that shape, an array or a Tensor as the gradient is."""
    if isinstance(gradient, TensorState):
        return new_tensor(type(gradient), np.zeros(shape, gradient.array.dtype))
    return np.zeros(shape, gradient.dtype)


def view_calls(x: Any, node: MultiViewOperation) -> tuple[Any, ...]:
    """Run and record an operation with several views as its results; on an array, just look."""
    steps = node.parts(x.shape)
    for step in steps:
        step.x_shape = x.shape
    if not isinstance(x, TensorState):
        return tuple([step.forward(x) for step in steps])
    edges = tracked((x,))
    outputs = [new_tensor(type(x), step.forward(x.array)) for step in steps]
    views = [make_view(output, x, (step,), "multi_output") for output, step in zip(outputs, steps, strict=True)]
    if edges:
        for output_nr, view in enumerate(views):
            view.edge = (node, output_nr)
        record(node, (x,), edges, outputs, sys._getframe(2))
    elif watch.watcher is not None:
        watch.watcher.unrecorded(node, (x,), tuple(outputs), False)
    return tuple(outputs)


def replay(steps: Sequence[ViewOperation], x: Any) -> Any:
    """The same view of another array or Tensor."""
    for step in steps:
        x = view_call(x, type(step), *step.parameters())
    return x


def make_view(output: TensorState, x: TensorState, steps: tuple[ViewOperation, ...], origin: str = "") -> View:
    """Make `output`, which shares the memory of `x`, a tracked view of it, without a history yet.

    A view is forbidden to be written to for its own `origin`, or else for that of the view it was made from.
    """
    output.version = x.version or ensure_version(x)
    if not mode.enabled:
        origin = "inference_mode" if mode.inference else "no_grad"
    before = x.meta.view if x.meta is not None else None
    if before is None:
        view = View(x, steps, origin)
    else:
        view = View(before.base, (*before.steps, *steps), origin or before.origin)
    if view.origin:
        frame = user_frame(sys._getframe(1))
        view.made = CallSite(frame.f_code, frame.f_lasti) if frame is not None else None
    meta = output.meta or ensure_meta(output)
    meta.view = view
    output.edge = None
    return view


def move_retained(tensor: TensorState, before: Edge, after: Edge) -> None:
    """A tensor that retains its gradient goes on doing so at its new node; its hooks stay with the old one."""
    if tensor.meta is None or not tensor.meta.retains_grad:
        return
    (old, old_nr), (new, new_nr) = before, after
    if old is not None and old.hooks is not None and new is not None:
        reference = old.hooks.retain.pop(old_nr, None)
        if reference is not None:
            new.ensure_hooks().retain[new_nr] = reference
