"""What a picture shows: chosen by hand, or by the size of the graph."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Literal, TypeAlias

from viz.basics.characters import visible
from viz.basics.errors import DrawError

Detail: TypeAlias = Literal[
    "values",  # of leaves, constants and what operations computed
    "gradients",  # that have arrived, and `.grad` of leaves
    "terms",  # the gradient that travelled, on each arrow
    "formulas",
    "saved",  # what each operation kept for its backward, with versions
    "source",  # the line of each operation
    "heat",  # values and gradients as heat maps, too; only where it is asked for
    "constants",  # boxes for tensors that need no gradient (else they are only named)
    "legend",
]

DETAILS: tuple[Detail, ...] = (
    "values",
    "gradients",
    "terms",
    "formulas",
    "saved",
    "source",
    "heat",
    "constants",
    "legend",
)
_UNASKED = frozenset({"heat"})
SMALL = 30  # up to so many boxes everything is shown
MEDIUM = 100  # up to so many, what one cannot see elsewhere
MAX_BOXES = 300  # beyond, one picture is not readable
FOLD_ABOVE = 50  # with more nodes, what repeats is folded unless somebody says otherwise
FEW = 30  # folded, a graph should have no more boxes; as long as it has no more, folds are opened


def whole(name: str, value: object) -> int:
    """The value of the option of that name, if it is a whole number. Raises DrawError."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise DrawError(f"{name}={visible(repr(value), 30)} is not possible: it takes a whole number") from None


def words(name: str, value: object) -> list[str]:
    """The value of an option that takes one word or several. Raises DrawError for anything else."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Collection) or not all(isinstance(word, str) for word in value):
        raise DrawError(f"{name}={visible(repr(value), 30)} is not possible: it takes a word or a list of words")
    return list(value)


def details(show: Collection[str] | None, boxes: int) -> frozenset[Detail]:
    """What to show: as asked, or by default what stays readable with that many boxes.

    Raises:
        DrawError: `show` contains an unknown word.
    """
    if show is None:
        if boxes <= SMALL:
            return frozenset(DETAILS) - _UNASKED
        if boxes <= MEDIUM:
            return frozenset(DETAILS) - _UNASKED - {"formulas", "source"}
        return frozenset({"values", "gradients", "legend"})
    asked = words("show", show)
    unknown = sorted(visible(word, 20) for word in asked if word not in DETAILS)
    if unknown:
        raise DrawError(f"show= does not know {', '.join(unknown)}: it takes any of {', '.join(DETAILS)}")
    return frozenset(detail for detail in DETAILS if detail in asked)
