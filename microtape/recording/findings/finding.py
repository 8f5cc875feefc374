"""What a finding is: something wrong in a recorded program, with the line, the numbers and a remedy."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from microtape.recording.model.model import Place

Severity: TypeAlias = Literal["error", "warning", "notice"]
FindingKind: TypeAlias = Literal[
    "overwritten",  # a saved tensor was overwritten in place
    "freed",  # the graph was freed by an earlier backward
    "wrong return",  # a Function returned gradients of a wrong number, shape or dtype
    "hook failed",  # or one that is registered again and again
    "failed",  # a pass failed for another reason
    "refused",  # backward, or an in-place write, was refused before it began
    "nan",  # the origin of NaN
    "infinity",  # the origin of infinity
    "no gradient",  # a leaf is cut off from the loss, or not used by it
    "replaced",  # an update made a leaf the result of an operation
    "zero gradient",
    "vanishing",
    "exploding",
    "steep slope",  # an operation whose slope has next to no bound there makes a gradient enormous, though finite
    "identical units",  # units of a layer that compute the same and get the same gradients, pass after pass
    "shared layer",  # that a list holds several times
    "eval mode",  # in which a model trains, since nothing has called train() after eval()
    "clipping",  # of gradients that were used already, are yet to come, or are scaled
    "wrong derivative",  # finite differences contradict it
    "missing gradient",  # a Function's backward returned None for an argument that needs a gradient
    "unneeded gradient",  # a Function's backward computed a gradient for an argument that needs none
    "fitted gradient",  # a Function's backward returned another shape or dtype, which the engine has converted
    "accumulated",  # .grad adds up over passes and is never reset
    "no update",  # an optimiser's step changed nothing, though gradients had come
    "repeated step",  # with gradients that a step before has used
    "forgetting",  # an optimiser that is made anew for each step
    "large update",
    "broadcast",  # that nobody meant
    "batch dimension",  # taken for the one that a module runs along
    "no effect",  # of a statement: a result that nobody keeps, a method that is named and not called
    "reshape",  # that moves no number, where dimensions were perhaps to change places
    "probabilities",  # bounded numbers, rates or variances, given to a loss that takes something else
    "target",  # that its loss is not made for, such as labels 0 and 1 where it takes 1 and -1
    "attention",  # whose weights add up to 1 over another dimension, or are of what lies ahead or is masked
    "learning target",  # which gradients move towards what it is compared with
    "learned advantage",  # through which the loss of a policy trains the critic, too
    "written through a view",
    "growing graph",
    "wrong shape",  # a gradient in an engine of the user's own does not have the shape of its number
    "wrong sum",  # an engine of the user's own stores something else than the sum of what was delivered
    "fault",  # of microtape: what one detector looks for is unknown
]
RankKind: TypeAlias = Literal[
    "other parameters",  # a parameter is not the same on all ranks of a run
    "other gradients",  # .grad is not, after the gradients of the ranks were averaged
    "not averaged",  # each rank keeps its own gradient
    "one rank",  # only some ranks have NaN, a gradient for a parameter, an operation
]
"""The kinds of what only several recordings together show."""


class Finding(NamedTuple):
    """Something wrong, or worth a look, in a recorded program.

    An error or a warning is something that the program's author cannot have wanted. A notice may be deliberate, such as
    a frozen weight.
    """

    kind: FindingKind | RankKind
    severity: Severity
    headline: str  # at most 80 characters, in the user's names
    explanation: tuple[str, ...]  # sentences with the numbers
    remedy: str  # one or two sentences
    place: Place | None  # the culprit's line
    pass_: int | None = None  # an index into `Recording.passes`; None: the forward, before any pass
    step: int | None = None  # the step of that pass; None: the culprit is an operation of the forward
    node: int | None = None
    tensor: int | None = None
    others: tuple[tuple[str, Place], ...] = ()  # (role, place) of other lines that matter, such as ("saved", ...)
    spread: tuple[int, ...] = ()  # the nodes that it reached from there; all leaves that get no gradient because of it
    ranks: tuple[int, ...] = ()  # of several processes, those that it holds for; its numbers are of the first of them

    @property
    def culprits(self) -> tuple[int, ...]:
        """The nodes to mark: the culprit, and every leaf that gets no gradient because of it."""
        more = self.spread if self.kind == "no gradient" else ()
        return tuple(dict.fromkeys((*((self.node,) if self.node is not None else ()), *more)))


MOST_IN_A_HEADLINE = 80
