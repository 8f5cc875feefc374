"""What `microtape diff` prints of two recordings: lines, or JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from microtape.recording.comparing.differences import Comparison, Difference, OrderDifference
from microtape.recording.comparing.measuring import worst
from microtape.recording.model.model import Recording
from tui.shell.spans import wrapped
from tui.words.comparison import Words, node_text
from tui.words.trace_json import as_plain

LISTED = 8  # differences after the first one, nodes without a counterpart
IN_JSON = 1_000  # differences; the others are counted


class Report(NamedTuple):
    """A comparison, and how to name its recordings."""

    comparison: Comparison
    names: tuple[str, str]
    ascii: bool = False

    @property
    def words(self) -> Words:
        """The differences in words."""
        return Words(self.comparison, self.names, ascii=self.ascii)

    def lines(self, width: int) -> Iterator[str]:
        """The first difference, others that do not follow from it, what agrees, and what could not be compared."""
        for sentence in self._sentences():
            indent = sentence[: len(sentence) - len(sentence.lstrip())]
            yield from wrapped(sentence.strip(), width, indent, f"{indent}    ")

    def _sentences(self) -> Iterator[str]:
        found, words = self.comparison, self.words
        if found.courses.differences:
            yield f"the course of training parts {words.of_course(found.courses.differences[0])}"
        if found.first is not None:
            where = " in a whole pass" if found.courses.differences else ""
            yield f"first difference{where}: {words.sentence(found.first)}"
            others = [one for one in found.origins if one is not found.first]
            following = len(found.differences) - len(others) - 1
            if following:
                yield f"{_count(following, 'difference')} {'follows' if following == 1 else 'follow'} from it" + (
                    " or from those below" if others else ""
                )
            if others:
                yield f"{_count(len(others), 'difference')} that {'begins' if len(others) == 1 else 'begin'} elsewhere:"
                yield from (f"  {words.sentence(one)}" for one in others[:LISTED])
                yield from _more(others)
        elif not found.differs:
            yield self._equal()
        yield from self._courses()
        yield self._counts()
        yield from self._orders()
        yield from self._dtypes()
        yield from self._left_out()

    def _counts(self) -> str:
        """How much was compared, and how it agrees."""
        found = self.comparison
        counts, differ = found.counts, sum(one.kind not in ("error", "not evaluated") for one in found.differences)
        compared = counts.values - counts.unknown
        close = compared - counts.identical - differ
        parts = [
            f"{counts.identical:,} equal to the bit" if counts.identical else "",
            f"{close:,} within rounding" if close else "",
            f"{differ:,} {'differs' if differ == 1 else 'differ'}" if differ else "",
        ]
        told = f"{_count(compared, 'value')} compared"
        if any(parts):
            told += f": {', '.join(part for part in parts if part)}"
        return told + (f"; largest relative difference {_number(found.worst)}" if found.worst else "")

    def _courses(self) -> Iterator[str]:
        """How much of the courses was compared."""
        found, names = self.comparison.courses, self.names
        if found.passes:
            differ = len(found.differences)
            told = f"{differ:,} {'differs' if differ == 1 else 'differ'}" if differ else "all agree"
            yield f"{_count(found.sizes, 'size')} at {_count(len(found.passes), 'pass')} compared: {told}"
        for at, name in enumerate(names):
            if passes := found.only_passes[at]:
                yield f"not compared: the sizes at {_count(len(passes), 'pass')} of {name}, from {passes[0] + 1} on"
            if only := found.only_names[at]:
                listed = ", ".join(only[:LISTED]) + (f" and {len(only) - LISTED:,} more" if len(only) > LISTED else "")
                yield f"not compared: the sizes of {listed} of {name}, without a counterpart"

    def _equal(self) -> str:
        """`a.tape and b.tape are equal within rounding`, as far as this can be said."""
        found, counts = self.comparison, self.comparison.counts
        if counts.values == counts.unknown and not found.courses.sizes:
            return f"nothing could be compared in {self.names[0]} and {self.names[1]}"
        told = "equal" if counts.identical == counts.values else "equal within rounding"
        if counts.by_statistics or found.courses.sizes:
            told = "equal as far as was recorded"
        if not found.is_complete:
            told = "equal in what could be compared"
        return f"{self.names[0]} and {self.names[1]} are {told}"

    def _orders(self) -> Iterator[str]:
        for one in self.comparison.orders[:LISTED]:
            yield f"order of evaluation: {self._order(one)} (this is not counted as a difference)"
        yield from _more(self.comparison.orders)

    def _order(self, one: OrderDifference) -> str:
        number = self.comparison.a.passes[one.passes[0]].index + 1
        texts = [
            f"step {step + 1} in {name} is {node_text(recording, node)}"
            for step, name, recording, node in zip(
                one.steps, self.names, (self.comparison.a, self.comparison.b), one.nodes, strict=True
            )
        ]
        return f"the same nodes of pass {number} run in another order: {texts[0]}, {texts[1]}"

    def _dtypes(self) -> Iterator[str]:
        for (one, other), count in self.comparison.dtypes.items():
            are = "is" if count == 1 else "are"
            yield f"dtypes: {_count(count, 'tensor')} {are} {one} in {self.names[0]} and {other} in {self.names[1]}"

    def _left_out(self) -> Iterator[str]:
        """What could not be compared, or not completely."""
        found = self.comparison
        if found.counts.by_statistics:
            few = found.counts.by_statistics
            yield f"{_count(few, 'value')} compared by statistics alone (--keep N keeps up to N elements of an array)"
        if found.counts.unknown:
            yield f"not compared: {_count(found.counts.unknown, 'value')} that one of the recordings does not have"
        for at, recording in enumerate((found.a, found.b)):
            only, of = found.only[at], f"of {self.names[at]}"
            for nodes, which in ((found.unmatched[at], of), (found.unused[at], f"{of} that no pass uses")):
                if nodes:
                    have = "has" if len(nodes) == 1 else "have"
                    yield f"{_count(len(nodes), 'node')} {which} {have} no counterpart: {_listed(recording, nodes)}"
            if only:
                which = f"pass{'' if len(only) == 1 else 'es'} {_numbers(recording, only)} {of}"
                yield f"not compared: {which}, without a counterpart"
            for pair in found.passes:
                if recording.passes[pair[at]].is_cut_short:
                    yield f"not compared: the end of pass {recording.passes[pair[at]].index + 1} of {self.names[at]}"
            yield from (f"{self.names[at]}: {fault}" for fault in recording.faults)

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON."""
        found = self.comparison
        sides = ("a", "b")
        return {
            "equal": found.is_equal,
            "complete": found.is_complete,
            "counts": {**found.counts._asdict(), "differences": len(found.differences)},
            "largest_relative": as_plain(found.worst),
            "tolerance": found.tolerance._asdict(),
            "differences": [self._difference(one) for one in found.differences[:IN_JSON]],
            "orders": [
                {"passes": dict(zip(sides, one.passes, strict=True)), "steps": dict(zip(sides, one.steps, strict=True)),
                 "nodes": dict(zip(sides, one.nodes, strict=True)), "sentence": self._order(one)}
                for one in found.orders
            ],
            "dtypes": [{"a": a, "b": b, "tensors": count} for (a, b), count in found.dtypes.items()],
            "unmatched": {side: list(nodes) for side, nodes in zip(sides, found.unmatched, strict=True)},
            "unused": {side: list(nodes) for side, nodes in zip(sides, found.unused, strict=True)},
            "only": {side: list(passes) for side, passes in zip(sides, found.only, strict=True)},
            "courses": self._course_json(),
        }  # fmt: skip

    def _course_json(self) -> dict[str, Any]:
        found = self.comparison.courses
        return {
            **as_plain(found._replace(differences=())),
            "differences": [
                {**as_plain(one), "sentence": self.words.of_course(one)} for one in found.differences[:IN_JSON]
            ],
            "count": len(found.differences),
        }

    def _difference(self, one: Difference) -> dict[str, Any]:
        both = None if one.a is None or one.b is None or one.measured.how == "shape" else worst(one.a, one.b)
        sides = ("a", "b")
        return {
            "kind": one.kind,
            "follows": one.follows,
            "sentence": self.words.sentence(one),
            "pass": None if one.passes is None else dict(zip(sides, one.passes, strict=True)),
            "step": None if one.steps is None else dict(zip(sides, one.steps, strict=True)),
            "node": None if one.nodes is None else dict(zip(sides, one.nodes, strict=True)),
            "number": one.number,
            "compared": one.measured.how,
            "absolute": as_plain(one.measured.absolute),
            "relative": as_plain(one.measured.relative),
            "at": None if both is None or both.element is None else list(both.element),
            "statistic": both.statistic or None if both is not None else None,
            "values": None if both is None else {"a": as_plain(both.a), "b": as_plain(both.b)},
        }


def _number(x: float) -> str:
    return "infinite" if math.isinf(x) else f"{x:.1e}".replace("e-0", "e-").replace("e+0", "e+")


def _listed(recording: Recording, nodes: Sequence[int]) -> str:
    """The nodes in words, equal ones together."""
    alike = Counter(node_text(recording, node) for node in nodes)
    texts = [f"{text} ({count} times)" if count > 1 else text for text, count in alike.items()]
    return ", ".join(texts[:LISTED]) + (f" and {len(texts) - LISTED:,} more" if len(texts) > LISTED else "")


def _numbers(recording: Recording, passes: Sequence[int]) -> str:
    numbers = [recording.passes[at].index + 1 for at in passes]
    if len(numbers) > LISTED:
        return f"{numbers[0]} to {numbers[-1]} ({len(numbers):,} passes)"
    return ", ".join(map(str, numbers[:-1])) + (" and " if len(numbers) > 1 else "") + str(numbers[-1])


def _count(count: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def _more(items: Sequence[object]) -> Iterator[str]:
    if len(items) > LISTED:
        yield f"  and {len(items) - LISTED:,} more; --json lists them"
