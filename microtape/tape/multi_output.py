"""Operations with several outputs, such as `max` with its values and indices; see Note [Several outputs]."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar

from microtape.tape.operands import as_tensor
from microtape.tape.operation import Operation, describe_outputs, quiet_context, record, refusal, tracked
from microtape.tape.tensor_state import TensorState, as_array, new_tensor
from microtape.tape.watch import watch


class MultiOutputOperation(Operation):
    """An operation whose `forward` returns several arrays; `results` are their names in the gradient formulas."""

    __slots__ = ()
    multi_output = True
    returns: ClassVar[Callable[..., Any]]  # builds the return value of the call from the outputs


def return_type(name: str, *fields: str) -> Any:
    """A class of named tuples that print as torch's return types do."""

    def represent(self: Any) -> str:
        values = (f"{field}={value!r}" for field, value in zip(fields, self, strict=True))
        return f"microtape.return_types.{name}(\n" + ",\n".join(values) + ")"

    own = {"__slots__": (), "__repr__": represent, "__module__": "microtape.return_types"}
    return type(name, (_named(*fields),), own)


@cache
def _named(*fields: str) -> Any:
    """A class of named tuples with these fields; cached, because making one is slow and many operations share it."""
    return namedtuple("_".join(fields), fields)


def call_multi_output(node: MultiOutputOperation, *operands: Any) -> Any:
    """`operation.call`, for an operation with several outputs."""
    tensor = next((operand for operand in operands if isinstance(operand, TensorState)), None)
    returns = type(node).returns
    if tensor is None:
        return returns(*node.forward(*operands))
    tensors = [as_tensor(operand, type(tensor)) for operand in operands]
    outputs = [new_tensor(type(tensor), array) for array in _compute(node, tensors)]
    edges = tracked(tensors)
    if edges:
        for output_nr, output in enumerate(outputs):
            if output.array.dtype.kind in "fc":  # integer outputs, such as indices, have no history
                output.edge = (node, output_nr)
        record(node, tensors, edges, outputs, sys._getframe(2))
    elif (watcher := watch.watcher) is not None:
        describe_outputs(node, outputs)
        watcher.unrecorded(node, tuple(tensors), tuple(outputs), False)
    return returns(*outputs)


def _compute(node: MultiOutputOperation, tensors: Sequence[TensorState]) -> list[Any]:
    """Run `node.forward` on the tensors' arrays. Raises RuntimeError if their shapes or dtypes do not match."""
    arrays = node.arrays(tensors)
    try:
        outputs = [as_array(output) for output in quiet_context().run(node.forward, *arrays)]
        return [one if one.flags.c_contiguous else one.copy() for one in outputs] if node.row_major else outputs
    except (TypeError, ValueError) as error:
        raise refusal(error, *arrays) from None
