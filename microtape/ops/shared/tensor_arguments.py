"""Operations that are called with something else where a tensor belongs say so in torch's words.

Note [Arguments that are no tensors]
  An operation reads what it needs of its arguments, such as `input.ndim`, and does not check their types first, which
  would take time in every call. Only when a call fails are its arguments examined: if one of them has to be a tensor
  and is not, torch's TypeError about it replaces the error. Which arguments have to be tensors follows from their
  names, which are torch's.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import wraps
from types import FunctionType
from typing import Any

from microtape.ops.shared.spellings import respelled, write_out
from microtape.tape.operands import ARRAYS, NUMBERS
from microtape.tape.operation import unary
from microtape.tape.tensor_state import TensorState

_PARAMETERS = """
    A B a abs anchor angle append attn_mask b batch1 batch2 bias boundaries condition elements end exponent
    imag index indices input input1 input2 key mask mat mat1 mat2 max min negative operands other pos_weight
    positive prepend query real repeats running_mean running_var source src target tensor tensor1 tensor2
    sorted_sequence tensors test_elements value values vec vec1 vec2 weight weights x x1 x2 y
"""
_NAMES = frozenset(_PARAMETERS.split())
_NAMES_IN_C = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd"}  # what torch's errors call them
_ANNOTATIONS = re.compile(r"(Any|Tensor|TensorState|Sequence\[Any( \| None)?\])( \| None)?")


def naming_tensors(function: Any, method: bool = False) -> Any:
    """`function`, but raising TypeError as in Note [Arguments that are no tensors]; as it is if it takes no tensors.

    A method does not count its own tensor in the position of an argument.
    """
    if not isinstance(function, FunctionType):
        return function
    code = function.__code__
    if len(code.co_names) == 2 and code.co_names[0] == "unary":  # which checks its operand
        return function if method else _unary_with_out(function, function.__globals__[code.co_names[1]])
    if _NAMES.isdisjoint(code.co_varnames):
        return function

    @wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        try:
            result = function(*arguments, **named)
            if result is not NotImplemented:
                return result
            reason = _reason(function, arguments, named, True, method)
        except Exception as error:
            if named and isinstance(error, TypeError):
                known = respelled(function, named, method)  # see Note [Spellings]
                if known is not None:
                    operands = (*arguments, *known.values())
                    return write_out(
                        function.__name__, named.get("out"), lambda: checked(*arguments, **known), operands
                    )
            reason = _reason(function, arguments, named, isinstance(error, AttributeError), method)
            if reason is None:
                raise
        raise TypeError(reason or f"{function.__name__}(): an argument is neither a tensor nor a number")

    return checked


def _unary_with_out(function: Any, operation: Any) -> Any:
    """`function`, which only calls `unary` with that operation, with an argument `out` as well."""

    @wraps(function)
    def checked(input: Any, *, out: Any = None) -> Any:
        if out is None:
            return unary(operation, input)
        return write_out(function.__name__, out, lambda: unary(operation, input), (input,))

    return checked


def _reason(
    function: Any, arguments: tuple[Any, ...], named: dict[str, Any], numbers: bool, method: bool
) -> str | None:
    """The first argument that is no tensor, in torch's words; with `numbers`, a number is not one either."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*arguments, **named).arguments
    except TypeError:  # which the call has raised as well
        return None
    for position, (name, parameter) in enumerate(signature.parameters.items(), not method):
        annotation = str(parameter.annotation)
        if name not in _NAMES or name not in given or not _ANNOTATIONS.fullmatch(annotation):
            continue
        value, kind = given[name], type(given[name]).__name__
        argument = f"argument '{name}'" + ("" if name in named else f" (position {position})")
        may_be_none = parameter.default is None or "None" in annotation
        several = parameter.kind is parameter.VAR_POSITIONAL or annotation.startswith("Sequence")
        if not several:
            if not _may_be_tensor(value, numbers, may_be_none):
                return (
                    f"{_NAMES_IN_C.get(function.__name__, function.__name__)}(): {argument} must be Tensor, not {kind}"
                )
        elif not isinstance(value, tuple | list):
            return f"{function.__name__}(): {argument} must be tuple of Tensors, not {kind}"
        else:
            for i, one in enumerate(_members(value)):
                if not _may_be_tensor(one, True, may_be_none):
                    return f"expected Tensor as element {i} in argument {position - 1}, but got {type(one).__name__}"
    return None


def _members(values: Any) -> Iterator[Any]:
    """The tensors of `f(x, y)` and of `f((x, y))`, which is the same."""
    return iter(values[0] if len(values) == 1 and isinstance(values[0], tuple | list) else values)


def _may_be_tensor(value: Any, numbers: bool, none: bool) -> bool:
    """Whether a value can stand where a tensor belongs."""
    if value is None:
        return none
    return isinstance(value, (TensorState, *ARRAYS)) or (isinstance(value, NUMBERS) and not numbers)
