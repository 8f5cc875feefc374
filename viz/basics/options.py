"""Checks the options of a picture, and chooses defaults that suit the size of the graph."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from viz.basics.characters import visible
from viz.basics.errors import DrawError

Detail: TypeAlias = Literal[
    "values",  # of leaves, constants and results
    "gradients",  # that have arrived, and the `.grad` of leaves
    "terms",  # the gradient that travelled, on each arrow
    "formulas",
    "saved",  # the tensors that each operation saved for its backward, with versions
    "contract",  # of a Function's call: its arguments, the roles of its outputs, the attributes of its ctx
    "source",  # the line of code of each operation
    "findings",  # what is wrong, beside the culprits' boxes
    "heat",  # values and gradients also as heat maps; only on request
    "constants",  # boxes for tensors that need no gradient (otherwise only named in titles)
    "legend",
]

DETAILS: tuple[Detail, ...] = (
    "values",
    "gradients",
    "terms",
    "formulas",
    "saved",
    "contract",
    "source",
    "findings",
    "heat",
    "constants",
    "legend",
)
_ONLY_ON_REQUEST = frozenset({"heat"})
Amount: TypeAlias = Literal["brief", "lecture", "debug"]

AMOUNTS: dict[Amount, tuple[Detail, ...]] = {
    "brief": ("terms",),  # names, shapes, and the gradients on the arrows
    "lecture": ("values", "gradients", "terms", "findings", "constants", "legend"),
    "debug": tuple(detail for detail in DETAILS if detail not in _ONLY_ON_REQUEST),
}
"""Named amounts of detail."""

NODE = "the number of a node, or its name"  # what `around` and `into` take
SMALL = 30  # boxes up to which every detail is shown
MEDIUM = 100  # boxes up to which all details but formulas, contracts and source lines are shown
MAX_BOXES = 300  # the most boxes that are readable in one picture
FEW = 25  # boxes: a larger graph is folded by default; folds open by themselves up to this number


@dataclass(frozen=True, slots=True)
class Folding:
    """What the user wants folded; for the first four, see `viz.draw`."""

    fold: bool | None = None
    depth: int | None = None
    open: Sequence[str] = ()
    closed: Sequence[str] = ()
    few: int = FEW  # boxes up to which folds open by themselves

    @classmethod
    def asked(
        cls,
        fold: bool | None,
        depth: int | None,
        open: str | Collection[str],
        closed: str | Collection[str],
        few: int = FEW,
    ) -> Folding:
        """The options as they were given. Raises DrawError if they are not valid, or contradict each other."""
        if depth is not None and (depth := as_whole_number("depth", depth)) < 0:
            raise DrawError(f"depth={depth} is negative: it counts the levels of folds that are open")
        made = cls(fold, depth, as_words("open", open), as_words("closed", closed), few)
        if fold is False and made.is_detailed:
            raise DrawError("fold=False draws single nodes: leave out depth=, open= and closed=")
        return made

    @property
    def is_detailed(self) -> bool:
        """Whether the user said what is open."""
        return self.depth is not None or bool(self.open or self.closed)


UNASKED = Folding()


def as_whole_number(name: str, value: object, takes: str = "a whole number") -> int:
    """The option's value as an int. Raises DrawError, which says what the option takes, if it is not a whole number."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise DrawError(f"{name}={visible(repr(value), 30)} is not valid: it takes {takes}") from None


def as_words(name: str, value: object) -> list[str]:
    """The words of an option that takes one word or several. Raises DrawError for anything else."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Collection) or not all(isinstance(word, str) for word in value):
        raise DrawError(f"{name}={visible(repr(value), 30)} is not valid: it takes a word or a list of words")
    return list(value)


def asked_details(show: Collection[str] | None, detail: str | None) -> Collection[str] | None:
    """What `show` says, or the details of that amount. Raises DrawError if both are given, or for another word."""
    if detail is None:
        return show
    if show is not None:
        raise DrawError("show= and detail= both say what to show: leave one of them out")
    if detail not in AMOUNTS:
        raise DrawError(f"detail={visible(repr(detail), 30)} is not valid: it takes {', '.join(AMOUNTS)}")
    return AMOUNTS[detail]


def details(show: Collection[str] | None, boxes: int) -> frozenset[Detail]:
    """The details to show: those in `show`, or by default those that stay readable with that many boxes.

    Raises:
        DrawError: `show` contains an unknown word.
    """
    if show is None:
        if boxes <= SMALL:
            return frozenset(AMOUNTS["debug"])
        if boxes <= MEDIUM:
            return frozenset(AMOUNTS["debug"]) - {"formulas", "contract", "source"}
        return frozenset({"values", "gradients", "findings", "legend"})
    asked = as_words("show", show)
    unknown = sorted(visible(word, 20) for word in asked if word not in DETAILS)
    if unknown:
        raise DrawError(f"there is no detail {', '.join(unknown)}: show= takes any of {', '.join(DETAILS)}")
    return frozenset(detail for detail in DETAILS if detail in asked)
