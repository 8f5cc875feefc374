"""Views: tensors that look at another tensor's memory.

Note [Views and their history]
  A view knows its base and the view operations that lead to it. As long as the base is not written to, the view's
  history is that of its own operations. Once it is, the history that counts is the base's new one: the view's grad_fn
  is then made again, the next time somebody asks, as an AsStridedBackward0 that repeats those operations.
  NB: torch repeats them by strides and storage offset; replaying the operations gives the same gradients.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TypeVar

from microtape.errors import InPlaceError
from microtape.grad_mode import mode
from microtape.node import NO_EDGE, Edge
from microtape.operation import Unary, attach, record
from microtape.tensor_state import TensorState, edge_of, ensure_meta, ensure_version, new_tensor
from microtape.watch import watch

_T = TypeVar("_T", bound=TensorState)

FORBIDDEN = {
    "no_grad": (
        "A view was created in no_grad mode and {is_modified} inplace with grad mode enabled. Given that this use case "
        "is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
        "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside "
        "(if you want the inplace to be tracked)."
    ),
    "multi_output": (
        "{which} is a view and {is_modified} inplace. This view is the output of a function that returns multiple "
        "views. Such functions do not allow the output views to be modified inplace. You should replace the inplace "
        "operation by an out-of-place one."
    ),
    "function": (
        "{which} is a view and {is_modified} inplace. This view was created inside a custom Function (or because an "
        "input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
        "this by cloning the output of the custom Function."
    ),
}
"""Why a view may not be written to, by where it comes from."""


class View:
    """How a tensor came to be a view: its root base, and the operations from there."""

    __slots__ = ("base", "edge", "origin", "seen", "steps")

    def __init__(self, base: TensorState, steps: tuple[ViewOperation, ...], edge: Edge | None, origin: str) -> None:
        self.base = base
        self.steps = steps
        self.edge = edge  # None: a leaf that requires grad in its own right
        self.origin = origin  # a key of FORBIDDEN, or "" where in-place writes are fine
        self.seen = ensure_version(base).number  # the version that `edge` belongs to

    def edge_of(self, tensor: TensorState) -> Edge:
        """Where the view's gradient goes now; see Note [Views and their history]."""
        number = ensure_version(tensor).number
        if self.seen != number:
            if edge_of(self.base) is not NO_EDGE:
                if self.origin:
                    self.forbid("and its base or another view of its base has been modified")
                self.edge = replayed_edge(tensor, self.base, self.steps)
            self.seen = number
        assert self.edge is not None
        return self.edge

    def forbid(self, is_modified: str) -> None:
        """Raise the error that this view's origin calls for."""
        node, output_nr = self.edge or NO_EDGE
        which = f"Output {output_nr} of {node.name() if node is not None else 'an operation'}"
        raise InPlaceError(
            FORBIDDEN[self.origin].format(which=which, is_modified=is_modified),
            ("view made", node.call_site if node is not None else None),
        )

    def rebased(self, base: TensorState) -> TensorState:
        """The same view of another tensor (recorded if the mode says so)."""
        for step in self.steps:
            base = view_call(base, type(step), *step.parameters())
        return base


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
        return g


def replayed_edge(tensor: TensorState, base: TensorState, steps: tuple[ViewOperation, ...]) -> Edge:
    """A new history for a view whose base has been written to."""
    node = AsStridedBackward0(steps)
    base_edge = edge_of(base)
    attach(node, (base_edge,), tensor.array, sys._getframe(1))
    if watch.watcher is not None:
        watch.watcher.operation(node, (base,), (tensor,), False)
    return (node, 0)


def view_call(x: Any, cls: type[ViewOperation], *parameters: Any, origin: str = "") -> Any:
    """Run and record a view operation; on an array, just look."""
    step = cls(*parameters)
    if not isinstance(x, TensorState):
        step.x_shape = x.shape
        return step.forward(x)
    step.x_shape = x.array.shape
    output = new_tensor(type(x), step.forward(x.array))
    node = cls(*parameters)
    node.x_shape = step.x_shape
    edge = edge_of(x)
    view = make_view(output, x, (step,), origin)
    if edge is not NO_EDGE and mode.enabled:
        record(node, (x,), (edge,), (True,), output, sys._getframe(2))
        view.edge, output.edge = output.edge, None
    return output


def make_view(output: TensorState, x: TensorState, steps: Sequence[ViewOperation], origin: str) -> View:
    """Make `output`, which shares the memory of `x`, a tracked view with the history that it has."""
    output.version = ensure_version(x)
    before = x.meta.view if x.meta is not None else None
    if not origin:
        origin = before.origin if before is not None and before.origin else "" if mode.enabled else "no_grad"
    base, earlier = (before.base, before.steps) if before is not None else (x, ())
    view = ensure_meta(output).view = View(base, (*earlier, *steps), output.edge, origin)
    output.edge = None
    return view
