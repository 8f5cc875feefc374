"""What an explained difference is, and what its condition may ask of a statement."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tests.parity.observe import matching_type, same
from tests.parity.random.forgiving import without_values
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


def texts(seen: Seen) -> str:
    return seen.error[1] if seen.error else ""


def raised(seen: Seen) -> str:
    return seen.error[0].__name__ if seen.error else ""


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
