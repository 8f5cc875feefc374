"""What an error means, and what a learner might look at: for the errors that do not say so themselves.

The messages of the engine are PyTorch's, word for word, and those of Python and numpy are their own. A remark stands
below one of them where no known wrong answer explains it.
"""

from __future__ import annotations

import re

from lessons.checking.observe import Raised
from lessons.checking.plain import Difference

OF_AN_ERROR = (
    (
        r"incorrect number of gradients \(expected (\d+)",
        r"backward returns one gradient for each argument of forward, ctx not counted: \1 here, with None where an "
        "argument needs none.",
    ),
    (
        r"different than None at position (\d+), but the corresponding forward input was not a Variable",
        r"Argument \1 of forward, ctx not counted, was no tensor here. What backward returns in its place is None.",
    ),
    (r"invalid gradient at index", "A gradient has the shape of what it belongs to."),
    (r"backward\(\) takes \d+ pos", "backward is handed ctx, and one gradient for each output of forward."),
    (r"(?:forward|backward)\(\) missing", "The first argument is ctx, also where other methods have self."),
    (
        r"does not require grad and does not have a grad_fn",
        "Nothing behind this number is on the tape. Is there a `detach`, a `no_grad`, an `.item()` on the way, or are "
        "there whole numbers, which have no slope?",
    ),
    (
        r"implicitly created only for scalar outputs",
        "To go back from several numbers, backward has to be told how much each counts: `result.backward(gradient)`.",
    ),
    (
        r"modified by an inplace operation",
        "Something that backward needs was written over after it had been kept. Compute a new tensor there instead.",
    ),
    (
        r"leaf Variable that requires grad (?:is being|has been) used in an in-place",
        "A leaf that requires a gradient may not be written into while the tape is on. Do it under `no_grad`, or in a "
        "copy: `x.detach().clone()`.",
    ),
    (
        r"through the graph a second time",
        "An earlier backward has freed this part of the graph. Compute it anew, or cut it off with `detach`.",
    ),
    (
        r"Boolean value of Tensor with more than one",
        "Several numbers are not one yes or no. To ask whether there is a tensor at all, write `is None`.",
    ),
    (
        r"operand type\(s\) for .*'tuple'|can be converted to an index|'tuple' object has no attribute",
        "One of them is a tuple. Take it apart first: `(x,) = ...` if it holds one thing, `x, y = ...` if two.",
    ),
    (r"mismatch in its core dimension", "In a matrix product the inner sizes have to be equal: n × k by k × m."),
    (
        r"read-only|non-broadcastable output operand",
        "`+=` writes into the array that is there, which is a mere view, or too small. `a = a + b` makes a new one.",
    ),
    (
        r"maximum recursion depth",
        "A function that calls itself for each row of the tape gives up after about a thousand. Use a loop, and a list "
        "of what is still to be looked at.",
    ),
)
"""Part of a message, whose groups can be used, and what to say of it."""

OF_A_RESULT = (
    (r"'NoneType' object", "What your code gave there is None. Is a `return` missing?"),
    (r"values to unpack \(expected (\d+)", r"Your code is to give \1 things here."),
    (r"cannot unpack non-iterable", "Your code is to give several things here, and gave one."),
)
"""The same where the error came while a check looked at what the learner's code had given it."""


def of_error(raised: Raised) -> str:
    """What to say of an error, nothing where it says enough itself."""
    if "saved_tensors" in raised.code and "values to unpack" in raised.message:
        return "`ctx.saved_tensors` holds what forward gave to `ctx.save_for_backward`: as many, in that order."
    for part, said in OF_AN_ERROR if raised.line is not None else (*OF_AN_ERROR, *OF_A_RESULT):
        if found := re.search(part, raised.summary):
            return found.expand(said)
    return ""


def of_difference(difference: Difference) -> str:
    """What to say where two values differ in nothing but their kind, nothing where they differ in more."""
    if difference.did not in (f"tensor {difference.expected}", f"array {difference.expected}"):
        return ""
    if difference.expected.startswith("["):
        return "The numbers are right. `.tolist()` makes a list of Python numbers of them."
    return "The number is right. `.item()` makes a Python number of it."
