"""Explains errors that do not explain themselves, and says what to look at.

The engine's messages are PyTorch's, word for word; others come from Python and numpy. Below such a message, the report
shows a remark, unless the diagnosis of a known wrong answer explains the error.
"""

from __future__ import annotations

import re

from lessons.checking.observe import Raised
from lessons.checking.plain_data import Difference

ERROR_REMARKS = (
    (
        r"incorrect number of gradients \(expected (\d+)",
        r"backward returns one gradient for each argument of forward, ctx not counted: \1 here, with None where an "
        "argument needs none.",
    ),
    (
        r"different than None at position (\d+), but the corresponding forward input was not a Variable",
        r"Argument \1 of forward, ctx not counted, was not a tensor here. backward returns None for it.",
    ),
    (r"invalid gradient at index", "A gradient must have the shape of its tensor."),
    (r"(?<!Tape\.)backward\(\) takes \d+ pos", "backward takes ctx, and one gradient for each output of forward."),
    (
        r"(?<!Tape\.)(?:forward|backward)\(\) missing",
        "The first argument is ctx, in the place where other methods have self.",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        "Nothing behind this number is on the tape. Look for a `detach`, a `no_grad` or an `.item()` on the way, or "
        "for integers, which have no derivative.",
    ),
    (
        r"implicitly created only for scalar outputs",
        "To start from several numbers, backward needs a weight for each of them: `result.backward(gradient)`.",
    ),
    (
        r"modified by an inplace operation",
        "A tensor that backward needs was overwritten after it had been saved. Compute a new tensor instead.",
    ),
    (
        r"leaf Variable that requires grad (?:is being|has been) used in an in-place",
        "A leaf that requires a gradient may not be changed in place while operations are recorded. Do it under "
        "`no_grad`, or change a copy: `x.detach().clone()`.",
    ),
    (
        r"through the graph a second time",
        "An earlier backward has freed this part of the graph. It keeps it with `retain_graph` or `create_graph`. Or "
        "compute that part again, or cut it off with `detach`.",
    ),
    (
        r"(?:Boolean value of Tensor|truth value of an array) with more than one",
        "Several numbers together are neither true nor false. To ask whether there are any, write `is None`.",
    ),
    (
        r"'(?:float|int)' object has no attribute '(?:size|shape|ndim)'|'(?:float|int)' has no len",
        "This can be a single number, which has no length and no shape. `np.size(...)` and `np.shape(...)` take "
        "numbers and arrays alike.",
    ),
    (
        r"operand type\(s\) for .*'tuple'|can be converted to an index|'tuple' object has no attribute",
        "This is a tuple. Unpack it first: `(x,) = ...` if it has one element, `x, y = ...` if it has two.",
    ),
    (
        r"'type' object does not support the context manager protocol",
        "What stands after `with` is a class. Call it, with parentheses: `with mt.no_grad():`.",
    ),
    (r"mismatch in its core dimension", "In a matrix product the inner sizes must be equal: n × k times k × m."),
    (
        r"could not be broadcast together",
        "Elementwise operations need sizes that are equal or 1, counted from the right. A matrix product is `@`.",
    ),
    (
        r"read-only|non-broadcastable output operand",
        "`+=` writes into the existing array, which is only a view or too small. `a = a + b` makes a new one.",
    ),
    (
        r"maximum recursion depth",
        "A function that calls itself for each row of the tape fails after about a thousand calls. Use a loop, and a "
        "list of the rows still to visit.",
    ),
)
"""A pattern in a message, and the remark, which may use the pattern's groups."""

RESULT_REMARKS = (
    (
        r"'NoneType' (?:object|is not (?:a container or )?iterable)",
        "Your code returned None there. Is a `return` missing?",
    ),
    (r"values to unpack \(expected (\d+)", r"Your code must return \1 values here."),
    (r"cannot unpack non-iterable", "Your code must return several values here, and returned one."),
    (
        r"'(?:float|float64|int)' (?:object )?is not (?:(?:a container or )?iterable|subscriptable)",
        "Your code returned a single number there, where more is expected. A list with one number is `[...]`.",
    ),
    (r"object has no attribute '(?:get|items)'", "Your code must return a dict here."),
)
"""The same for errors that a check raises when it uses what the learner's code returned."""


def remark_on_error(raised: Raised) -> str:
    """The remark on an error, "" if the error needs none."""
    if "saved_tensors" in raised.code and "values to unpack" in raised.message:
        return "`ctx.saved_tensors` holds what forward gave to `ctx.save_for_backward`: as many tensors, in that order."
    for part, said in ERROR_REMARKS if raised.line is not None else (*ERROR_REMARKS, *RESULT_REMARKS):
        if found := re.search(part, raised.summary):
            return found.expand(said)
    return ""


def remark_on_difference(difference: Difference) -> str:
    """The remark on two values that differ only in their type, "" if they differ in more."""
    if difference.did not in (f"tensor {difference.expected}", f"array {difference.expected}"):
        return ""
    if difference.expected.startswith("["):
        return "The numbers are right. `.tolist()` turns them into a list of Python numbers."
    return "The number is right. `.item()` turns it into a Python number."
