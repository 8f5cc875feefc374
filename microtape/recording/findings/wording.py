"""How findings are worded: places, lists of names, counts, and headlines that are short enough."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import Place


def at(place: Place | None) -> str:
    """`train.py:12`, without the folders."""
    return place.at_name if place is not None else "a line that was not recorded"


def join(names: Sequence[str], most: int = 4) -> str:
    """`W1, W2 and b`; of many, the first few and how many more."""
    names = list(dict.fromkeys(names))
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def indexed(name: str, index: tuple[int, ...]) -> str:
    """`w[0, 3]`; an expression gets parentheses."""
    if not index:
        return name
    return f"{name}{index_text(index)}" if re.fullmatch(r"[\w.\[\]]+", name) else f"({name}){index_text(index)}"


def count(number: int, noun: str) -> str:
    """`1 step`, `3 steps`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def headline(*candidates: str) -> str:
    """The first that is short enough; else the last, cut off."""
    for one in candidates:
        if len(one) <= MOST_IN_A_HEADLINE:
            return one
    return candidates[-1][: MOST_IN_A_HEADLINE - 1].rstrip() + "…"


def first_sentence(message: str) -> str:
    """The first line of a message, up to its first full stop."""
    first = message.strip().partition("\n")[0]
    return first.split(". ")[0].rstrip(".")


def common_path(names: Sequence[str]) -> str:
    """The path that the names of several leaves begin with: `encoder` for `encoder.0.weight` and `encoder.0.bias`."""
    paths = [name.split(".")[:-1] for name in names]
    same = [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))]
    return ".".join(same) if len(names) > 1 else ""
