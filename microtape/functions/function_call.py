"""Calling a custom Function: forward runs unrecorded, then the outputs get the Function's node as their history."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from microtape.basics.call_site import LIBRARY_FILES, user_frame, user_stacklevel
from microtape.errors import InPlaceError
from microtape.functions.function_node import FunctionNode
from microtape.tape.grad_mode import GradMode, mode
from microtape.tape.in_place import check_in_place, rebase_history, renew_history
from microtape.tape.node import Edge, next_sequence_nr
from microtape.tape.saved import SavedTensor, keep_versions
from microtape.tape.tensor_state import (
    TensorState,
    edge_of,
    ensure_version,
    is_leaf,
    is_view,
    requires_grad,
)
from microtape.tape.views import make_view
from microtape.tape.watch import call, watch

if TYPE_CHECKING:
    from microtape.functions.function import Function


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class _InsideForward(GradMode):
    """While a Function's forward runs, nothing is recorded and no tangents are passed on: that is for `jvp` to do."""

    def __enter__(self) -> None:
        super().__enter__()
        self.forward_ad, mode.forward_ad = mode.forward_ad, False

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        mode.forward_ad = self.forward_ad


def arguments_by_position(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, has_ctx: bool
) -> tuple[Any, ...]:
    """All arguments by position, keyword arguments included: backward returns its gradients in this order.

    If `forward` has no ctx, default values are included, too. Raises TypeError for arguments that `forward` does not
    take, and for keyword-only arguments.
    """
    signature = inspect.signature(forward)
    if not has_ctx:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    names = [name for name, parameter in signature.parameters.items() if parameter.kind in _BY_POSITION][has_ctx:]
    given = dict(kwargs)
    for place, name in enumerate(names):
        if name not in given:
            continue
        if place < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        if place > len(args):
            missing = names[len(args)]
            raise TypeError(f"forward() missing required argument: '{missing}' (position {len(args)})")
        args = (*args, given.pop(name))
    for name in given:
        raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
    return args


def call_function(cls: type[Function], args: tuple[Any, ...], frame: Any, sets_up_context: bool) -> Any:
    """Call a Function: run its forward unrecorded, then give the outputs their history. `frame` is the caller's."""
    node = cls.node_class()
    tensors = [argument for argument in args if isinstance(argument, TensorState)]
    node.is_tensor_input = tuple([isinstance(argument, TensorState) for argument in args])
    node.needs_input_grad = tuple([isinstance(argument, TensorState) and requires_grad(argument) for argument in args])
    recorded = mode.enabled and any(node.needs_input_grad)
    if recorded:
        node.next_edges = tuple([edge_of(tensor) for tensor in tensors])
        node.sequence_nr = next_sequence_nr()
    with _InsideForward(False):
        if sets_up_context:
            returned = call("forward", node, cls.forward, *args)
            call("setup_context", node, cls.setup_context, node.ctx, args, returned)
        else:
            returned = call("forward", node, cls.forward, node.ctx, *args)
    raw = returned if isinstance(returned, tuple) else (returned,)
    if tensors:
        node.tensor_type = type(tensors[0])
    if recorded:
        _place_on_tape(node, raw, frame)
    _check_marks(node)
    saved = (*node.to_save, *(node.saved_for_forward or ())) if sets_up_context else ()
    outputs = _give_history(node, tensors, raw, recorded, saved)
    _warn_of_other_writes(node, tensors)
    if recorded:
        _save(node, tensors, raw)
        _tell_watcher(node, args, outputs)
    if (watcher := watch.watcher) is not None:
        watcher.called(node, args, raw, outputs)
    node.to_save = node.dirty = node.non_differentiable = ()
    node.saved_for_forward = None
    return outputs if isinstance(returned, tuple) else outputs[0]


def _tell_watcher(node: FunctionNode, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Tell the observer, if there is one, that `node` was recorded; then renew the history of a written view."""
    written = outputs[0] if node.dirty and 0 not in node.without_gradient else None
    if isinstance(written, TensorState) and is_view(written) and _contains(node.dirty, written):
        base = written.meta.view.base  # type: ignore[union-attr]
        if (watcher := watch.watcher) is not None:
            watcher.operation(edge_of(base)[0], args, (base,), True)  # type: ignore[arg-type]
        renew_history(written)
    elif (watcher := watch.watcher) is not None:
        watcher.operation(node, args, outputs, bool(node.dirty))


def _place_on_tape(node: FunctionNode, outputs: tuple[Any, ...], frame: Any) -> None:
    """Like `operation.attach`, for several outputs; an output that is not a tensor has shape and dtype None."""
    node.shape = [output.array.shape if isinstance(output, TensorState) else None for output in outputs]
    node.dtype = [output.array.dtype if isinstance(output, TensorState) else None for output in outputs]
    if frame.f_code.co_filename in LIBRARY_FILES:
        frame = user_frame(frame)
    if frame is not None:
        node.code, node.instruction = frame.f_code, frame.f_lasti


def _check_marks(node: FunctionNode) -> None:
    """Count one write on each tensor that was marked dirty. Raises RuntimeError for marks on other values."""
    for i, value in enumerate(node.dirty):
        if not isinstance(value, TensorState):
            raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type {_kind(value)}")
        ensure_version(value).bump()
    for value in node.non_differentiable:
        if not isinstance(value, TensorState):
            raise RuntimeError(f"mark_non_differentiable only accepts variable arguments, but got {_kind(value)}")


def _kind(value: Any) -> str:
    return type(value).__name__


def _warn_of_other_writes(node: FunctionNode, tensors: list[Any]) -> None:
    """Warn of each tensor that was marked dirty and is not an input."""
    for tensor in node.dirty:
        if not _contains(tensors, tensor):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
                "should be passed to ctx.mark_dirty().",
                UserWarning,
                stacklevel=user_stacklevel(),
            )


def _give_history(
    node: FunctionNode, tensors: list[Any], raw: tuple[Any, ...], recorded: bool, saved: Sequence[Any]
) -> tuple[Any, ...]:
    """The outputs that the caller gets, with `node` as the grad_fn of the differentiable ones if `recorded`.

    Raises RuntimeError if an input that is returned as it is was `saved` in setup_context.
    """
    outputs = list(raw)
    differentiable = 0
    for i, output in enumerate(raw):
        if not isinstance(output, TensorState):
            continue
        is_input, is_dirty = _contains(tensors, output), _contains(node.dirty, output)
        if recorded and output.array.dtype.kind in "fc" and not _contains(node.non_differentiable, output):
            differentiable += 1
            outputs[i] = _differentiable_output(output, (node, i), is_input, is_dirty, len(raw))
        else:
            node.without_gradient.add(i)
            outputs[i] = _plain_output(output, is_input, is_dirty)
        if is_input and not is_dirty and is_view(outputs[i]) and _contains(saved, output):
            raise RuntimeError(
                "An input that has been returned as-is as output is being saved for backward. This is not supported if "
                "you override setup_context. You should return and save a view of the input instead, e.g. with "
                "x.view_as(x) or setup ctx inside the forward function itself."
            )
        if not (is_input and is_dirty) and is_view(outputs[i]):
            view = outputs[i].meta.view
            view.origin, view.made = "function", node.call_site
    if differentiable > 1:
        for output in outputs:
            if isinstance(output, TensorState) and is_view(output):
                output.meta.view.origin = "multi_output"  # type: ignore[union-attr]
    if not all([_contains(raw, tensor) for tensor in node.dirty]):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    return tuple(outputs)


def _differentiable_output(output: Any, edge: Edge, is_input: bool, is_dirty: bool, count: int) -> Any:
    """One of `count` outputs, with `edge` as its history; a dirty input is itself the output."""
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
        del output.grad  # it was the gradient of the old value
        check_in_place(output)
        rebase_history(output, edge)
        return output
    if is_input:  # returned unchanged: the output is a view of it, so that the input keeps its history
        output = _view_as_itself(output)
    if is_view(output):
        view = output.meta.view
        view.edge, view.seen = edge, output.version.number
    else:
        output.edge = edge
    return output


def _plain_output(output: Any, is_input: bool, is_dirty: bool) -> Any:
    """An output that does not depend on this call; an input that requires grad is replaced by a detached tensor."""
    if not requires_grad(output):
        return _view_as_itself(output) if is_input and not is_dirty else output
    if is_input:
        return output.detach()
    if not is_view(output):
        output.detach_()
    return output


def _view_as_itself(tensor: Any) -> Any:
    """A view of the whole tensor, without history."""
    return make_view(tensor.array.view(), tensor, (), "function")


def _save(node: FunctionNode, tensors: list[Any], raw: tuple[Any, ...]) -> None:
    """Save what was passed to `save_for_backward`; see Note [Saved tensors]. Raises TypeError if it is no tensor."""
    kept: list[Any] = []
    sources = []
    for place, tensor in enumerate(node.to_save):
        if tensor is not None and not isinstance(tensor, TensorState):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {place} is of type {_kind(tensor)}"
            )
        source = next((i for i, other in enumerate(tensors) if other is tensor), -1)
        output_nr = next((i for i, output in reversed(list(enumerate(raw))) if output is tensor), None)
        is_dirty = _contains(node.dirty, tensor)
        if tensor is None or output_nr is None or (source >= 0 and not is_dirty):
            kept.append(tensor)
        else:
            is_own = requires_grad(tensor) and not _contains(node.non_differentiable, tensor)
            kept.append(SavedTensor(tensor, output_nr) if is_own else tensor)
        sources.append(source)
    node.sources = tuple(sources)
    node.saved_names = tuple(f"saved_tensors[{i}]" for i in range(len(kept)))
    node.saved = tuple(kept)
    keep_versions(node)


def _contains(tensors: Sequence[Any], tensor: Any) -> bool:
    """Whether this object is one of `tensors`; `in` would compare values."""
    return any(other is tensor for other in tensors)
