"""Views: tensors that share another tensor's memory.

Note [Views and their history]
  A view knows its base and the view operations that lead from the base to it. As long as the base is not written to,
  the node of the last view operation is the view's grad_fn. A write to the base, or to any of its views, gives the base
  a new history, on which the view's value then depends. The next time the view's grad_fn is needed, it is rebuilt as an
  AsStridedBackward0 node, which applies the same view operations to the base with its new history.
  A view requires grad as soon as its base does. A view made in no_grad mode has no history, though, so it is a leaf:
  after a recorded write to its base its gradient would be ambiguous, and using it raises InPlaceError.
  NB: torch describes a view by strides and a storage offset; replaying the operations gives the same gradients.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from microtape.basics.call_site import CallSite, user_site
from microtape.errors import InPlaceError
from microtape.tape.broadcast import unbroadcast
from microtape.tape.grad_mode import mode
from microtape.tape.node import NO_EDGE, Edge, NodeHooks
from microtape.tape.operation import Operation, Unary, attach, record, tracked
from microtape.tape.saved import short_name
from microtape.tape.tensor_state import (
    INFERENCE,
    Array,
    AutogradMeta,
    TensorState,
    Version,
    edge_of,
    ensure_meta,
    ensure_version,
    history_of,
    new_tensor,
    requires_grad,
    zeros_like,
)
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
"""Origins of views that must not be written to: why not, and what to do instead."""

ITSELF: Any = object()
"""The `root` of a view whose tangent is its own."""


class View:
    """What makes a tensor a view: its base, which is not a view itself, and the view operations from there."""

    __slots__ = ("base", "edge", "is_source", "made", "memory", "origin", "root", "seen", "steps")

    def __init__(
        self, base: TensorState, steps: tuple[ViewOperation, ...], origin: str, edge: Edge, version: Version
    ) -> None:
        self.base = base
        self.memory = base.array  # another array as soon as the base is given another shape in place
        self.steps = steps
        self.origin = origin  # a key of ADVICE, or "" if in-place writes are allowed
        self.made: CallSite | None = None  # the call site, if it must not be written to and no node tells
        self.edge = edge  # its history when the base's version was `seen`
        self.seen = version.number
        self.is_source = False  # whether requires_grad_() was called on the view itself
        self.root: TensorState | None = None  # of its tangents: Note [Tangents of views]; None: base

    def history(self, tensor: TensorState) -> Edge:
        """The edge of the view's grad_fn, rebuilt if its base was written to; see Note [Views and their history]."""
        number = (self.base.version or ensure_version(self.base)).number
        if self.seen != number and (self.edge is not NO_EDGE or requires_grad(self.base)):
            self.check("its base or another view of its base has been")
            self.rebuild_history(tensor)
            self.seen = number
        return self.edge

    def rebuild_history(self, tensor: TensorState) -> None:
        """Give the view `tensor` a new grad_fn, with an edge to the base's current one."""
        self.check_base()
        node = AsStridedBackward0(self.steps)
        before, self.edge = self.edge, (node, 0)
        record(node, (self.base,), (edge_of(self.base),), (tensor,), sys._getframe(1))
        move_retained(tensor, before, self.edge)

    def check_base(self) -> None:
        """Raise InPlaceError if the base has got another shape; see Note [In-place views]."""
        if self.base.array.shape != self.memory.shape or self.base.array.strides != self.memory.strides:
            raise InPlaceError(
                "this tensor is a view of one that has got another shape since, by t_(), transpose_(), squeeze_(), "
                "unsqueeze_() or its .data. Use t(), transpose(), squeeze() or unsqueeze() there, or make the view "
                "afterwards."
            )

    def check(self, what_is: str) -> None:
        """Raise InPlaceError if writes to a view of this origin, or to its base, would make gradients wrong."""
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
        made = self.made if node is None else self.made or node.call_site
        raise InPlaceError(f"{message} {ADVICE[self.origin]}", ("view made", made))


class ViewOperation(Unary):
    """An operation whose result is a view of its operand. Its `__slots__` are its constructor's parameters."""

    __slots__ = ("x_shape",)
    x_shape: tuple[int, ...]

    def parameters(self) -> tuple[Any, ...]:
        """The arguments of the constructor, which make the same view operation again."""
        return tuple(getattr(self, name) for name in type(self).__slots__)


class AsStridedBackward0(Unary):
    """z = the view that `steps`, applied one after the other, make of x."""

    __slots__ = ("steps",)
    formula = "z = view(x)    ∂x = g placed where the view looks, 0 elsewhere"

    def __init__(self, steps: tuple[ViewOperation, ...]) -> None:
        super().__init__()
        self.steps = steps

    def grad_x(self, g: Any) -> Any:
        """Backward through the view operations, the last one first."""
        for step in reversed(self.steps):
            g = step.gradients[0](step, g)
            if g.shape != step.x_shape:
                g = unbroadcast(g, step.x_shape)
        return g


def view_call(x: Any, cls: type[ViewOperation], *parameters: Any) -> Any:
    """Run and record a view operation on a Tensor; on an array, return the array's view."""
    node = cls(*parameters)
    if not isinstance(x, TensorState):
        node.x_shape = x.shape
        return node.forward(x)
    node.x_shape = x.array.shape
    array = node.forward(x.array)
    receiver, nr = edge = (x.edge or edge_of(x)) if mode.enabled else NO_EDGE
    output = make_view(array, x, (node,), edge=edge if edge is NO_EDGE else (node, 0))
    if edge is not NO_EDGE and output.meta is not None:
        node.next_nodes, node.input_nrs = (receiver,), (nr,)
        attach(node, array, sys._getframe(2))
        if (watcher := watch.watcher) is not None:
            watcher.operation(node, (x,), (output,), False)
    elif (watcher := watch.watcher) is not None:
        watcher.unrecorded(node, (x,), (output,), False)
    return output


class MultiViewOperation(Operation):
    """An operation with several results, all of them views of its operand; see Note [Several outputs]."""

    __slots__ = ()
    operands = ()
    multi_output = True
    grad_x: Callable[[list[Any]], Any]

    def parts(self, shape: tuple[int, ...]) -> Sequence[ViewOperation]:
        """For an operand of this shape, the view operation of each result."""
        raise NotImplementedError

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        return (self.grad_x(zeros_for_none(gradient, self.shape)),)


def zeros_for_none(gradient: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """The gradients of several outputs of these shapes, with zeros for those that are undefined, but not for all."""
    first = next(part for part in gradient if part is not None)
    return [
        zeros_like(first, shape, first.dtype) if part is None else part
        for part, shape in zip(gradient, shapes, strict=True)
    ]


def view_calls(x: Any, node: MultiViewOperation) -> tuple[Any, ...]:
    """Run and record an operation with several views on a Tensor; on an array, return the array's views."""
    shape = x.shape
    steps = node.parts(shape)
    if not steps:
        return ()
    for step in steps:
        step.x_shape = shape
    if not isinstance(x, TensorState):
        return tuple([step.forward(x) for step in steps])
    edges = tracked((x,))
    recorded = bool(edges) and x.version is not INFERENCE
    outputs = [
        make_view(step.forward(x.array), x, (step,), "multi_output", (node, output_nr) if recorded else NO_EDGE)
        for output_nr, step in enumerate(steps)
    ]
    if recorded:
        record(node, (x,), edges, outputs, sys._getframe(2))
    elif (watcher := watch.watcher) is not None:
        watcher.unrecorded(node, (x,), tuple(outputs), False)
    return tuple(outputs)


def replay(steps: Sequence[ViewOperation], x: Any) -> Any:
    """Apply the view operations `steps` to another array or Tensor."""
    for step in steps:
        x = view_call(x, type(step), *step.parameters())
    return x


def make_view(
    array: Array, x: TensorState, steps: tuple[ViewOperation, ...], origin: str = "", edge: Edge = NO_EDGE
) -> Any:
    """A tensor around `array`, which shares the memory of `x`: a tracked view of x's base, with `edge` as its history.

    Its `origin`, which says whether it may be written to, is inherited from `x` unless it has its own and x's is not
    inference mode. If `x` is an inference tensor, then the result is one, too, and no tracked view, so that it has no
    `meta`; see Note [Inference tensors].
    """
    version = x.version or ensure_version(x)
    output = new_tensor(type(x), array, NO_EDGE if version is INFERENCE else None)
    output.version = version
    if version is INFERENCE:
        return output
    if not mode.enabled:
        origin = "inference_mode" if mode.inference else "no_grad"
    before = x.meta.view if x.meta is not None else None
    if before is None:
        view = View(x, steps, origin, edge, version)
    else:
        inherited = not origin or before.origin == "inference_mode"
        view = View(before.base, (*before.steps, *steps), before.origin if inherited else origin, edge, version)
        view.root = x if before.root is ITSELF else before.root
    if view.origin and edge is NO_EDGE:
        view.made = user_site()
    output.meta = AutogradMeta(view)
    return output


def move_retained(tensor: TensorState, before: Edge, after: Edge) -> None:
    """Move a tensor's `retain_grad` from its old node to its new one; its hooks stay at the old node."""
    if tensor.meta is None or not tensor.meta.retains_grad:
        return
    (old, old_nr), (new, new_nr) = before, after
    if old is not None and old.hooks is not None and new is not None:
        reference = old.hooks.retain.pop(old_nr, None)
        if reference is not None:
            new.ensure_hooks().retain[new_nr] = reference


def leave_hooks(leaf: TensorState) -> None:
    """Take the hooks of a leaf away, which a write has made a result. As in torch, writes to its views leave them."""
    if leaf.meta is not None and leaf.meta.hooks is not None:
        leaf.meta.hooks.tensor.clear()


def keep_hooks(tensor: TensorState) -> None:
    """Let a tensor that is about to be detached in place have its hooks as a leaf, too."""
    node, output_nr = history_of(tensor)
    if node is None:
        return  # it is a leaf already
    meta = ensure_meta(tensor)
    if meta.hooks is None:
        meta.hooks = NodeHooks()
    if node.hooks is not None and output_nr in node.hooks.tensor:
        meta.hooks.tensor[0] = node.hooks.tensor[output_nr]
