"""In-place view operations: `t_`, `transpose_`, `squeeze_`, `unsqueeze_`.

Note [In-place views]
  `x.t_()` moves no number: x becomes a view of its own memory. The new node is x's grad_fn, and the version rises as
  for a write. If x is a view, the operation is one step more that leads from its base to it; the base keeps its
  shape. NB: the views of x that were made before lead from its old shape. Where their history is needed after that,
  they raise InPlaceError; torch, which describes views by strides, goes on.
"""

from __future__ import annotations

import sys
from typing import Any

from microtape.errors import InPlaceError
from microtape.tape.grad_mode import mode
from microtape.tape.in_place import check_in_place
from microtape.tape.node import NO_EDGE, Node
from microtape.tape.operation import attach
from microtape.tape.tangents import tangent_of
from microtape.tape.tensor_state import TensorState, edge_of, ensure_version, history_of, new_tensor, requires_grad
from microtape.tape.views import ViewOperation, move_retained
from microtape.tape.watch import watch


def view_call_(x: TensorState, name: str, step: ViewOperation) -> Any:
    """Make x the view of itself that `step` makes, with a node called `name` as its grad_fn. Returns x.

    Raises InPlaceError if autograd cannot record that, or if x carries a tangent.
    """
    if tangent_of(x) is not None:
        raise InPlaceError(f"{step.op}_() of a tensor with a tangent does not exist here: use {step.op}()")
    is_recorded = mode.enabled and requires_grad(x)
    if is_recorded:
        check_in_place(x)
    node = in_place_view(type(step), name)(*step.parameters())
    node.x_shape = step.x_shape = x.array.shape
    array, watcher = step.forward(x.array), watch.watcher
    if is_recorded:
        before = history_of(x)
        node.next_edges = (edge_of(x),)
        attach(node, array, sys._getframe(2))
    else:
        Node.__init__(node)
        node.shape, node.dtype = array.shape, array.dtype
    old = new_tensor(type(x), x.array, node.next_edges[0] if is_recorded else NO_EDGE)
    if watcher is not None:
        watcher.writing(x)
    x.array = array
    version = ensure_version(x)
    version.bump()
    view = x.meta.view if x.meta is not None else None
    if view is not None:
        view.steps = (*view.steps, step)
    if is_recorded:
        move_retained(x, before, (node, 0))
        if view is None:
            x.edge = (node, 0)
        else:
            view.edge, view.seen = (node, 0), version.number
    if watcher is not None:
        (watcher.operation if is_recorded else watcher.unrecorded)(node, (old,), (x,), True)
    return x


_CLASSES: dict[str, Any] = {}


def in_place_view(cls: type[ViewOperation], name: str) -> Any:
    """The class of the nodes of an in-place view operation: as `cls`, under torch's name for these nodes."""
    if name not in _CLASSES:
        _CLASSES[name] = type(name, (cls,), {"__slots__": (), "op": f"{cls.op}_"})
    return _CLASSES[name]
