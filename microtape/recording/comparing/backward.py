"""Compares two passes, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from microtape.recording.comparing.differences import OrderDifference, Pair
from microtape.recording.comparing.forward import ForwardComparison
from microtape.recording.comparing.ledger import Ledger, Site, same_error
from microtape.recording.comparing.rounding import summed_up
from microtape.recording.model.model import BackwardStep, Delivery, Recording, TensorRef, Value
from microtape.recording.model.summary import is_zero

_NOTHING = (0.0, False)  # no tolerance, no difference
_Buffer: TypeAlias = tuple[int, int]
"""A node of a, and which of its outputs: where gradients arrive."""


class _Arrival(NamedTuple):
    """A gradient that arrived in a buffer."""

    sender: int
    output: int  # which of the sender's gradients
    delivery: Delivery


class BackwardComparison:
    """Compares two passes, in the order in which the one of a ran."""

    def __init__(self, ledger: Ledger, forward: ForwardComparison, passes: Pair) -> None:
        self._ledger = ledger
        self._forward = forward
        self._matching = ledger.matching
        self._passes = passes
        self._one, self._other = ledger.a.passes[passes[0]], ledger.b.passes[passes[1]]
        self._allowed: dict[_Buffer, float] = {}  # how far apart the sum in a buffer may be, because of rounding
        self._parted: set[_Buffer] = set()
        self._reordered: set[_Buffer] = set()  # gradients arrived there in another order
        self._summed: dict[_Buffer, tuple[Value | None, Value | None]] = {}  # the sums that were compared last
        self._count: dict[_Buffer, int] = {}

    def run(self) -> None:
        """Compare the passes from the call to the end."""
        self._grads_before()
        self._seeds()
        for step in self._one.steps:
            node = self._matching.a.own[step.node]
            other = self._matching.to_b.get(node)
            if other is None:
                continue
            counterpart = self._counterpart(step, other)
            if counterpart is not None:
                self._step(step, counterpart, (node, other))
            elif self._other.is_complete:  # else its end is the difference
                self._ledger.differ(Site("not evaluated", self._passes, (step.index, None), (node, other)))
        evaluated = {self._matching.a.own[step.node] for step in self._one.steps}
        for node, step in self._steps_of_b.items():
            one = self._matching.to_a.get(node)
            if one is not None and one not in evaluated and self._one.is_complete:
                self._ledger.differ(Site("not evaluated", self._passes, (None, step.index), (one, node)))
        self._order()
        self._captures()
        self._errors()

    def _counterpart(self, step: BackwardStep, other: int) -> BackwardStep | None:
        """The step of b that evaluates a node: of a damaged recording with several, the one in the same place."""
        same = self._other.steps[step.index] if step.index < len(self._other.steps) else None
        if same is not None and self._matching.b.own[same.node] == other:
            return same
        return self._steps_of_b.get(other)

    # The beginning

    def _grads_before(self) -> None:
        evaluated = {self._matching.b.own[node] for node in self._other.nodes}
        for tensor, node in self._leaves.items():
            other = self._matching.to_b.get(node)
            if other not in evaluated:
                continue
            its = self._ledger.b.nodes[other].variable if other is not None else None
            x = self._one.grads.get(tensor)
            y = self._other.grads.get(its) if its is not None else None
            if other is not None and its is not None and tensor not in self._forward.parted_grads:
                site = Site("grad before", self._passes, None, (node, other), 0, _at_zero(tensor, its))
                relative = self._ledger.tolerance.together(
                    self._ledger.rtol_at((node, other), 0), self._forward.grad_relative.get(tensor, 0.0)
                )
                if self._ledger.check(site, x, y, relative).parts:
                    self._forward.parted_grads.add(tensor)

    @cached_property
    def _leaves(self) -> Mapping[int, int]:
        """The leaves whose gradient the pass computes -> their nodes."""
        own, nodes = self._matching.a.own, self._ledger.a.nodes
        return {leaf: own[node] for node in self._one.nodes if (leaf := nodes[node].variable) is not None}

    def _seeds(self) -> None:
        roots = [list(zip(one.roots, one.seeds, strict=True)) for one in (self._one, self._other)]
        for number, (ours, theirs) in enumerate(zip_longest(*roots)):
            node, output = ours[0] if ours is not None else (None, 0)
            other = theirs[0].node if theirs is not None else None
            nodes = (node, other) if node is not None and other is not None else None
            x, y = (one[1] if one is not None else None for one in (ours, theirs))
            relative = self._ledger.rtol_at(nodes, output, x, y) if nodes is not None else 0.0
            found = self._ledger.check(Site("seed", self._passes, None, nodes, number), x, y, relative)
            if node is not None:
                buffer = (self._matching.a.own[node], output)
                self._add(buffer, found.allowed, parts=found.parts)
                self._summed[buffer] = x, y

    # A step

    def _step(self, step: BackwardStep, other: BackwardStep, nodes: Pair) -> None:
        steps, node = (step.index, other.index), self._ledger.a.nodes[step.node]
        relative, parted = self._forward.of_all(one.ref for one in node.saved)
        parted = parted or step.node in self._forward.parted_uses
        for number, (x, y) in enumerate(self._both(step.grad_outputs, other.grad_outputs)):
            buffer = (nodes[0], number)
            parts = buffer in self._parted
            if not self._ledger.identical(x, y) and not (parts and self._is_known(buffer, x, y)):
                rtol = self._ledger.rtol_at(nodes, number, x, y)
                site = Site("arrived", self._passes, steps, nodes, number)
                found = self._ledger.check(site, x, y, rtol, self._allowed.get(buffer, 0.0), follows=parts)
                relative, parts = max(relative, found.relative), found.parts
            parted = parted or parts
        sent = self._sent(step, other, nodes, relative, parted)
        for one in step.deliveries:
            is_sent = one.output < len(sent)  # unless the recording is damaged
            self._delivered(step, one, steps, sent[one.output] if is_sent else (0.0, False))
        if node.variable is not None:
            self._accumulated(step, other, nodes, relative, parted)
        for made in step.made:
            self._forward.node(made, self._passes, steps)

    def _is_known(self, buffer: _Buffer, x: Value | None, y: Value | None) -> bool:
        """Whether these are the sums of a buffer that have been compared when the last gradient arrived."""
        ours, theirs = self._summed.get(buffer, (None, None))
        return x is ours and y is theirs

    def _sent(
        self, step: BackwardStep, other: BackwardStep, nodes: Pair, before: float, parted: bool
    ) -> list[tuple[float, bool]]:
        """Compare the gradients that a step sends. Returns for each how far apart it may be, and whether it parts."""
        found: list[tuple[float, bool]] = []
        name = self._ledger.a.nodes[nodes[0]].name
        for number, (x, y) in enumerate(self._both(step.grad_inputs, other.grad_inputs)):
            if self._ledger.identical(x, y) or _is_for_nobody(number, (x, step), (y, other)):
                found.append(_NOTHING)
                continue
            if x is not None and y is not None and x.shape != y.shape and not self._same_receiver(nodes, number):
                self._ledger.leave_out()  # the engines compute what follows in different ways
                found.append((0.0, parted))
                continue
            relative = self._ledger.tolerance.together(self._rtol_along(nodes, number, x, y), before)
            floor = relative * summed_up(name, x, step.grad_outputs, self._ledger.largest) if x is not None else 0.0
            site = Site("sent", self._passes, (step.index, other.index), nodes, number)
            checked = self._ledger.check(site, x, y, relative, floor, follows=parted)
            found.append((checked.allowed, checked.parts))
        return found

    def _same_receiver(self, nodes: Pair, number: int) -> bool:
        """Whether an edge leads to counterparts."""
        (to, _), (into, _) = (
            recording.nodes[node].edges[number]
            for recording, node in zip((self._ledger.a, self._ledger.b), nodes, strict=True)
        )
        return to is not None and into is not None and self._matching.of_a(to) == self._matching.b.own[into]

    def _rtol_along(self, nodes: Pair, number: int, x: Value | None, y: Value | None) -> float:
        """The relative tolerance for the gradient along an edge: for those of the receiver."""
        edges = [
            recording.nodes[node].edges for recording, node in zip((self._ledger.a, self._ledger.b), nodes, strict=True)
        ]
        if any(number >= len(one) or one[number].node is None for one in edges):
            return self._ledger.rtol_at(nodes, 0, x, y)
        (to, output), (into, _) = edges[0][number], edges[1][number]
        return self._ledger.rtol_at((to, into), output, x, y) if to is not None and into is not None else 0.0

    def _delivered(self, step: BackwardStep, one: Delivery, steps: Pair, sent: tuple[float, bool]) -> None:
        """Compare the sum in a buffer. While gradients arrive in another order, only the last sum can be compared."""
        own = self._matching.a.own
        buffer = (own[one.node], one.input_nr)
        other = self._matching.to_b.get(buffer[0])
        self._add(buffer, sent[0], parts=sent[1])
        at = self._count[buffer] = self._count.get(buffer, -1) + 1
        theirs = self._arrived_in_b.get((other, one.input_nr), ()) if other is not None else ()
        if other is None or not theirs:
            return
        is_last = at == len(self._arrived_in_a[buffer]) - 1
        same = at < len(theirs) and theirs[at][:2] == (self._matching.to_b.get(own[step.node]), one.output)
        if not same:
            self._reordered.add(buffer)
        if buffer in self._reordered and not is_last:
            return
        its = (theirs[-1] if buffer in self._reordered else theirs[at]).delivery
        x, y = self._summed[buffer] = one.total, its.total
        if (x is one.term and y is its.term) or self._ledger.identical(x, y):
            return
        nodes = (buffer[0], other)
        rtol = self._ledger.rtol_at(nodes, one.input_nr, x, y)
        self._add(buffer, rtol * max(map(self._ledger.largest, (one.term, one.before, x))))
        site = Site("sum", self._passes, steps, nodes, one.input_nr)
        allowed = self._allowed.get(buffer, 0.0)
        found = self._ledger.check(site, x, y, rtol, allowed, follows=buffer in self._parted)
        self._add(buffer, 0.0, parts=found.parts)

    def _add(self, buffer: _Buffer, allowed: float, *, parts: bool = False) -> None:
        """Something with this tolerance has arrived in a buffer."""
        if allowed:
            self._allowed[buffer] = math.hypot(self._allowed.get(buffer, 0.0), allowed)
        if parts:
            self._parted.add(buffer)

    def _accumulated(self, step: BackwardStep, other: BackwardStep, nodes: Pair, before: float, parted: bool) -> None:
        """Compare the `.grad` of a leaf."""
        leaf, its = (
            recording.nodes[node].variable
            for recording, node in zip((self._ledger.a, self._ledger.b), nodes, strict=True)
        )
        if leaf is None or its is None or (step.error is not None and other.error is not None):
            return
        x, y = step.grad_after, other.grad_after
        site = Site("grad", self._passes, (step.index, other.index), nodes, 0, _at_zero(leaf, its))
        relative = self._ledger.tolerance.together(self._ledger.rtol_at(nodes, 0, x, y), before)
        floor = relative * max(map(self._ledger.largest, (x, step.grad_before)))
        follows = parted or leaf in self._forward.parted_grads
        found = self._ledger.check(site, x, y, relative, floor, follows=follows)
        self._forward.grad_relative[leaf] = found.relative
        (self._forward.parted_grads.add if found.parts else self._forward.parted_grads.discard)(leaf)

    def _both(
        self, ours: Sequence[Value | None], theirs: Sequence[Value | None]
    ) -> list[tuple[Value | None, Value | None]]:
        """The gradients of two steps that belong together. An output without a derivative may be listed or not."""
        rest = (*ours[len(theirs) :], *theirs[len(ours) :])
        self._ledger.leave_out(sum(one is not None and not is_zero(one) for one in rest))
        return list(zip(ours, theirs, strict=False))

    # The whole pass

    def _order(self) -> None:
        """Compare the order of the nodes that both passes evaluate."""
        to_a, in_b = self._matching.to_a, self._steps_of_b
        ours = [(self._matching.a.own[step.node], step.index) for step in self._one.steps]
        ours = [(node, at) for node, at in ours if self._matching.to_b.get(node) in in_b]
        here = {node for node, _ in ours}
        theirs = [(to_a[node], step.index) for node, step in in_b.items() if node in to_a and to_a[node] in here]
        for (one, i), (other, j) in zip(ours, theirs, strict=False):
            if one != other:
                self._ledger.orders.append(OrderDifference(self._passes, (i, j), (one, self._matching.to_b[other])))
                return

    def _captures(self) -> None:
        if self._one.kind == "backward" or (self._one.error is not None and self._other.error is not None):
            return  # the gradients are in `.grad`, or nowhere
        for number, (ours, theirs) in enumerate(zip_longest(self._one.captures, self._other.captures)):
            tensors = _at_zero(ours.tensor, theirs.tensor) if ours is not None and theirs is not None else None
            x, y = (one.value if one is not None else None for one in (ours, theirs))
            rtol, floor, parted = self._ledger.rtol_of(*tensors) if tensors is not None else 0.0, 0.0, False
            nodes = None
            if ours is not None and theirs is not None:
                record, its = self._ledger.a.tensors[ours.tensor], self._ledger.b.tensors[theirs.tensor]
                if record.node is not None and its.node is not None:
                    nodes = record.node, its.node
                    buffer = (self._matching.a.own[record.node], record.output_nr)
                    floor, parted = self._allowed.get(buffer, 0.0), buffer in self._parted
            site = Site("captured", self._passes, None, nodes, number, tensors)
            self._ledger.check(site, x, y, rtol, floor, follows=parted)

    def _errors(self) -> None:
        """Compare how the passes ended, as far as this was recorded."""
        if self._one.is_cut_short or self._other.is_cut_short:
            return
        ours, theirs = (one.error.type if one.error is not None else None for one in (self._one, self._other))
        failed = [one.steps[-1] if one.steps and one.steps[-1].error else None for one in (self._one, self._other)]
        sides = self._matching.a, self._matching.b
        one, other = (None if step is None else side.own[step.node] for step, side in zip(failed, sides, strict=True))
        same_node = one is None or other is None or self._matching.of_a(one) == other  # none: a hook before it failed
        if not same_error(ours, theirs) or not same_node:
            steps = tuple(None if step is None else step.index for step in failed)
            self._ledger.differ(Site("error", self._passes, (steps[0], steps[1]), None))

    @cached_property
    def _steps_of_b(self) -> Mapping[int, BackwardStep]:
        """A node of b -> its step, in the order of the steps."""
        return {self._matching.b.own[step.node]: step for step in self._other.steps}

    @cached_property
    def _arrived_in_a(self) -> Mapping[_Buffer, list[_Arrival]]:
        return _arrivals(self._ledger.a, self._one.steps, self._matching.a.own)

    @cached_property
    def _arrived_in_b(self) -> Mapping[_Buffer, list[_Arrival]]:
        return _arrivals(self._ledger.b, self._other.steps, self._matching.b.own)


def _arrivals(
    recording: Recording, steps: Sequence[BackwardStep], own: Sequence[int]
) -> Mapping[_Buffer, list[_Arrival]]:
    found: dict[_Buffer, list[_Arrival]] = {}
    for step in steps:
        for one in step.deliveries:
            found.setdefault((own[one.node], one.input_nr), []).append(_Arrival(own[step.node], one.output, one))
    return found


def _is_for_nobody(number: int, *both: tuple[Value | None, BackwardStep]) -> bool:
    """Whether only one of two steps computes a gradient, and sends it nowhere: engines differ in what they omit."""
    have = [step for value, step in both if value is not None]
    return len(have) == 1 and all(one.output != number for one in have[0].deliveries)


def _at_zero(one: int, other: int) -> tuple[TensorRef, TensorRef]:
    return TensorRef(one, 0), TensorRef(other, 0)
