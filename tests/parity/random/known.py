"""Differences between torch and microtape that random programs may find, each with its reason."""

from __future__ import annotations

import re

from tests.parity.observe import same
from tests.parity.random.explaining import Known, raised, runs_a_pass, same_but_for_values, same_error, texts
from tests.parity.random.known_tangents import TANGENTS

TWO_MISTAKES = (
    "view (?:which )?was created in|is a view and|used in an in-place operation|Inference tensors cannot be saved"
    "|saved tensor pack hook is modifying its input|save_for_backward can only save"
    "|division by zero"  # which is what a hook raises
)


WRITES_TO_GRADIENTS = (
    "what a hook writes to a gradient, or a Function's backward to a gradient without dimensions, may reach no other "
    "gradient; PyTorch's may be views of each other, or one tensor"
)


_VERSIONS = r"is at version (\d+); expected version (\d+)"


def _writes(text: str) -> int:
    """How many writes there were too many, by the message about an overwritten tensor."""
    found = re.search(_VERSIONS, text)
    return int(found[1]) - int(found[2]) if found else 0


KNOWN: list[Known] = [
    Known(
        "PyTorch fails with an INTERNAL ASSERT on some programs with several mistakes",
        lambda theirs, ours: "INTERNAL ASSERT" in texts(theirs),
    ),
    Known(
        "the error names the root whose gradient has a wrong shape; PyTorch fails while it looks for that root, or "
        "names another",
        lambda theirs, ours: bool(
            re.search("Boolean value of Tensor|size of tensor a|Mismatch in shape", texts(theirs))
            and "Mismatch in shape" in texts(ours)
        ),
    ),
    Known(
        "no result of `grad` is a view; PyTorch's may be views made without grad mode, which forbids some writes",
        lambda theirs, ours: bool(
            re.search("view was created in no_grad mode|Can't detach views in-place", texts(theirs))
            and ("a gradient is used" in theirs.past or re.match(r"\w+\.grad\b", theirs.source))
        ),
    ),
    Known(
        "writing through an index into an expanded tensor raises an error; PyTorch warns that it soon will",
        lambda theirs, ours: "a single memory location" in texts(ours) and "[" in ours.source and not theirs.error,
    ),
    Known(
        "after `zero_` or `fill_` of an expanded tensor, backward works; PyTorch's fails as it writes into an expanded "
        "gradient",
        lambda theirs, ours: "a single memory location" in texts(theirs) and runs_a_pass(theirs.source),
    ),
    Known(
        "the message about an overwritten result of a write to a view names the view's node, or the node that wrote it "
        "if the view has got another since; PyTorch's may name the other of the two",
        lambda theirs, ours: bool(
            "modified by an inplace operation" in texts(theirs)
            and "of AsStrided" in texts(theirs) + texts(ours)
            and len({re.sub(r"output \d+ of [\w:]+", "", texts(one)) for one in (theirs, ours)}) == 1
        ),
    ),
    Known(
        "a pack hook that raises after a write, or a tangent that must not be written to, leaves a node that has "
        "saved its tensors; PyTorch's has saved nothing, and fails with an internal error or does not notice writes",
        lambda theirs, ours: (
            "a write was not completed" in theirs.past
            and runs_a_pass(theirs.source)
            and (
                re.search("Expected a proper Tensor but got None|not enough values to unpack", texts(theirs))
                or (not theirs.error and raised(ours) == "ModifiedInPlaceError")
            )
        ),
    ),
    Known(
        "only dimensions of more than one element decide whether elements share memory; PyTorch also looks at the "
        "strides of the others",
        lambda theirs, ours: "a single memory location" in texts(theirs) and not ours.error,
    ),
    Known(
        "an operation with two mistakes, one of which is writing to a forbidden view, saving an inference tensor or "
        "anything else than a tensor, or a pack hook that raises, may raise the error of either",
        lambda theirs, ours: bool(theirs.error and ours.error and re.search(TWO_MISTAKES, texts(theirs) + texts(ours))),
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
            re.match("mark_(dirty|non_differentiable)", texts(theirs)) and texts(ours).startswith(texts(theirs))
        ),
    ),
    Known(
        "no hook can be registered on a view that may no longer be used; PyTorch refuses only the first attempt",
        lambda theirs, ours: bool(
            (".register_" in theirs.source or ours.raised_in)
            and re.search("is a view and|view was created in|view of a view", texts(ours))
        ),
        explains="error, results",
    ),
    Known(
        "zeros that a formula gives have memory, for `numpy()` and for writes; PyTorch's may be a ZeroTensor",
        lambda theirs, ours: bool(re.search("Cannot convert a ZeroTensor|ZeroTensors are immutable", texts(theirs))),
    ),
    Known(
        "the formulas that `create_graph=True` records save other tensors than PyTorch's, so a pack hook that writes "
        "to its argument, or raises, may not be called",
        lambda theirs, ours: (
            "create_graph=True" in theirs.source
            and (
                "pack hook is modifying" in texts(theirs) + texts(ours)
                or any(one.raised_in.startswith("pack") for one in (theirs, ours))
            )
        ),
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
                "a view of one that has got another shape" in texts(ours)
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
        "`grad` returns a tensor whose version does not count what hooks wrote to the gradient; PyTorch's does",
        lambda theirs, ours: (
            raised(ours) == "ModifiedInPlaceError"
            and len({re.sub(_VERSIONS, "", texts(one)) for one in (theirs, ours)}) == 1
            and len({_writes(texts(one)) for one in (theirs, ours)}) == 1
        ),
    ),
    *TANGENTS,
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
