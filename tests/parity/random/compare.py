"""What two runs of a program differ in.

Note [Gradients of gradients]
  The nodes that a recorded backward pass leaves in the graph depend on how derivatives are written: torch may have one
  node where microtape has three. Values, errors and `requires_grad` are the same. Once a program has run a pass with
  `create_graph=True`, names and edges are not compared, nor is the order among what was logged during one statement;
  at an error in a later pass the comparison ends. The latter holds, too, once a program has computed in a thread, as
  torch's threads have sequence numbers of their own.

Note [Leaves that are ready together]
  torch keeps them in a heap, and microtape evaluates them in the order in which they became ready. So among what is
  logged in a row by hooks of leaves (their labels begin with "leaf"), only the order at each leaf is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from tests.parity.observe import Value, same
from tests.parity.random.explaining import runs_a_pass, same_error
from tests.parity.random.forgiving import without_packing
from tests.parity.random.known import KNOWN
from tests.parity.random.session import WRITE, Seen


def differences(theirs: list[Seen], ours: list[Seen]) -> list[str]:
    """A text for each difference in the first statement that differs, unless it is a known one."""
    return _compared(theirs, ours)[0]


def agree(theirs: list[Seen], ours: list[Seen]) -> bool:
    """Whether two runs were compared to their ends, and do not even differ in what is known to."""
    return _compared(theirs, ours) == ([], True)


def _compared(theirs: list[Seen], ours: list[Seen]) -> tuple[list[str], bool]:
    """The differences in the first statement that differs, and whether the comparison has come to its end."""
    second_order = unordered = False
    tolerance = 1e-3 if any(".float()" in one.source or _has_float32(one.results) for one in theirs) else 1e-9
    for a, b in zip(theirs, ours, strict=False):
        if "an inference tensor requires grad" in a.past:  # torch does not record all operations on it
            return [], False
        second_order |= "create_graph=True" in a.source
        unordered |= second_order or (a.in_thread and not runs_a_pass(a.source))
        if unordered and a.error and b.error and runs_a_pass(a.source):
            return [], False
        found = list(_of_statement(a, b, second_order, unordered, tolerance))
        if found:
            return [] if _are_known(found, a, b) else [f"statement {a.number}: {a.source}", *found], False
        if a.shares_gradient or b.shares_gradient:
            return [], False
        if unordered and a.error and runs_a_pass(a.source):
            return [], False
        by_function = ".apply(" in a.source and "a Function writes to its argument" in a.past
        if a.in_level and a.error and (by_function or WRITE.match(a.source)):
            return [], False  # torch may have written the tangent and not the value, or the other way round
    if len(theirs) != len(ours):
        return ["the end", f"number of statements: torch ran {len(theirs)}, microtape {len(ours)}"], True
    return [], True


def _has_float32(thing: Any) -> bool:
    """Whether there is a tensor of this dtype, so that results are less exact."""
    if isinstance(thing, Value):
        return bool(thing.array.dtype == np.float32)
    return isinstance(thing, tuple | list) and any(map(_has_float32, thing))


def _are_known(found: list[str], a: Seen, b: Seen) -> bool:
    """Whether the known differences explain all of these."""
    explained = ", ".join([known.explains for known in KNOWN if known.recognise(a, b)])
    return all(kind(one) in explained for one in found)


def kind(difference: str) -> str:
    """What a difference is in: "error", "log", "results" or "gradients"."""
    return difference.partition(":")[0]


def signature(found: list[str]) -> str:
    """What kind of difference this is, so that shrinking does not end at another one."""
    return found[1] if kind(found[1]) == "error" else kind(found[1])


def _of_statement(a: Seen, b: Seen, second_order: bool, unordered: bool, tolerance: float) -> Iterator[str]:
    """The differences in what one statement did."""
    if not same_error(a, b):
        yield _both("error", *[one.error and f"{one.error[0].__name__}: {one.error[1]}" for one in (a, b)])
        return
    logs = [_ordered([_forgiven(entry, second_order) for entry in one.log], unordered) for one in (a, b)]
    if unordered:
        logs[1] = _in_order_of(*logs, tolerance)
    if not same(*logs, tolerance):
        yield _both("log", *_from_first_difference(*logs, tolerance))
    for what, of_a, of_b in (("results", a.results, b.results), ("gradients", a.gradients, b.gradients)):
        pairs = [[_forgiven(one, second_order) for one in some] for some in (of_a, of_b)]
        if not same(*pairs, tolerance):
            yield _both(what, *_from_first_difference(*pairs, tolerance))


def _both(what: str, theirs: Any, ours: Any) -> str:
    return f"{what}:\n    torch     {theirs!r}\n    microtape {ours!r}"


def _from_first_difference(theirs: list[Any], ours: list[Any], tolerance: float) -> tuple[list[Any], list[Any]]:
    """Both lists without what they have in common at the beginning, for the listing."""
    alike = 0
    while alike < min(len(theirs), len(ours)) and same(theirs[alike], ours[alike], tolerance):
        alike += 1
    return theirs[alike:], ours[alike:]


def _forgiven(thing: Any, second_order: bool) -> Any:
    """Without what is not compared: whether zeros require grad, once a pass has been recorded."""
    if not second_order:
        return thing
    if hasattr(thing, "array"):
        return thing if thing.array.any() else thing._replace(requires_grad=False)
    if isinstance(thing, tuple) and not hasattr(thing, "_fields"):
        return tuple(_forgiven(one, True) for one in thing)
    return [_forgiven(one, True) for one in thing] if isinstance(thing, list) else thing


def _in_order_of(theirs: list[Any], ours: list[Any], tolerance: float) -> list[Any]:
    """Our log, with each entry that is in theirs as well at its place there, and all others at the end."""
    left = list(ours)
    found = []
    for entry in theirs:
        place = next((i for i, one in enumerate(left) if same(entry, one, tolerance)), None)
        if place is not None:
            found.append(left.pop(place))
    return [*found, *left]


def _ordered(log: list[Any], unordered: bool) -> list[Any]:
    """The log in an order that is the same on both sides; see the Notes."""
    if unordered:
        return without_packing(log)
    found: list[Any] = []
    for of_leaves, group in groupby(log, key=lambda entry: str(entry[0]).startswith("leaf")):
        entries = list(group)
        found += sorted(entries, key=lambda entry: entry[0]) if of_leaves else entries
    return found
