"""Differences between torch and microtape that random programs may find, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tests.parity.observe import matching_type, same
from tests.parity.random.forgiving import (
    reached_by_both,
    with_dtypes_of_tangents,
    with_histories,
    without_lost_tangents,
    without_packing,
    without_recomputing,
    without_requires_grad,
    without_values,
    without_versions,
    without_zeros,
    written_by_copies,
)
from tests.parity.random.session import Seen

Recognise = Callable[[Seen, Seen], bool]


class Known(NamedTuple):
    """A difference that is explained: how it is recognised in what a statement did on torch and here, and the reason.

    A program is compared up to the statement, as all that follows may depend on it. An entry explains differences in
    nothing but what it names: the error of the statement, its log, or its results.
    """

    reason: str
    recognise: Recognise
    explains: str = "error"
    by_hand: bool = False  # whether a handwritten program shows it, too, which is on the page


def _texts(seen: Seen) -> str:
    return seen.error[1] if seen.error else ""


def _class(seen: Seen) -> str:
    return seen.error[0].__name__ if seen.error else ""


TWO_MISTAKES = (
    "view (?:which )?was created in|is a view and|used in an in-place operation|Inference tensors cannot be saved"
    "|saved tensor pack hook is modifying its input|save_for_backward can only save"
    "|division by zero"  # which is what a hook raises
)

HISTORY_OF_TANGENTS = (
    "the history of a tangent is that of its backward formula, or of a copy if an operation overwrites it; PyTorch's "
    "may be that of the operation, and may lead through its result, whose hooks and `retain_grad` a pass then calls, "
    "or to operands whose gradient is zero, and behind which the graph may have been freed"
)

WRITES_TO_GRADIENTS = (
    "what a hook writes to a gradient, or a Function's backward to a gradient without dimensions, may reach no other "
    "gradient; PyTorch's may be views of each other, or one tensor"
)

TANGENTS_SAVE_OTHERS = (
    "the formulas of tangents save other tensors than PyTorch's, so the hooks of saved tensors may be called more "
    "or less often, and hooks that change values have other effects; an inference tensor may be saved, which is an "
    "error, by only one of the two, and so may a tensor whose `.data` is replaced"
)

INFERENCE_TENSORS = (
    "operations on inference tensors pass tangents on, and a Function takes one as a tangent; PyTorch's operations "
    "pass them on only if another operand is a normal tensor, and its Functions ask the tangent for its version"
)

VERSIONS_OF_INFERENCE = (
    "the results of operations on inference tensors are at version 0; in PyTorch a copy, a sum or an absolute value is "
    "at 1, a mean at 2, and what `stack` gives is a view"
)

_VERSIONS = r"is at version (\d+); expected version (\d+)"


def _writes(text: str) -> int:
    """How many writes there were too many, by the message about an overwritten tensor."""
    found = re.search(_VERSIONS, text)
    return int(found[1]) - int(found[2]) if found else 0


KNOWN: list[Known] = [
    Known(
        "PyTorch fails with an INTERNAL ASSERT on some programs with several mistakes",
        lambda theirs, ours: "INTERNAL ASSERT" in _texts(theirs),
    ),
    Known(
        "the error names the root whose gradient has a wrong shape; PyTorch fails while it looks for that root, or "
        "names another",
        lambda theirs, ours: bool(
            re.search("Boolean value of Tensor|size of tensor a|Mismatch in shape", _texts(theirs))
            and "Mismatch in shape" in _texts(ours)
        ),
    ),
    Known(
        "no result of `grad` is a view; PyTorch's may be views made without grad mode, which forbids some writes",
        lambda theirs, ours: bool(
            re.search("view was created in no_grad mode|Can't detach views in-place", _texts(theirs))
            and ("a gradient is used" in theirs.past or re.match(r"\w+\.grad\b", theirs.source))
        ),
    ),
    Known(
        "writing through an index into an expanded tensor raises an error; PyTorch warns that it soon will",
        lambda theirs, ours: "a single memory location" in _texts(ours) and "[" in ours.source and not theirs.error,
    ),
    Known(
        "after `zero_` or `fill_` of an expanded tensor, backward works; PyTorch's fails as it writes into an expanded "
        "gradient",
        lambda theirs, ours: "a single memory location" in _texts(theirs) and runs_a_pass(theirs.source),
    ),
    Known(
        "the message about an overwritten result of a write to a view names the view's node, or the node that wrote it "
        "if the view has got another since; PyTorch's may name the other of the two",
        lambda theirs, ours: bool(
            "modified by an inplace operation" in _texts(theirs)
            and "of AsStrided" in _texts(theirs) + _texts(ours)
            and len({re.sub(r"output \d+ of [\w:]+", "", _texts(one)) for one in (theirs, ours)}) == 1
        ),
    ),
    Known(
        "a pack hook that raises after a write, or a tangent that must not be written to, leaves a node that has "
        "saved its tensors; PyTorch's has saved nothing, and fails with an internal error or does not notice writes",
        lambda theirs, ours: (
            "a write was not completed" in theirs.past
            and runs_a_pass(theirs.source)
            and (
                re.search("Expected a proper Tensor but got None|not enough values to unpack", _texts(theirs))
                or (not theirs.error and _class(ours) == "ModifiedInPlaceError")
            )
        ),
    ),
    Known(
        "only dimensions of more than one element decide whether elements share memory; PyTorch also looks at the "
        "strides of the others",
        lambda theirs, ours: "a single memory location" in _texts(theirs) and not ours.error,
    ),
    Known(
        "an operation with two mistakes, one of which is writing to a forbidden view, saving an inference tensor or "
        "anything else than a tensor, or a pack hook that raises, may raise the error of either",
        lambda theirs, ours: bool(
            theirs.error and ours.error and re.search(TWO_MISTAKES, _texts(theirs) + _texts(ours))
        ),
    ),
    Known(
        "an operation that fails for its operands has not saved any; PyTorch may have called pack hooks before",
        lambda theirs, ours: bool(
            theirs.error
            and same_error(theirs, ours)
            and same(theirs.log[: len(ours.log)], ours.log)
            and all(str(entry[0]).startswith("pack ") for entry in theirs.log[len(ours.log) :])
        ),
        explains="log",
    ),
    Known(
        "`mark_dirty` and `mark_non_differentiable` name the type of an argument that is not a tensor; PyTorch's "
        "message ends before it",
        lambda theirs, ours: bool(
            re.match("mark_(dirty|non_differentiable)", _texts(theirs)) and _texts(ours).startswith(_texts(theirs))
        ),
    ),
    Known(
        "no hook can be registered on a view that may no longer be used; PyTorch refuses only the first attempt",
        lambda theirs, ours: bool(
            (".register_" in theirs.source or ours.raised_in)
            and re.search("is a view and|view was created in|view of a view", _texts(ours))
        ),
        explains="error, results",
    ),
    Known(
        "a checkpointed function may get tensors with tangents, and backward may run it again after the level; PyTorch "
        "counts the tensors that the tangents' formulas saved, which the second run does not save",
        lambda theirs, ours: (
            "a checkpoint ran in a level" in theirs.past
            and _class(theirs) == "CheckpointError"
            and "A different number of tensors was saved" in _texts(theirs)
        ),
    ),
    Known(
        "zeros that a formula gives have memory, for `numpy()` and for writes; PyTorch's may be a ZeroTensor",
        lambda theirs, ours: bool(re.search("Cannot convert a ZeroTensor|ZeroTensors are immutable", _texts(theirs))),
    ),
    Known(
        "the formulas that `create_graph=True` records save other tensors than PyTorch's, so a pack hook that writes "
        "to its argument, or raises, may not be called",
        lambda theirs, ours: (
            "create_graph=True" in theirs.source
            and (
                "pack hook is modifying" in _texts(theirs) + _texts(ours)
                or any(one.raised_in.startswith("pack") for one in (theirs, ours))
            )
        ),
    ),
    Known(
        "a tangent that is a constant does not require grad; PyTorch's does, if its formula has an operand that does",
        lambda theirs, ours: (
            theirs.had_level
            and same(
                without_requires_grad(theirs.results),
                without_requires_grad(with_histories(theirs.results, ours.results)),
            )
            and same(*[without_requires_grad(without_packing(one.log)) for one in (theirs, ours)])
        ),
        explains="log, results",
    ),
    Known(
        "the tangent of each output of a Function is the one that its `jvp` returned; PyTorch's outputs have none if "
        "they follow a view of an input without a tangent, or if the Function wrote to an input without grad mode",
        lambda theirs, ours: (
            theirs.in_level
            and ".apply(" in theirs.source
            and same_error(theirs, ours)
            and same(theirs.results, without_lost_tangents(theirs.results, ours.results))
        ),
        explains="results",
        by_hand=True,
    ),
    Known(
        "a tangent of another dtype than its primal's is converted as soon as it is used in a computation; PyTorch "
        "goes on with both dtypes",
        lambda theirs, ours: (
            theirs.in_level and same(theirs.results, with_dtypes_of_tangents(theirs.results, ours.results))
        ),
        explains="results",
        by_hand=True,
    ),
    Known(
        HISTORY_OF_TANGENTS,
        lambda theirs, ours: (
            "tangents have a history" in theirs.past
            and runs_a_pass(theirs.source)
            and not theirs.error
            and not ours.error
            and (
                same(*[without_zeros([entry for entry in one.gradients if entry[-1]]) for one in (theirs, ours)])
                or {entry[0] for entry in theirs.log} - {entry[0] for entry in ours.log}  # hooks of a result
            )
        ),
        explains="log, gradients",
    ),
    Known(
        "sequence numbers count through the whole process, PyTorch's in each thread, so of two nodes that were "
        "recorded in different threads the other may run first, and its hook may remove a hook of the first in time",
        lambda theirs, ours: (
            {"nodes were recorded in a thread", "a hook removes another"} <= theirs.past
            and runs_a_pass(theirs.source)
            and same_error(theirs, ours)
            and {entry[0] for entry in theirs.log} != {entry[0] for entry in ours.log}
        ),
        explains="log, gradients, results",
        by_hand=True,
    ),
    Known(
        "the gradient that an output of several retains stays its own after a write to it; PyTorch moves the first's",
        lambda theirs, ours: (
            "a later output that retains its gradient was overwritten" in theirs.past
            and runs_a_pass(theirs.source)
            and same_error(theirs, ours)
            and same(*[[entry for entry in one.gradients if entry[-1]] for one in (theirs, ours)])
        ),
        explains="gradients",
        by_hand=True,
    ),
    Known(
        "the new tangent of a tensor that an operation overwrites can be differentiated; some of PyTorch's formulas "
        "have saved the old tangent, which was overwritten as well",
        lambda theirs, ours: (
            "tangents have a history" in theirs.past
            and runs_a_pass(theirs.source)
            and "modified by an inplace operation" in _texts(theirs)
            and (not ours.error or "modified by an inplace operation" in _texts(ours))
        ),
        by_hand=True,
    ),
    Known(
        WRITES_TO_GRADIENTS,
        lambda theirs, ours: bool(
            runs_a_pass(theirs.source)
            and same_error(theirs, ours)
            and (
                (
                    theirs.past & {"a node's hook writes to gradients", "a tensor's hook writes to a gradient"}
                    and same_but_for_values(theirs, ours)
                )
                or ("a backward writes to gradients" in theirs.past and same_but_for_values(theirs, ours, dims=0))
            )
        ),
        explains="log, gradients, results",
    ),
    Known(
        "a recorded write to a view raises an error if the view's base has got another shape through its `.data`; "
        "PyTorch's backward fails then, or gives a gradient of another shape",
        lambda theirs, ours: bool(
            "data of another shape was assigned" in theirs.past
            and (
                "a view of one that has got another shape" in _texts(ours)
                or (theirs.error and ours.error and runs_a_pass(theirs.source))
            )
        ),
        explains="error, log, gradients",
    ),
    Known(
        "a multi-gradient hook counts the gradients of each pass by itself; PyTorch's loses count in a pass during "
        "which one of its tensors gets a gradient in another pass",
        lambda theirs, ours: (
            theirs.past & {"a Function's backward runs a pass", "a checkpoint is re-entrant"}
            and same(*[[entry for entry in one.log if not isinstance(entry[1], list)] for one in (theirs, ours)])
        ),
        explains="log",
    ),
    Known(
        "a tangent into which a tensor with a tangent was written can be used; PyTorch refuses its own tangent then",
        lambda theirs, ours: (
            theirs.in_level
            and "make_dual(" not in theirs.source
            and "Setting a forward grad that itself has a forward gradient" in _texts(theirs)
            and not ours.error
        ),
    ),
    Known(
        "`grad` returns a tensor whose version does not count what hooks wrote to the gradient; PyTorch's does",
        lambda theirs, ours: (
            _class(ours) == "ModifiedInPlaceError"
            and len({re.sub(_VERSIONS, "", _texts(one)) for one in (theirs, ours)}) == 1
            and len({_writes(_texts(one)) for one in (theirs, ours)}) == 1
        ),
    ),
    Known(
        HISTORY_OF_TANGENTS,
        lambda theirs, ours: (
            theirs.had_level
            and same(*[written_by_copies([_texts(one), one.log, one.results]) for one in (theirs, ours)])
        ),
        explains="error, log, results",
    ),
    Known(
        TANGENTS_SAVE_OTHERS,
        lambda theirs, ours: (
            "data was replaced after a level" in theirs.past
            and "tangents have a history" in theirs.past
            and runs_a_pass(theirs.source)
            and not theirs.error
            and not ours.error
            and same_but_for_values(theirs, ours)
        ),
        explains="log, gradients, results",
    ),
    Known(
        TANGENTS_SAVE_OTHERS,
        lambda theirs, ours: bool(
            (theirs.in_level and re.match("Inference tensors cannot be saved", _texts(theirs) or _texts(ours)))
            or (
                "tangents have a history" in theirs.past
                and runs_a_pass(theirs.source)
                and "unpack_hook" in _texts(theirs)
                and not ours.error
            )
            or (
                (theirs.in_level or "tangents have a history" in theirs.past)
                and same_error(theirs, ours)
                and same(*[without_recomputing(without_packing(one.log)) for one in (theirs, ours)])
            )
        ),
        explains="error, log",
    ),
    Known(
        TANGENTS_SAVE_OTHERS,
        lambda theirs, ours: (
            theirs.past >= {"tangents have a history", "an unpack hook changes values"}
            and runs_a_pass(theirs.source)
            and same_error(theirs, ours)
            and same_but_for_values(theirs, ours)
        ),
        explains="log, gradients, results",
    ),
    Known(
        HISTORY_OF_TANGENTS,
        lambda theirs, ours: (
            "tangents have a history" in theirs.past
            and runs_a_pass(theirs.source)
            and not ours.error
            and (
                "backward through the graph a second time" in _texts(theirs)
                or (
                    same(*[without_zeros(one.gradients) for one in (theirs, ours)])
                    and same(*[without_zeros(one.results) for one in (theirs, ours)])
                )
            )
        ),
        explains="error, gradients, results",
    ),
    Known(
        HISTORY_OF_TANGENTS,
        lambda theirs, ours: (
            "tangents have a history" in theirs.past
            and "allow_unused=True" in theirs.source
            and same_error(theirs, ours)
            and same(*reached_by_both(theirs.results, ours.results))
        ),
        explains="results",
    ),
    Known(
        VERSIONS_OF_INFERENCE,
        lambda theirs, ours: (
            "there are inference tensors" in theirs.past
            and ".apply(" in theirs.source
            and same(without_versions(theirs.results), without_versions(ours.results))
        ),
        explains="results",
    ),
    Known(
        INFERENCE_TENSORS,
        lambda theirs, ours: (
            theirs.in_level
            and "there are inference tensors" in theirs.past
            and same(theirs.results, without_lost_tangents(theirs.results, ours.results))
        ),
        explains="results",
    ),
    Known(
        INFERENCE_TENSORS,
        lambda theirs, ours: (
            theirs.in_level
            and ("apply(" in theirs.source or "checkpoint(" in theirs.source)
            and "Inference tensors do not track version counter" in _texts(theirs)
        ),
    ),
]
"""Differences that end the comparison of a program, for the page of known differences."""

LENIENT = [
    "what `grad` returns and what `backward` accumulates is in memory of its own; PyTorch's gradients may share memory "
    "with each other, with the first gradient, or with a leaf",
    *dict.fromkeys(one.reason for one in KNOWN if not one.by_hand),
    "where a Function that wrote to a view returns no gradient for it, the rest of the base keeps its gradient; "
    "PyTorch loses it",
    "what a checkpointed function saves and then overwrites keeps its values; PyTorch's backward uses the new ones",
    "a tangent in the memory of its own primal, into which an in-place operation writes twice, is not tried",
    "a first gradient that requires grad does not require grad in a hook, and its version does not count the writes of "
    "hooks",
    "indices and masks are not passed to the hooks of saved tensors",
    "leaves that become ready together are evaluated in the order in which they became ready; PyTorch takes them from "
    "a heap",
    "the message about an overwritten saved tensor says which output of its node it is; PyTorch says 0 for some",
    "writing to an inference tensor outside of inference mode raises an error and writes nothing; PyTorch writes "
    "first, and an in-place operation on a dual tensor that fails may have written the value in one of the two alone",
    "whether a gradient of zeros from `create_graph=True` requires grad depends on how the derivative is written",
    "`get_gradient_edge` of a leaf works in inference mode; PyTorch's fails with an AttributeError",
]
"""Differences that random programs avoid or tolerate, for the page of known differences."""


def runs_a_pass(source: str) -> bool:
    """Whether the statement runs a backward pass."""
    return "backward(" in source or "autograd.grad(" in source


def same_but_for_values(theirs: Seen, ours: Seen, dims: int | None = None) -> bool:
    """Whether a statement did the same apart from values, or from those of tensors with so many dimensions."""
    return same(*[without_values([one.log, one.results, one.gradients], dims) for one in (theirs, ours)])


def same_error(theirs: Seen, ours: Seen) -> bool:
    """Whether a statement raised the same; the number of an output of a node is 0 in torch for some."""
    if theirs.error is None or ours.error is None:
        return theirs.error is ours.error
    texts = [re.sub(r"output \d+ of", "output 0 of", one.error[1]) for one in (theirs, ours) if one.error]
    return matching_type(theirs.error[0], ours.error[0]) and texts[0] == texts[1]
