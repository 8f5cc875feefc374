"""The search for the origins of NaN and infinity: where the numbers are finite before, and are not after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.values.without_history import Source, source_of
from microtape.recording.model.model import (
    UNKNOWN,
    BackwardStep,
    BorderRecord,
    NodeRecord,
    Pass,
    Place,
    TensorRef,
    Value,
)


def origins_by_line(program: Program) -> Iterator[tuple[PassSearch, list[Origin]]]:
    """The origins of the first pass that has any, a list for each line."""
    if program.sizes.results_are_finite:
        return
    program.sizes.measure_values()
    bad_values = _bad_values(program)
    unmeant = bad_values - _meant(program, bad_values)
    for position in range(len(program.recording.passes)):
        for bad in (unmeant, bad_values):
            search = PassSearch(program, position, bad)
            if found := search.by_line():
                yield from ((search, origins) for origins in found)
                return


def _bad_values(program: Program) -> frozenset[int]:
    """The nodes with an output that is not finite; if no output is known, with an operand that is not."""
    recording, largest = program.recording, program.sizes.largest
    bad: set[int] = set()
    for node in recording.nodes:
        values = program.results(node)
        if any(not math.isfinite(largest(one)) for one in values) or (
            not values and any(edge.node in bad for edge in node.edges)
        ):
            bad.add(node.id)
    return frozenset(bad)


def _meant(program: Program, bad_values: frozenset[int]) -> frozenset[int]:
    """Of these nodes those with an infinity that the program put there, such as by `masked_fill(mask, -inf)`."""
    recording, largest = program.recording, program.sizes.largest
    meant: set[int] = set()
    for number in sorted(bad_values):
        node = recording.nodes[number]
        if any(math.isnan(largest(one)) for one in program.results(node)) or _overflows(program, node):
            continue
        if label_smoothing(node) or (program.does(node, "nll_loss") and program.results(node)):
            continue  # a loss is not meant to be infinite
        causes = [edge.node in meant for edge in node.edges if edge.node in bad_values]
        for one in node.operands:
            if one.ref is None:
                causes += [True] if "inf" in one.text else []
            elif one.ref not in program.producer and not math.isfinite(largest(recording.value(one.ref))):
                is_constant = not recording.tensors[one.ref.tensor].requires_grad
                causes.append(is_constant and source_of(program, one.ref).maker is None)
        if causes and all(causes):
            meant.add(number)
    return frozenset(meant)


def label_smoothing(made: NodeRecord | BorderRecord) -> str:
    """`label_smoothing=0.1`, with which a loss also reads the scores of the classes that are no target, or empty."""
    given = (one.text for one in made.operands if one.text.startswith("label_smoothing="))
    return next((one for one in given if one.partition("=")[2] not in ("0", "0.0")), "")


def _overflows(program: Program, node: NodeRecord) -> bool:
    """Whether an exponential has made an infinity, of which -inf in its operand is no cause."""
    if not program.does(node, "exp", "exp2", "expm1"):
        return False
    values = [program.recording.value(ref) for ref in operand_refs(node)]
    made, given = (
        any(isinstance(one, np.ndarray) and (one == np.inf).any() for one in several)
        for several in (program.results(node), values)
    )
    return made and not given


class Origin(NamedTuple):
    """Where something finite became something that is not. `step` is None in forward."""

    node: int
    step: BackwardStep | None
    spread: tuple[int, ...]  # the nodes with a value or a gradient that is not finite because of it
    position: int  # of the pass: an inner one, if it ran again what a checkpoint holds
    source: Source | None = None  # where an operand without history became what it is


class PassSearch:
    """A pass and the operations that the program recorded for it."""

    def __init__(self, program: Program, position: int, bad_values: frozenset[int]) -> None:
        self.program, self.position = program, position
        self.bad_values = bad_values  # the nodes with an output that is not finite
        self.recording, self.sizes = program.recording, program.sizes
        self.pass_: Pass = self.recording.passes[position]
        self.steps = program.steps[position]

    @cached_property
    def bad_steps(self) -> dict[int, BackwardStep]:
        """The nodes that sent a gradient that is not finite, with their steps."""
        return {step.node: step for step in self.pass_.steps if self._sends_bad(step)}

    @cached_property
    def bad_leaves(self) -> frozenset[int]:
        """The AccumulateGrad nodes that received a gradient that is not finite."""
        return frozenset().union(*[one.bad_leaves for each in self._inner.values() for one in each]) | frozenset(
            one.node
            for step in self.bad_steps.values()
            for one in step.deliveries
            if self.recording.nodes[one.node].variable is not None and self.is_bad(one.term)
        )

    def by_line(self) -> list[list[Origin]]:
        """The origins of this pass by the line where they arose, in the order in which they did."""
        by_line: dict[tuple[Place | None, str, bool], list[Origin]] = {}
        for origin in (*self.in_forward(), *self.in_backward()):
            made = self.made(origin)
            by_line.setdefault((made.place, made.op, origin.step is None), []).append(origin)
        return list(by_line.values())

    def made(self, origin: Origin) -> NodeRecord | BorderRecord:
        """The operation that made the numbers, with a history or without one; else the one that was given them."""
        source, node = origin.source, self.recording.nodes[origin.node]
        return source.maker if source is not None and source.maker is not None and source.is_certain else node

    @cached_property
    def _inner(self) -> dict[int, list[PassSearch]]:
        """By node, the passes that its backward has run through what it has computed again, as checkpoints do."""
        found: dict[int, list[PassSearch]] = {}
        for position, one in enumerate(self.recording.passes):
            makers = {self.recording.nodes[root.node].made_by for root in one.roots if root.node is not None}
            for maker in makers if one.index > self.pass_.index else ():
                if maker is not None and maker in self.pass_.dependencies:
                    found.setdefault(maker, []).append(PassSearch(self.program, position, self.bad_values))
        return found

    def _closer(
        self, origin: Origin, number: int, search: Callable[[PassSearch], Iterable[Origin]]
    ) -> Sequence[Origin]:
        """The origins inside of what the backward of this node has computed again; `origin`, if there are none.

        A pass through what `create_graph` has recorded begins at such nodes, too: its origins are in front of them.
        """
        inside = [
            one._replace(spread=origin.spread + one.spread)
            for inner in self._inner.get(number, ())
            for one in search(inner)
            if one.position != inner.position or self.recording.nodes[one.node].made_by == number
        ]
        return inside or [origin]

    def in_forward(self) -> Iterator[Origin]:
        """Origins in forward whose values reach a root of the pass."""
        roots = {root.node for root in self.pass_.roots} & self.bad_values
        if not roots:
            return
        reaches = self._leading_to(roots)
        for number in sorted(reaches):
            node = self.recording.nodes[number]
            if not self._has_bad_operand(node):
                origin = Origin(number, None, self._with_gradients(self._from(number)), self.position)
                yield from self._closer(origin, number, PassSearch.in_forward)
            elif (leaf := self._bad_leaf(node)) is not None:
                yield Origin(leaf, None, self._with_gradients(self._from(number)), self.position)
            elif (data := self._bad_input(node)) is not None:
                source, spread = source_of(self.program, data), self._with_gradients(self._from(number))
                if isinstance(source.maker, NodeRecord):  # behind a detach()
                    yield Origin(source.maker.id, None, spread, self.position)
                else:
                    yield Origin(number, None, spread, self.position, source)

    def _has_bad_operand(self, node: NodeRecord) -> bool:
        """Whether an operand is not finite, other than by an infinity that the program put there."""
        return any(
            self.is_bad(self.recording.value(ref)) and self.program.producer.get(ref, -1) in {*self.bad_values, -1}
            for ref in operand_refs(node)
        ) or any(edge.node in self._unseen for edge in node.edges)

    def is_certain(self, node: NodeRecord) -> bool:
        """Whether all that went into an operation is known. It is not if it was computed before the recording began.

        Of a call that makes several nodes, the inner ones have no values: they are at the same place.
        """
        if any(one.ref is None and one.text == UNKNOWN for one in node.operands) or self.is_unreadable(node):
            return False
        return all(
            self.program.results(one) or one.variable is not None or (one.place is not None and one.place == node.place)
            for one in self._nodes_before(node)
        )

    def is_unreadable(self, node: NodeRecord) -> bool:
        """Whether something that came into the call of an operation has elements that could not be read.

        Such as a tensor of a class that computes by itself.
        """
        of_call, seen = [node], {node.id}
        for one in of_call:  # it grows on the way
            if any(ref not in self.program.producer and self.recording.value(ref) is None for ref in operand_refs(one)):
                return True
            for before in self._nodes_before(one):
                is_inner = before.variable is None and before.place == node.place and not self.program.results(before)
                if is_inner and before.id not in seen:
                    seen.add(before.id)
                    of_call.append(before)
        return False

    def _nodes_before(self, node: NodeRecord) -> list[NodeRecord]:
        return [self.recording.nodes[edge.node] for edge in node.edges if edge.node is not None]

    @cached_property
    def _unseen(self) -> frozenset[int]:
        """Those of the nodes that are not finite of which no output is known."""
        return frozenset(one for one in self.bad_values if not self.program.results(self.recording.nodes[one]))

    def _bad_leaf(self, node: NodeRecord) -> int | None:
        """A leaf among the operands whose own value is not finite."""
        for ref in operand_refs(node):
            record = self.recording.tensors[ref.tensor]
            if record.is_leaf and record.node is not None and self.is_bad(self.recording.value(ref)):
                return record.node
        return None

    def _bad_input(self, node: NodeRecord) -> TensorRef | None:
        """An operand without history that is not finite, such as the data, if all others are finite."""
        bad = [ref for ref in operand_refs(node) if self.is_bad(self.recording.value(ref))]
        if any(ref in self.program.producer for ref in bad) or any(edge.node in self._unseen for edge in node.edges):
            return None
        return bad[0] if bad else None

    def in_backward(self) -> Iterator[Origin]:
        """Origins in backward, unless a value that reached the root was not finite before."""
        if any(root.node in self.bad_values for root in self.pass_.roots):
            return
        found: dict[int, tuple[BackwardStep, set[int]]] = {}
        for step in self.bad_steps.values():
            if any(self.is_bad(value) for value in step.grad_outputs):
                continue
            _, spread = found.setdefault(self.masked(step.node), (step, set()))
            spread |= self._down_from(step)
        for node, (step, spread) in found.items():
            if spread & self.bad_leaves or self._captured(spread):
                origin = Origin(node, step, tuple(sorted(spread)), self.position)
                yield from self._closer(origin, step.node, PassSearch.in_backward)

    def masked(self, number: int) -> int:
        """The node where a value of this node began not to be finite in forward; the node itself if all are finite."""
        node = self.recording.nodes[number]
        while self._has_bad_operand(node):
            bad = (ref for ref in operand_refs(node) if self.is_bad(self.recording.value(ref)))
            known = [self.program.producer[ref] for ref in bad if ref in self.program.producer]
            known += [edge.node for edge in node.edges if edge.node in self._unseen and edge.node is not None]
            before = next((one for one in known if one < node.id), None)  # in a damaged file they may go in circles
            if before is None:
                break
            node = self.recording.nodes[before]
        return node.id

    def _captured(self, nodes: set[int]) -> bool:
        """Whether a gradient that `grad()` returns is not finite."""
        return bool(nodes) and any(self.is_bad(one.value) for one in self.pass_.captures)

    def is_bad(self, value: Value | None) -> bool:
        """Whether a number of a value is not finite."""
        return not math.isfinite(self.sizes.largest(value))

    def _sends_bad(self, step: BackwardStep) -> bool:
        return any(self.is_bad(one.term) for one in step.deliveries) or any(map(self.is_bad, step.grad_inputs))

    def _leading_to(self, nodes: Iterable[int | None]) -> frozenset[int]:
        found = {node for node in nodes if node is not None}
        waiting = list(found)
        while waiting:
            for edge in self.recording.nodes[waiting.pop()].edges:
                if edge.node is not None and edge.node in self.bad_values and edge.node not in found:
                    found.add(edge.node)
                    waiting.append(edge.node)
        return frozenset(found)

    def _from(self, node: int) -> set[int]:
        """The node and those computed from it, as far as they are not finite."""
        found, waiting = {node}, [node]
        while waiting:
            for user in self.program.users(waiting.pop()):
                if user in self.bad_values and user not in found:
                    found.add(user)
                    waiting.append(user)
        return found

    def _with_gradients(self, values: set[int]) -> tuple[int, ...]:
        """These nodes, and those that a gradient that is not finite reached from them."""
        found = set(values)
        for step in self.bad_steps.values():
            if step.node in values or any(edge.node in values for edge in self.recording.nodes[step.node].edges):
                found |= self._down_from(step)
        return tuple(sorted(found))

    def _down_from(self, step: BackwardStep) -> frozenset[int]:
        """The nodes to which the gradients of this step went that are not finite, and so on."""
        found: set[int] = set()
        waiting = [step]
        while waiting:
            for one in waiting.pop().deliveries:
                if one.node not in found and self.is_bad(one.term):
                    found.add(one.node)
                    if one.node in self.bad_steps:
                        waiting.append(self.bad_steps[one.node])
        return frozenset(found)
