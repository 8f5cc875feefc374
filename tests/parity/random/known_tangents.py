"""Differences in forward mode, and with inference tensors, that random programs may find, each with its reason."""

from __future__ import annotations

import re

from tests.parity.observe import same
from tests.parity.random.explaining import Known, raised, runs_a_pass, same_but_for_values, same_error, texts
from tests.parity.random.forgiving import (
    reached_by_both,
    with_dtypes_of_tangents,
    with_histories,
    without_lost_tangents,
    without_packing,
    without_recomputing,
    without_requires_grad,
    without_versions,
    without_zeros,
    written_by_copies,
)

HISTORY_OF_TANGENTS = (
    "the history of a tangent is that of its backward formula, or of a copy if an operation overwrites it; PyTorch's "
    "may be that of the operation, and may lead through its result, whose hooks and `retain_grad` a pass then calls, "
    "or to operands whose gradient is zero, and behind which the graph may have been freed"
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

TANGENTS: list[Known] = [
    Known(
        "a checkpointed function may get tensors with tangents, and backward may run it again after the level; PyTorch "
        "counts the tensors that the tangents' formulas saved, which the second run does not save",
        lambda theirs, ours: (
            "a checkpoint ran in a level" in theirs.past
            and raised(theirs) == "CheckpointError"
            and "A different number of tensors was saved" in texts(theirs)
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
        "the new tangent of a tensor that an operation overwrites can be differentiated; some of PyTorch's formulas "
        "have saved the old tangent, which was overwritten as well",
        lambda theirs, ours: (
            "tangents have a history" in theirs.past
            and runs_a_pass(theirs.source)
            and "modified by an inplace operation" in texts(theirs)
            and (not ours.error or "modified by an inplace operation" in texts(ours))
        ),
        by_hand=True,
    ),
    Known(
        "a tangent into which a tensor with a tangent was written can be used; PyTorch refuses its own tangent then",
        lambda theirs, ours: (
            theirs.in_level
            and "make_dual(" not in theirs.source
            and "Setting a forward grad that itself has a forward gradient" in texts(theirs)
            and not ours.error
        ),
    ),
    Known(
        HISTORY_OF_TANGENTS,
        lambda theirs, ours: (
            theirs.had_level
            and same(*[written_by_copies([texts(one), one.log, one.results]) for one in (theirs, ours)])
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
            (theirs.in_level and re.match("Inference tensors cannot be saved", texts(theirs) or texts(ours)))
            or (
                "tangents have a history" in theirs.past
                and runs_a_pass(theirs.source)
                and "unpack_hook" in texts(theirs)
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
                "backward through the graph a second time" in texts(theirs)
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
            and "Inference tensors do not track version counter" in texts(theirs)
        ),
    ),
]
"""Differences that end the comparison of a program."""
