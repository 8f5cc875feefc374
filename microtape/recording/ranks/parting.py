"""Parameters and averaged gradients that are not the same on all ranks.

Note [What must be equal]
  Ranks that train one model together start from the same parameters, average their gradients and make the same update.
  So parameters are equal in every pass, and `.grad` is once it holds something else than what the rank itself computed.
  Local gradients differ, as the data do. Before a reduction, such as under `no_sync` or where the program reduces after
  backward, `.grad` differs as well, and nothing is wrong as long as the parameters stay equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from microtape.recording.findings.finding import Finding, RankKind
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import Place, Recording, UpdateRecord, Value
from microtape.recording.ranks.equality import Parted, apart, parted
from microtape.recording.ranks.group import Ranks
from microtape.recording.ranks.leaves import Key, Leaves, is_averaged, is_parameter, leaves_at
from microtape.recording.ranks.parts import hold_parts
from microtape.recording.ranks.words import rank_text, verb

_AVERAGE = "Wrap the model in DistributedDataParallel, or average .grad over all ranks (all_reduce) before the update."


def partings(ranks: Ranks) -> Iterator[Finding]:
    """Where the ranks part for the first time; what follows from it is not told. See Note [What must be equal]."""
    if hold_parts(ranks):
        return
    previous: int | None = None
    by_rounding: list[Finding] = []
    for number in ranks.shared:
        leaves = leaves_at(ranks, number)
        search = _PassSearch(ranks, number, previous, leaves)
        found = [*search.parameters(), *search.gradients()]
        serious = [one for one in found if one.severity == "error"]
        if serious:
            yield serious[0]
            return
        by_rounding += found
        previous = number
    yield from by_rounding[:1]
    if len(ranks.shared) == 1:
        yield from search.not_averaged()


def equal_parameters(ranks: Ranks) -> int:
    """How many parameters are the same to the bit on all ranks in every pass, as far as they were recorded."""
    equal: dict[Key, bool] = {}
    for number in () if hold_parts(ranks) else ranks.shared:
        leaves = leaves_at(ranks, number)
        for key, leaf in leaves.items():
            if is_parameter(ranks, key, leaf):
                values = {place: one.value for place, one in leaf.items()}
                known = len(values) == len(ranks) and not any(one is None for one in values.values())
                equal[key] = equal.get(key, True) and known and parted(values) is None
    return sum(equal.values())


class _PassSearch:
    """The pass with a number, from 0, on all ranks that have it."""

    def __init__(self, ranks: Ranks, number: int, previous: int | None, leaves: Leaves) -> None:
        self.ranks, self.number, self.previous, self.leaves = ranks, number, previous, leaves

    def parameters(self) -> Iterator[Finding]:
        """One finding for the parameters with which the pass computes, if they differ."""
        found = self._parted({
            key: {place: one.value for place, one in leaf.items()}
            for key, leaf in self.leaves.items()
            if self._is_parameter(key) or len(self.ranks.shared) == 1  # a single pass may not tell
        })  # fmt: skip
        known = {key: differ for key, differ in found.items() if self._is_parameter(key)}
        if not found:
            return
        since = f"before pass {self.number + 1}" if self.previous is None else f"from pass {self.number + 1} on"
        key, _ = _worst(known or found)
        lines, remedy, culprit, others = self._cause(key, found[key].farthest)
        if not known:
            remedy = f"If {self._name(key)} is data, all is well. If it is a parameter: {remedy}"
        finding = self._finding("other parameters", known or found, "{}", "parameters", since, lines, remedy, culprit)
        yield finding._replace(severity=finding.severity if known else "notice", step=None, others=others)

    def gradients(self) -> Iterator[Finding]:
        """One finding for `.grad` that differs although it was averaged in this pass."""
        averaged = {key: leaf for key, leaf in self.leaves.items() if is_averaged(leaf)}
        found = self._parted(_grads(averaged))
        if not found:
            return
        own = [self.ranks.numbers[place] for place, one in averaged[_worst(found)[0]].items() if one.is_own]
        lines = ["It was averaged in this pass."]
        lines += [f"On {rank_text(own)} it holds what that rank computed alone."] if own else []
        remedy = (
            "Look for what only some ranks do to .grad: no_sync, a hook, gradient clipping, another set of parameters."
        )
        after = f"after pass {self.number + 1}"
        yield self._finding("other gradients", found, "{}.grad", "gradients", after, lines, remedy, self._backward)

    def not_averaged(self) -> Iterator[Finding]:
        """One finding for a pass that leaves every rank its own gradient, if nothing later tells what became of it."""
        own = {key: leaf for key, leaf in self.leaves.items() if all(one.is_own for one in leaf.values())}
        found = self._parted(_grads({key: leaf for key, leaf in own.items() if self._is_parameter(key)}))
        if not found or any(map(is_averaged, self.leaves.values())) or any(map(_has_failed, self.ranks.recordings)):
            return
        remedy = f"That is right under no_sync, or if the program averages after backward. Else: {_AVERAGE}"
        one = self._finding("not averaged", found, "{}.grad", "gradients", "", (), remedy, self._backward)
        yield one._replace(
            severity="notice",
            headline=f"pass {self.number + 1} leaves each rank its own gradient: nothing is averaged in it",
            ranks=tuple([self.ranks.numbers[place] for place in self.ranks.having(self.number)]),
        )

    def _parted(self, values: Mapping[Key, Mapping[int, Value | None]]) -> dict[Key, Parted]:
        differ = {key: parted(one, next(iter(self.leaves[key].values())).dtype) for key, one in values.items()}
        return {key: one for key, one in differ.items() if one is not None}

    def _finding(
        self, kind: RankKind, found: Mapping[Key, Parted], what: str, noun: str, when: str, lines: Sequence[str],
        remedy: str, culprit: Place | None,
    ) -> Finding:  # fmt: skip
        """A finding about what differs, which `what` makes of the name of a leaf; its step is that of the gradient."""
        key, differ = _worst(found)
        leaf, place = self.leaves[key][differ.farthest], differ.farthest
        ranks = tuple([self.ranks.numbers[one] for one in differ.others])
        names = [what.format(self._name(one)) for one in found]
        begin = f"{rank_text(ranks)} {verb(ranks, 'differs', 'differ')} in"
        end = f"{when} by rounding" if differ.by_rounding else when
        return Finding(
            kind, "notice" if differ.by_rounding else "error",
            headline(f"{begin} {join(names, 3)} {end}", f"{begin} {names[0]} and {len(names) - 1} more {end}",
                     f"{begin} {len(names)} {noun} {end}"),
            (f"{what.format(self._name(key))} {apart(differ, self.ranks.numbers)}.", *self._groups(differ), *lines),
            remedy, culprit, self.ranks.passes[place][self.number], leaf.step, leaf.node, leaf.tensor,
            ranks=(self.ranks.numbers[place], *[rank for rank in ranks if rank != self.ranks.numbers[place]]),
        )  # fmt: skip

    def _is_parameter(self, key: Key) -> bool:
        return is_parameter(self.ranks, key, self.leaves[key])

    @property
    def _backward(self) -> Place | None:
        """The line that called the pass."""
        place = self.ranks.having(self.number)[0]
        return self.ranks.recordings[place].passes[self.ranks.passes[place][self.number]].place

    # Words

    def _name(self, key: Key) -> str:
        return key if isinstance(key, str) else self.ranks.recordings[0].label(key)

    def _groups(self, differ: Parted) -> Iterator[str]:
        """Which ranks agree, where there are more than two."""
        if sum(map(len, differ.groups)) > 2:
            texts = [rank_text([self.ranks.numbers[place] for place in group]) for group in differ.groups]
            if any(len(group) > 1 for group in differ.groups):
                equal = [text for text, group in zip(texts, differ.groups, strict=True) if len(group) > 1]
                yield f"It is equal on {', and on '.join(equal)}."
            else:
                yield "It is another one on each rank."

    # Causes

    def _cause(self, key: Key, place: int) -> tuple[tuple[str, ...], str, Place | None, tuple[tuple[str, Place], ...]]:
        """Why a parameter differs at a place: sentences, a remedy, the culprit's line, other lines."""
        program, name = self.ranks.programs[place], self._name(key)
        used = next((program.node(one).place for one in program.users(self.leaves[key][place].node)), None)
        if self.previous is None:
            if self.number:
                return (), "Record from the first pass on: --pass all shows where they part.", used, ()
            remedy = (
                "Seed all ranks alike before the parameters are made, or send those of one rank to the others, "
                "as DistributedDataParallel does."
            )
            return (
                ("Nothing has been updated yet: they were made in another way.",),
                remedy,
                (program.made_at(name) or used),
                (),
            )
        update = self._update(key, place)
        others = (("updated", update.place),) if update is not None and update.place is not None else ()
        before = leaves_at(self.ranks, self.previous).get(key, {})
        backward = program.recording.passes[self.ranks.passes[place][self.previous]].place
        if parted({one: its.after for one, its in before.items()}) is not None:
            kept = f"In pass {self.previous + 1} each rank kept its own gradient for it: nothing was averaged."
            return (kept,), _AVERAGE, backward, others
        equal = f"Its gradient was equal on all ranks in pass {self.previous + 1}" if before else "It was equal before"
        told = f"{equal}: the update at {at(others[0][1])} parts them." if others else f"{equal}."
        remedy = "Look at what the update takes besides the gradient: learning rate, momentum, noise, clipping."
        return (told,), remedy, others[0][1] if others else used, ()

    def _update(self, key: Key, place: int) -> UpdateRecord | None:
        """The last update of a parameter between the previous pass and this one."""
        tensor = self.leaves[key][place].tensor
        start = self.previous if self.previous is not None else -1
        found = [one for one in self.ranks.programs[place].updated.get(tensor, ()) if start < one.passes <= self.number]
        return found[-1] if found else None


def _has_failed(recording: Recording) -> bool:
    return recording.error is not None or any(one.has_failed for one in recording.passes)


def _grads(leaves: Leaves) -> dict[Key, dict[int, Value | None]]:
    """Their `.grad` after the pass."""
    return {key: {place: one.after for place, one in leaf.items()} for key, leaf in leaves.items()}


def _worst(found: Mapping[Key, Parted]) -> tuple[Key, Parted]:
    """The first that differs by more than rounding; else the first."""
    return next(((key, one) for key, one in found.items() if not one.by_rounding), next(iter(found.items())))
