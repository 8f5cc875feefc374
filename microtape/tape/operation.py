"""Operations: a forward formula on arrays, one gradient formula for each operand, and the recording of a call.

Note [One formula for both passes]
  A gradient formula is written once, with operators and functions that take arrays as well as Tensors. A plain backward
  pass calls it with arrays. With `create_graph=True` backward calls it with Tensors, so that the formula is recorded
  like any other computation and can be differentiated again.

Note [NaN and Inf are results]
  As in torch, a computation that yields NaN or Inf gives no warning. A forward therefore runs in a `contextvars`
  context in which numpy's warnings are off. A context cannot be entered a second time before it is left, so each call
  gets a copy, which is cheap.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from microtape.basics import dtypes
from microtape.basics.call_site import LIBRARY_FILES, user_frame
from microtape.basics.function_name import function_name
from microtape.tape.grad_mode import mode
from microtape.tape.node import NO_EDGE, Edge, Node, next_sequence_nr, receiver_mask
from microtape.tape.operands import ARRAYS, as_tensor, number_operand, promoted
from microtape.tape.save_plan import ONLY_RESULT, SavePlan, formula_parameters, plan_of_all, read_save_plans
from microtape.tape.saved import SavedTensor, keep_versions, unpack
from microtape.tape.saved_attributes import define_saved_attributes
from microtape.tape.tensor_state import RESULT_CLASSES, Array, TensorState, edge_of, new_tensor
from microtape.tape.watch import watch

_quiet = contextvars.Context()
_quiet.run(np.seterr, all="ignore")
quiet_context = _quiet.copy  # `quiet_context().run(f, x)` is f(x) without warnings


_FIRST, _BOTH_FIRST = (0,), (0, 0)  # `input_nrs`: nearly all nodes share these tuples
_ndarray = np.ndarray
_array_of = attrgetter("array")
_new_tensor = _new_node = object.__new__  # calling the class would take twice as long


class Operation(Node):
    """A built-in operation: `formula`, `operands`, `forward`, and for each operand a method `grad_<operand>`."""

    __slots__ = ()
    operands: ClassVar[tuple[str, ...]] = ("x",)
    results: ClassVar[tuple[str, ...]] = ("z",)
    arguments: ClassVar[tuple[str, ...]] = ()  # constant arguments to show before those in other slots
    absent: tuple[str, ...] = ()  # operands that the caller did not give, and that a default stands for
    averages: ClassVar[bool] = False  # whether the result's tangent is a mean of x's tangents: NaN over no elements
    op: ClassVar[str] = ""
    row_major: ClassVar[bool] = False  # whether the result is contiguous even if numpy would lay it out like an operand
    gradients: ClassVar[tuple[Callable[..., Any], ...]] = ()
    save_plans: ClassVar[dict[tuple[bool, ...], SavePlan]] = {}  # receiver_mask -> what to save
    full_save_plan: ClassVar[SavePlan] = ()  # the plan if all operands receive gradients
    all_operands_plan: ClassVar[SavePlan] = ()  # the plan that saves all operands, compared with `is`

    forward: Any

    def __init__(self) -> None:
        """Set nothing: `_wrap_result` sets every node's attributes, and unrecorded operations do not need them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "op" not in vars(cls):
            cls.op = function_name(cls.__name__)
        if cls.operands and all(hasattr(cls, f"grad_{operand}") for operand in cls.operands):
            cls._read_formulas()
        define_saved_attributes(cls)

    @classmethod
    def _read_formulas(cls) -> None:
        """Derive from the formulas' parameters what to save; see Note [What is saved]."""
        cls.gradients = tuple([getattr(cls, f"grad_{operand}") for operand in cls.operands])
        rows = tuple([formula_parameters(formula) for formula in cls.gradients])
        cls.saved_names, cls.sources, cls.save_plans = read_save_plans(cls.operands, cls.results, rows)
        cls.full_save_plan = cls.save_plans[(True,) * len(cls.operands)]
        cls.all_operands_plan = plan_of_all(len(cls.operands))

    def arrays(self, operands: Sequence[TensorState]) -> Sequence[Array]:
        """The operands' arrays, as `forward` takes them."""
        return [*map(_array_of, operands)]

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        saved = unpack(self, create_graph) if self.saved_names else ()
        if len(self.gradients) == 1:
            return (self.gradients[0](self, gradient, *saved),)
        return [
            formula(self, gradient, *saved) if receiver is not None else None
            for formula, receiver in zip(self.gradients, self.next_nodes, strict=True)
        ]


class Unary(Operation):
    """An operation on one tensor. Integers and bools are converted to floats first, unless `floating` is False."""

    __slots__ = ()
    floating: ClassVar[bool] = True
    grad_x: Callable[..., Any]

    def arrays(self, operands: Sequence[TensorState]) -> Sequence[Array]:
        """The operand's array, converted to the default dtype if need be."""
        array = operands[0].array
        return [array.astype(dtypes.get_default_dtype()) if self.floating and array.dtype.kind in "biu" else array]

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        count = len(self.saved_names)  # unrolled: a call with *saved takes 0.2 µs more
        if count == 0:
            return (self.grad_x(gradient),)
        saved = unpack(self, create_graph)
        return (self.grad_x(gradient, saved[0]) if count == 1 else self.grad_x(gradient, *saved),)


class Binary(Operation):
    """An operation on two tensors, broadcast against each other, with torch's type promotion."""

    __slots__ = ()
    operands = ("x", "y")
    grad_x: Callable[..., Any]
    grad_y: Callable[..., Any]

    def arrays(self, operands: Sequence[TensorState]) -> Sequence[Array]:
        """The operands' arrays in one dtype."""
        x, y = operands
        return self.promoted(x.array, y.array)

    @staticmethod
    def promoted(x: Array, y: Array) -> tuple[Array, Array]:
        """Both arrays in the dtype that the operation computes in."""
        return promoted(x, y)

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        to_x, to_y = self.next_nodes
        if not self.saved_names:
            return (
                self.grad_x(gradient) if to_x is not None else None,
                self.grad_y(gradient) if to_y is not None else None,
            )
        saved = unpack(self, create_graph)
        if len(saved) == 2:  # unrolled, as in Unary
            x, y = saved
            return (
                self.grad_x(gradient, x, y) if to_x is not None else None,
                self.grad_y(gradient, x, y) if to_y is not None else None,
            )
        return (
            self.grad_x(gradient, *saved) if to_x is not None else None,
            self.grad_y(gradient, *saved) if to_y is not None else None,
        )


def call(node: Operation, *operands: Any) -> Any:
    """Run `node.forward` on the operands and record the call.

    On arrays it returns an array and records nothing: this is how gradient formulas use operations in a plain backward
    pass. On Tensors it returns a Tensor, which requires grad if grad mode is on and one of the operands requires grad.
    Raises TypeError if no operand is a Tensor or array, RuntimeError if the operands' shapes or dtypes do not match.
    """
    for operand in operands:
        if isinstance(operand, TensorState):
            like = type(operand)
            break
    else:
        _check_arrays(node.op, operands)
        return node.forward(*operands)
    tensors: tuple[Any, ...] = operands
    if len(operands) > 1:
        tensors = tuple([one if isinstance(one, TensorState) else as_tensor(one, like) for one in operands])
    array = compute(node, tensors)
    if array.dtype.kind in "fc":
        return _wrap_result(node, tensors, array)
    return _wrap_unrecorded(node, tensors, array)


def _check_arrays(op: str, operands: Sequence[Any]) -> None:
    """Raise TypeError if no operand is an array: only gradient formulas may call operations without a Tensor."""
    for operand in operands:
        if isinstance(operand, ARRAYS):
            return
    raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(operands[0]).__name__}")


def compute(node: Operation, tensors: Sequence[TensorState]) -> Array:
    """Run `node.forward` on the tensors' arrays. Raises RuntimeError if their shapes or dtypes do not match."""
    arrays = node.arrays(tensors)
    try:
        array = quiet_context().run(node.forward, *arrays)
        if type(array) is not _ndarray:
            return np.asarray(array)
        return array.copy() if node.row_major and not array.flags.c_contiguous else array
    except (TypeError, ValueError) as error:
        raise refusal(error, *arrays) from None


NO_MASKS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)


def refusal(error: Exception, *arrays: Array) -> RuntimeError:
    """numpy's error as a RuntimeError; in torch's wording for shapes that do not broadcast and bools subtracted."""
    if "boolean subtract" in str(error):
        return RuntimeError(NO_MASKS)
    if len(arrays) == 2:
        a, b = arrays
        ndim = max(a.ndim, b.ndim)
        sizes = zip((1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - b.ndim) + b.shape, strict=True)
        for dim, (m, n) in reversed(list(enumerate(sizes))):
            if m != n and 1 not in (m, n):
                return RuntimeError(
                    f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {dim}"
                )
    return RuntimeError(str(error))


def misfit(shape: tuple[int, ...], broadcast: tuple[int, ...]) -> RuntimeError:
    """torch's error for a result of shape `broadcast` that has to go into memory of another shape."""
    return RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(broadcast)}")


def unary(cls: type[Unary], x: Any) -> Any:
    """`call` for an operation without parameters on one operand, unrolled for speed."""
    if not isinstance(x, TensorState):
        _check_arrays(cls.op, (x,))
        return cls.forward(x)
    array = x.array
    if array.dtype.kind in "biu" and cls.floating:
        array = array.astype(dtypes.get_default_dtype())
    array = quiet_context().run(cls.forward, array)
    if type(array) is not _ndarray:
        array = array.__array__()
    return _wrap_result(_new_node(cls), (x,), array)


def binary(cls: type[Binary], x: Any, y: Any) -> Any:
    """`call` for an operation without parameters on two operands, unrolled for speed.

    Like Python's operators it returns NotImplemented for an operand that is not a tensor, number or array.
    """
    if not isinstance(y, TensorState):
        if not isinstance(x, TensorState):
            _check_arrays(cls.op, (x, y))
            return cls.forward(x, y)
        y = number_operand(y, x)
        if y is NotImplemented:
            return y
    elif not isinstance(x, TensorState):
        x = number_operand(x, y)
        if x is NotImplemented:
            return x
    a, b = x.array, y.array
    if a.dtype is not b.dtype:
        a, b = cls.promoted(a, b)
    if not a.ndim and not b.ndim:
        a, b = a[()], b[()]  # see `as_number`
    try:
        array = quiet_context().run(cls.forward, a, b)
    except (TypeError, ValueError) as error:
        raise refusal(error, a, b) from None
    if type(array) is not _ndarray:
        array = array.__array__()
    return _wrap_result(_new_node(cls), (x, y), array)


def tracked(operands: Sequence[TensorState]) -> tuple[Edge, ...]:
    """The operands' edges if grad mode is on and one of the operands requires grad; otherwise ()."""
    if not mode.enabled:
        return ()
    edges = tuple([operand.edge or edge_of(operand) for operand in operands])
    for edge in edges:
        if edge is not NO_EDGE:
            return edges
    return ()


def _wrap_result(node: Operation, operands: tuple[TensorState, ...], array: Array) -> Any:
    """A tensor around the array that `node` computed, with the call recorded if an operand requires grad.

    This is `record` for one output, with the cases of one and two operands unrolled for speed.
    """
    if not mode.enabled:
        return _wrap_unrecorded(node, operands, array)
    count = len(operands)
    if count == 2:
        x, y = operands
        to_x, to_y = x.edge or edge_of(x), y.edge or edge_of(y)
        if to_x is NO_EDGE and to_y is NO_EDGE:
            return _wrap_unrecorded(node, operands, array)
        (receiver_x, nr_x), (receiver_y, nr_y) = to_x, to_y
        node.next_nodes = (receiver_x, receiver_y)
        node.input_nrs = (nr_x, nr_y) if nr_x or nr_y else _BOTH_FIRST
    elif count == 1:
        edge = operands[0].edge or edge_of(operands[0])
        if edge is NO_EDGE:
            return _wrap_unrecorded(node, operands, array)
        receiver, nr = edge
        node.next_nodes = (receiver,)
        node.input_nrs = (nr,) if nr else _FIRST
    else:
        edges = tracked(operands)
        if not edges:
            return _wrap_unrecorded(node, operands, array)
        node.next_edges = edges
    output: Any = _new_tensor(RESULT_CLASSES[type(operands[0])])  # as `new_tensor`
    output.array = array
    output.edge = (node, 0)
    output.meta = output.version = None
    attach(node, array, sys._getframe(3))  # the user, who called a public function, which called `call` or `unary`
    if node.saved_names:
        receivers = node.next_nodes
        plan = node.full_save_plan if all(receivers) else node.save_plans[receiver_mask(receivers)]
        if plan is node.all_operands_plan:
            node.saved = operands
            for operand in operands:
                if operand.version is not None and operand.version.number:
                    keep_versions(node)
                    break
        elif plan is ONLY_RESULT:
            node.saved = (SavedTensor(output),)
        else:
            save(node, plan, operands, output)
    if (watcher := watch.watcher) is not None:
        watcher.operation(node, operands, (output,), False)
    return output


def _wrap_unrecorded(node: Operation, operands: Sequence[TensorState], array: Array) -> Any:
    """A tensor without history around the array that `node` computed; tells the observer, if there is one."""
    output = new_tensor(type(operands[0]), array)
    if (watcher := watch.watcher) is not None:
        Node.__init__(node)
        node.shape, node.dtype = array.shape, array.dtype
        watcher.unrecorded(node, tuple(operands), (output,), False)
    return output


def record(
    node: Operation, operands: Sequence[TensorState], edges: Sequence[Edge], outputs: Sequence[TensorState], frame: Any
) -> None:
    """Put `node`, the history of `outputs`, on the tape: its edges, sequence number, call site and saved tensors."""
    node.next_edges = edges
    attach(node, outputs[0].array, frame)
    if node.multi_output:
        describe_outputs(node, outputs)
    if node.saved_names:
        save(node, node.save_plans[receiver_mask(node.next_nodes)], operands, *outputs)
    if (watcher := watch.watcher) is not None:
        watcher.operation(node, tuple(operands), tuple(outputs), False)


def describe_outputs(node: Node, outputs: Sequence[TensorState]) -> None:
    """Set a multi-output node's shapes and dtypes; see Note [Several outputs]."""
    node.shape = [output.array.shape for output in outputs]
    node.dtype = [output.array.dtype for output in outputs]


def attach(node: Node, array: Array, frame: Any) -> None:
    """Give `node`, which computed `array`, its sequence number and its call site in the user's program."""
    node.sequence_nr = next_sequence_nr()
    node.shape = array.shape
    node.dtype = array.dtype
    node.saved = ()
    node.hooks = None
    try:
        while frame.f_code.co_filename in LIBRARY_FILES:  # `user_frame`, for the usual case
            frame = frame.f_back
    except AttributeError:  # all of this thread's frames are the library's
        frame = user_frame(sys._getframe())
        if frame is None:
            node.code = None
            return
    node.code = frame.f_code
    node.instruction = frame.f_lasti


def save(node: Operation, plan: SavePlan, operands: Sequence[TensorState], *outputs: TensorState) -> None:
    """Save what the plan names, and the versions if any is above 0; see Note [What is saved], Note [Versions]."""
    kept: list[Any] = []
    written = False
    item: Any
    for source in plan:
        if source is None:
            kept.append(None)
            continue
        if isinstance(source, str):
            item = getattr(node, source)
        elif source >= 0:
            item = operands[source]
        else:
            item = outputs[-1 - source]
            if item.array.dtype.kind in "fc":  # others have no grad_fn: no cycle
                item = SavedTensor(item, -1 - source)
        if item is not None and item.version is not None and item.version.number:
            written = True
        kept.append(item)
    node.saved = tuple(kept)
    if written:
        keep_versions(node)
