"""Names of a node, its operation and its hooks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, MethodWrapperType
from typing import Any, NamedTuple

from microtape.ops.shape.subviews import SelectBackward0, SliceBackward0
from microtape.recording.model.formula_arguments import (
    LETTERS,
    constants_in,
    reduced,
    with_constants,
    with_key,
    with_positive_weight,
    without_operands,
)
from microtape.recording.writing.names.constant_arguments import constants_of
from microtape.tape.node import Node
from microtape.tape.operation import Operation
from microtape.tape.saved import short_name
from microtape.tape.tensor_state import TensorState, edge_of, requires_grad

_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, MethodWrapperType, MethodDescriptorType)


class About(NamedTuple):
    """Texts that many nodes of one class share."""

    name: str  # as torch shows it
    op: str
    formula: str
    constants: tuple[str, ...]


def about(node: Node) -> About:
    """The name, operation, formula and constants of a node."""
    return About(node.name().rpartition("::")[2], op_of(node), _formula_of(node), tuple(constants_of(inner(node))))


def inner(node: Node) -> Node:
    """The node that holds the saved tensors: for a CopySlices, the operation's node inside it."""
    function = getattr(node, "function", node)
    return function if isinstance(function, Node) else node


def op_of(node: Node) -> str:
    """A short word for the operation."""
    if node.kind == "accumulate":
        return "accumulate"
    if node.kind == "function":
        return node.name().removesuffix("Backward")
    if node.kind == "copy_slices":
        function = inner(node)
        return f"{op_of(function) if function is not node else 'write'} into view"  # itself: freed
    return str(getattr(node, "op", "") or short_name(node).rpartition("::")[2])


def _formula_of(node: Node) -> str:
    """The node's one-line formula, for its arguments; for a CopySlices, that of the operation inside it."""
    done: Any = inner(node) if node.kind == "copy_slices" else node
    formula: str = done.formula
    if isinstance(done, Operation):
        if isinstance(done, SelectBackward0):
            return with_key(formula, done.dim, done.index)
        if isinstance(done, SliceBackward0):
            return with_key(formula, done.dim, done.part)
        if getattr(done, "pos_weight", None) is not None:
            formula = with_positive_weight(formula)
        formula = reduced(formula, getattr(done, "reduction", "mean"))
        weightless = ("weight",) if getattr(done, "weight", "") is None else ()
        formula = without_operands(formula, absent_operands(done) or weightless)
        kind: Any = type(done)
        formula = with_constants(formula, [(letter, getattr(done, name)) for name, letter in _constants(kind)])
    return formula


@functools.cache
def _constants(kind: Any) -> tuple[tuple[str, str], ...]:
    """The attributes of a class of operations that its formula mentions, each with its letter."""
    return constants_in(kind.formula, [name for name in LETTERS if hasattr(kind, name)])


def absent_operands(node: Node) -> tuple[str, ...]:
    """The operands that the caller did not give: a bias."""
    return getattr(node, "absent", ())  # a slot that may be unset


def given_operands(node: Node, operands: Sequence[Any]) -> Sequence[Any]:
    """The operands, without those at the end that the caller did not give."""
    count = len(operands)
    absent = absent_operands(node)
    while absent and count and count <= len(node.operands) and node.operands[count - 1] in absent:  # type: ignore[attr-defined]
        count -= 1
    return operands[:count]


@functools.cache
def dtype_name(dtype: Any) -> str:
    """The dtype's name, cached because numpy is slow to build it."""
    return str(dtype)


def hook_name(hook: Any) -> str:
    """The name of a hook: a function's own, else its class's, because other attributes may run the user's code."""
    kind = type(hook)
    if kind is functools.partial:
        return hook_name(hook.func)
    named = hook if issubclass(kind, _FUNCTIONS) else hook if kind is type else kind
    return str(named.__qualname__)


def node_hooks(node: Node) -> tuple[str, ...]:
    """The names of a node's pre- and post-hooks."""
    if node.hooks is None:
        return ()
    return tuple(hook_name(hook) for hook in (*node.hooks.pre.values(), *node.hooks.post.values()))


def tensor_hooks(tensor: TensorState) -> tuple[str, ...]:
    """The names of the hooks registered on a tensor."""
    if not requires_grad(tensor):
        return ()
    if tensor.edge is None and tensor.meta is not None and tensor.meta.view is None:
        hooks, output_nr = tensor.meta.hooks, 0
    else:
        view = tensor.meta.view if tensor.meta is not None else None
        node, output_nr = edge_of(tensor) if view is None else view.edge  # without renewing the history of a view
        hooks = node.hooks if node is not None else None
    if hooks is None:
        return ()
    return tuple(
        hook_name(hook) for hook in (*hooks.tensor.get(output_nr, {}).values(), *hooks.post_accumulate.values())
    )
