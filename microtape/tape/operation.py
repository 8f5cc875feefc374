"""Operations: a forward formula on arrays, one gradient formula for each operand, and the recording of a call.

Note [One formula for both passes]
  A gradient formula is written once, with operators and functions that take arrays as well as Tensors. Plain backward
  feeds it arrays. With `create_graph=True` it is fed Tensors, so that the formula records itself and can be
  differentiated again.

Note [NaN and Inf are results]
  A forward runs in a context of its own, where numpy does not warn of them. A context cannot be entered twice at a
  time, so each call gets a copy, which is cheap.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from microtape.basics import dtypes
from microtape.basics.call_site import LIBRARY_FILES
from microtape.tape.grad_mode import mode
from microtape.tape.node import NO_EDGE, Edge, Node, next_sequence_nr, receiver_mask
from microtape.tape.operands import ARRAYS, as_tensor, number_operand, promoted
from microtape.tape.save_plan import ONLY_RESULT, SavePlan, formula_parameters, plan_of_all, read_save_plans
from microtape.tape.saved import SavedTensor, keep_versions, unpack
from microtape.tape.saved_attributes import define_saved_attributes
from microtape.tape.tensor_state import Array, TensorState, edge_of, new_tensor
from microtape.tape.watch import watch

_quiet = contextvars.Context()
_quiet.run(np.seterr, all="ignore")
quiet_context = _quiet.copy  # `quiet_context().run(f, x)` is f(x); see Note [NaN and Inf are results]


_FIRST, _BOTH_FIRST = (0,), (0, 0)  # the same tuples for nearly all nodes
_ndarray = np.ndarray
_array_of = attrgetter("array")
_new_tensor = _new_node = object.__new__  # `_record_result` fills it in; calling the class would take twice as long


class Operation(Node):
    """A built-in operation: `formula`, `operands`, `forward` and a `grad_<operand>` for each of the operands."""

    __slots__ = ()
    operands: ClassVar[tuple[str, ...]] = ("x",)
    results: ClassVar[tuple[str, ...]] = ("z",)
    op: ClassVar[str] = ""
    gradients: ClassVar[tuple[Callable[..., Any], ...]] = ()
    save_plans: ClassVar[dict[tuple[bool, ...], SavePlan]] = {}  # to which operands gradients go -> what to save
    full_save_plan: ClassVar[SavePlan] = ()  # where gradients go to all of them
    all_operands_plan: ClassVar[SavePlan] = ()  # the very object that is the plan where all of them are saved

    forward: Any

    def __init__(self) -> None:
        """Leaves to `_record_result` what every node has: a gradient formula calls operations that nobody records."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "op" not in vars(cls):
            cls.op = cls.__name__.rstrip("0123456789").removesuffix("Backward").lower()
        if cls.operands and all(hasattr(cls, f"grad_{operand}") for operand in cls.operands):
            cls._read_formulas()
        define_saved_attributes(cls)

    @classmethod
    def _read_formulas(cls) -> None:
        """Learn from the formulas' parameters what is to be saved; see Note [What is saved]."""
        cls.gradients = tuple([getattr(cls, f"grad_{operand}") for operand in cls.operands])
        rows = tuple([formula_parameters(formula) for formula in cls.gradients])
        cls.saved_names, cls.sources, cls.save_plans = read_save_plans(cls.operands, cls.results, rows)
        cls.full_save_plan = cls.save_plans[(True,) * len(cls.operands)]
        cls.all_operands_plan = plan_of_all(len(cls.operands))

    def arrays(self, operands: Sequence[TensorState]) -> Sequence[Array]:
        """The operands' arrays, as `forward` wants them."""
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
    """An operation on one tensor; whole numbers are computed with as floats, unless `floating` is False."""

    __slots__ = ()
    floating: ClassVar[bool] = True
    grad_x: Callable[..., Any]

    def arrays(self, operands: Sequence[TensorState]) -> Sequence[Array]:
        """The operand's array."""
        array = operands[0].array
        return [array.astype(dtypes.get_default_dtype()) if self.floating and array.dtype.kind in "biu" else array]

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """See Node.apply."""
        count = len(self.saved_names)  # spelled out: a call with *saved takes a fifth of a microsecond more
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
        """Two arrays of different dtypes in one."""
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
        if len(saved) == 2:  # spelled out, as in Unary
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

    On arrays it returns the array: this is how gradient formulas use operations in a plain backward pass. On Tensors
    it returns a Tensor that requires grad if one of the operands does and the mode says so.
    """
    for operand in operands:
        if isinstance(operand, TensorState):
            like = type(operand)
            break
    else:
        _check_arrays(node.op, operands)
        return node.forward(*operands)
    tensors = operands if len(operands) == 1 else tuple([as_tensor(operand, like) for operand in operands])
    array = compute(node, tensors)
    if array.dtype.kind in "fc":
        return _wrap_result(node, tensors, array)
    return _wrap_unrecorded(node, tensors, array)


def _check_arrays(op: str, operands: Sequence[Any]) -> None:
    """Raise TypeError where a user calls an operation without a Tensor; gradient formulas call it on arrays."""
    for operand in operands:
        if isinstance(operand, ARRAYS):
            return
    raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(operands[0]).__name__}")


def compute(node: Operation, tensors: Sequence[TensorState]) -> Array:
    """What the operation makes of the tensors' arrays. Raises RuntimeError where they do not fit together."""
    arrays = node.arrays(tensors)
    try:
        array = quiet_context().run(node.forward, *arrays)
        return array if type(array) is _ndarray else np.asarray(array)
    except (TypeError, ValueError) as error:
        raise refusal(error, *arrays) from None


def refusal(error: Exception, *arrays: Array) -> RuntimeError:
    """numpy's complaint as torch would raise it; in its words, where shapes do not broadcast or bools subtract."""
    if "boolean subtract" in str(error):
        return RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
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
    """torch's complaint where a result of shape `broadcast` is to go into memory of another shape."""
    return RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(broadcast)}")


def unary(cls: type[Unary], x: Any) -> Any:
    """`call` for an operation without parameters on one operand, spelled out to be quick."""
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
    """`call` for an operation without parameters on two operands, spelled out to be quick.

    Like Python's operators it returns NotImplemented for an operand that is no tensor, number or array.
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
    """The operands' edges, if a call on them is to be recorded: grad mode is on, and one of them requires grad."""
    if not mode.enabled:
        return ()
    edges = tuple([operand.edge or edge_of(operand) for operand in operands])
    return edges if any([edge is not NO_EDGE for edge in edges]) else ()


def _wrap_result(node: Operation, operands: tuple[TensorState, ...], array: Array) -> Any:
    """The tensor around what `node` computed from the operands: recorded, or not. Called by what a user's call calls.

    One operand and two are spelled out to be quick.
    """
    if mode.enabled:
        if len(operands) == 1:
            edge = operands[0].edge or edge_of(operands[0])
            if edge is not NO_EDGE:
                receiver, nr = edge
                return _record_result(node, operands, (receiver,), (nr,) if nr else _FIRST, array, sys._getframe(3))
        elif len(operands) == 2:
            x, y = operands
            to_x, to_y = x.edge or edge_of(x), y.edge or edge_of(y)
            if to_x is not NO_EDGE or to_y is not NO_EDGE:
                (receiver_x, nr_x), (receiver_y, nr_y) = to_x, to_y
                nrs = (nr_x, nr_y) if nr_x or nr_y else _BOTH_FIRST
                return _record_result(node, operands, (receiver_x, receiver_y), nrs, array, sys._getframe(3))
        else:
            edges = tracked(operands)
            if edges:
                receivers, numbers = zip(*edges, strict=True)
                return _record_result(node, operands, receivers, numbers, array, sys._getframe(3))
    return _wrap_unrecorded(node, operands, array)


def _wrap_unrecorded(node: Operation, operands: Sequence[TensorState], array: Array) -> Any:
    """The tensor around what `node` computed, where that leaves no history; the observer is told, if there is one."""
    output = new_tensor(type(operands[0]), array)
    if watch.watcher is not None:
        Node.__init__(node)
        node.shape, node.dtype = array.shape, array.dtype
        watch.watcher.unrecorded(node, tuple(operands), (output,), False)
    return output


def _record_result(
    node: Operation,
    operands: tuple[TensorState, ...],
    receivers: tuple[Node | None, ...],
    input_nrs: tuple[int, ...],
    array: Array,
    frame: Any,
) -> Any:
    """The tensor around what `node` computed, with `node` as its history: `record`, spelled out for the usual case."""
    output = _new_tensor(type(operands[0]))  # as `new_tensor`
    output.array = array
    output.edge = (node, 0)
    output.meta = output.version = None
    node.next_nodes = receivers
    node.input_nrs = input_nrs
    attach(node, array, frame)
    if node.saved_names:
        plan = node.full_save_plan if all(receivers) else node.save_plans[receiver_mask(receivers)]
        if plan is node.all_operands_plan:
            node.saved = operands
            for operand in operands:
                if operand.version is not None and operand.version.number:
                    keep_versions(node)
        elif plan is ONLY_RESULT:
            node.saved = (SavedTensor(output),)
        else:
            save(node, plan, operands, output)
    if watch.watcher is not None:
        watch.watcher.operation(node, operands, (output,), False)
    return output


def record(
    node: Operation, operands: Sequence[TensorState], edges: Sequence[Edge], outputs: Sequence[TensorState], frame: Any
) -> None:
    """Put `node` on the tape, the history of `outputs`: with edges to the operands', its place, and what it saves."""
    node.next_edges = edges
    attach(node, outputs[0].array, frame)
    if node.multi_output:
        describe_outputs(node, outputs)
    if node.saved_names:
        save(node, node.save_plans[receiver_mask(node.next_nodes)], operands, *outputs)
    if watch.watcher is not None:
        watch.watcher.operation(node, tuple(operands), tuple(outputs), False)


def describe_outputs(node: Node, outputs: Sequence[TensorState]) -> None:
    """Let a multi-output node know the shapes and dtypes of its outputs: a list of each."""
    node.shape = [output.array.shape for output in outputs]
    node.dtype = [output.array.dtype for output in outputs]


def attach(node: Node, array: Array, frame: Any) -> None:
    """Give `node`, which computed `array`, its place on the tape and in the user's program."""
    node.sequence_nr = next_sequence_nr()
    node.shape = array.shape
    node.dtype = array.dtype
    node.saved = ()
    node.hooks = None
    code = frame.f_code
    while code.co_filename in LIBRARY_FILES:  # as `user_frame`
        frame = frame.f_back
        if frame is None:
            node.code = None
            return
        code = frame.f_code
    node.code = code
    node.instruction = frame.f_lasti


def save(node: Operation, plan: SavePlan, operands: Sequence[TensorState], *outputs: TensorState) -> None:
    """Keep what the plan names, and the versions it is at where any has been written to; see Note [What is saved]."""
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
            if item.array.dtype.kind in "fc":  # else, as an argmax, it cannot be part of a cycle
                item = SavedTensor(item, -1 - source)
        if item is not None and item.version is not None and item.version.number:
            written = True
        kept.append(item)
    node.saved = tuple(kept)
    if written:
        keep_versions(node)
