"""The origins of NaN and infinity: operations whose input is finite and whose result, or gradient, is not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from microtape.recording.findings.finding import Finding, FindingKind
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.remedies import against_not_finite
from microtape.recording.findings.values.bad_numbers import (
    first_bad,
    how_in_backward,
    how_in_forward,
    how_of_input,
    how_of_leaf,
    how_of_nothing,
)
from microtape.recording.findings.wording import at, count, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, NodeRecord, Pass, Place, Recording, TensorRef, Value

_DIMENSION = re.compile(r"(?:dim=)?(-?\d+)")  # as an argument


def not_finite(program: Program) -> Iterator[Finding]:
    """One finding for each line where NaN or infinity begins, if it reached the loss or a leaf's gradient.

    Only the first pass with one is searched: what follows it is its consequence.
    """
    if program.sizes.results_are_finite:
        return
    program.sizes.measure_values()
    bad_values = _bad_values(program)
    unmeant = bad_values - _meant(program, bad_values)
    for position in range(len(program.recording.passes)):
        found = list(_PassSearch(program, position, unmeant).findings())
        found = found or list(_PassSearch(program, position, bad_values).findings())
        yield from found
        if found:
            return


def arrays_where_bad_numbers_begin(recording: Recording) -> Iterator[Value | None]:
    """What went into each operation in which NaN or infinity begins, and what came out; or its gradients.

    Recordings keep these arrays whole, so that findings can name the numbers.
    """
    for finding in not_finite(Program(recording)):
        if finding.node is None or finding.pass_ is None:
            continue
        node = recording.nodes[finding.node]
        refs = [*operand_refs(node), *(ref for ref in node.outputs if ref is not None)]
        yield from map(recording.value, refs)
        if finding.step is not None:
            step = recording.passes[finding.pass_].steps[finding.step]
            yield from step.grad_outputs
            yield from [one.term for one in step.deliveries]


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
        causes = [edge.node in meant for edge in node.edges if edge.node in bad_values]
        for one in node.operands:
            if one.ref is None:
                causes += [True] if "inf" in one.text else []
            elif one.ref not in program.producer and not math.isfinite(largest(recording.value(one.ref))):
                causes.append(not recording.tensors[one.ref.tensor].requires_grad)
        if causes and all(causes):
            meant.add(number)
    return frozenset(meant)


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


class _Origin(NamedTuple):
    """Where something finite became something that is not. `step` is None in forward."""

    node: int
    step: BackwardStep | None
    spread: tuple[int, ...]  # the nodes with a value or a gradient that is not finite because of it
    position: int  # of the pass: an inner one, if it ran again what a checkpoint holds


class _PassSearch:
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
            if self.recording.nodes[one.node].variable is not None and self._is_bad(one.term)
        )

    def findings(self) -> Iterator[Finding]:
        """The findings of this pass, in the order in which they arose."""
        by_line: dict[tuple[Place | None, str, bool], list[_Origin]] = {}
        for origin in (*self.in_forward(), *self.in_backward()):
            node = self.recording.nodes[origin.node]
            by_line.setdefault((node.place, node.op, origin.step is None), []).append(origin)
        for origins in by_line.values():
            yield self._finding(origins)

    @cached_property
    def _inner(self) -> dict[int, list[_PassSearch]]:
        """By node, the passes that its backward has run through what it has computed again, as checkpoints do."""
        found: dict[int, list[_PassSearch]] = {}
        for position, one in enumerate(self.recording.passes):
            makers = {self.recording.nodes[root.node].made_by for root in one.roots if root.node is not None}
            for maker in makers if one.index > self.pass_.index else ():
                if maker is not None and maker in self.pass_.dependencies:
                    found.setdefault(maker, []).append(_PassSearch(self.program, position, self.bad_values))
        return found

    def _closer(
        self, origin: _Origin, number: int, search: Callable[[_PassSearch], Iterable[_Origin]]
    ) -> Sequence[_Origin]:
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

    def in_forward(self) -> Iterator[_Origin]:
        """Origins in forward whose values reach a root of the pass."""
        roots = {root.node for root in self.pass_.roots} & self.bad_values
        if not roots:
            return
        reaches = self._leading_to(roots)
        for number in sorted(reaches):
            node = self.recording.nodes[number]
            if not self._has_bad_operand(node):
                origin = _Origin(number, None, self._with_gradients(self._from(number)), self.position)
                yield from self._closer(origin, number, _PassSearch.in_forward)
            elif (leaf := self._bad_leaf(node)) is not None:
                yield _Origin(leaf, None, self._with_gradients(self._from(number)), self.position)
            elif self._bad_input(node) is not None:
                yield _Origin(number, None, self._with_gradients(self._from(number)), self.position)

    def _has_bad_operand(self, node: NodeRecord) -> bool:
        """Whether an operand is not finite, other than by an infinity that the program put there."""
        return any(
            self._is_bad(self.recording.value(ref)) and self.program.producer.get(ref, -1) in {*self.bad_values, -1}
            for ref in operand_refs(node)
        ) or any(edge.node in self._unseen for edge in node.edges)

    @cached_property
    def _unseen(self) -> frozenset[int]:
        """Those of the nodes that are not finite of which no output is known."""
        return frozenset(one for one in self.bad_values if not self.program.results(self.recording.nodes[one]))

    def _bad_leaf(self, node: NodeRecord) -> int | None:
        """A leaf among the operands whose own value is not finite."""
        for ref in operand_refs(node):
            record = self.recording.tensors[ref.tensor]
            if record.is_leaf and record.node is not None and self._is_bad(self.recording.value(ref)):
                return record.node
        return None

    def _bad_input(self, node: NodeRecord) -> TensorRef | None:
        """An operand without history that is not finite, such as the data, if all others are finite."""
        bad = [ref for ref in operand_refs(node) if self._is_bad(self.recording.value(ref))]
        if any(ref in self.program.producer for ref in bad) or any(edge.node in self._unseen for edge in node.edges):
            return None
        return bad[0] if bad else None

    def in_backward(self) -> Iterator[_Origin]:
        """Origins in backward, unless a value that reached the root was not finite before."""
        if any(root.node in self.bad_values for root in self.pass_.roots):
            return
        found: dict[int, tuple[BackwardStep, set[int]]] = {}
        for step in self.bad_steps.values():
            if any(self._is_bad(value) for value in step.grad_outputs):
                continue
            _, spread = found.setdefault(self._masked(step.node), (step, set()))
            spread |= self._down_from(step)
        for node, (step, spread) in found.items():
            if spread & self.bad_leaves or self._captured(spread):
                origin = _Origin(node, step, tuple(sorted(spread)), self.position)
                yield from self._closer(origin, step.node, _PassSearch.in_backward)

    def _masked(self, number: int) -> int:
        """The node where a value of this node began not to be finite in forward; the node itself if all are finite."""
        node = self.recording.nodes[number]
        while self._has_bad_operand(node):
            bad = (ref for ref in operand_refs(node) if self._is_bad(self.recording.value(ref)))
            known = [self.program.producer[ref] for ref in bad if ref in self.program.producer]
            known += [edge.node for edge in node.edges if edge.node in self._unseen and edge.node is not None]
            before = next((one for one in known if one < node.id), None)  # in a damaged file they may go in circles
            if before is None:
                break
            node = self.recording.nodes[before]
        return node.id

    def _captured(self, nodes: set[int]) -> bool:
        """Whether a gradient that `grad()` returns is not finite."""
        return bool(nodes) and any(self._is_bad(one.value) for one in self.pass_.captures)

    def _is_bad(self, value: Value | None) -> bool:
        return not math.isfinite(self.sizes.largest(value))

    def _sends_bad(self, step: BackwardStep) -> bool:
        return any(self._is_bad(one.term) for one in step.deliveries) or any(map(self._is_bad, step.grad_inputs))

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
                if one.node not in found and self._is_bad(one.term):
                    found.add(one.node)
                    if one.node in self.bad_steps:
                        waiting.append(self.bad_steps[one.node])
        return frozenset(found)

    # Words

    def _finding(self, origins: list[_Origin]) -> Finding:
        origin = origins[0]
        node = self.recording.nodes[origin.node]
        spread = sorted({one for each in origins for one in each.spread})
        value = self._first_bad(origin)
        kind: FindingKind = "nan" if np.isnan(self.sizes.largest(value)) else "infinity"
        what = "NaN" if kind == "nan" else "Infinity"
        how, lines = how_of_leaf(self.program, node) if node.variable is not None else self._how(origin, node, value)
        where = f"{node.op}, {at(node.place)}" if node.place is not None else self.program.name(node.id)
        side = "" if origin.step is None else " in backward"
        of_data = origin.step is None and self._bad_input(node) is not None
        text = headline(
            *([f"{what} begins{side} at {where}: {how}"] if how else []),
            *([f"{what} begins at {where}: {how}"] if how else []),
            *([f"{what} begins at {where}: its input is not finite"] if of_data else []),
            f"{what} begins{side} at {where}",
        )
        leaves = [self.program.name(one) for one in spread if one in self.bad_leaves]
        reached = f"From there {count(len(spread), 'node')} {'is' if len(spread) == 1 else 'are'} not finite"
        lines.append(f"{reached}; it reaches the gradients of {join(leaves)}." if leaves else f"{reached}.")
        if len(origins) > 1:
            lines.append(f"The same happens {count(len(origins) - 1, 'more time')} at this line.")
        if self.pass_.index:
            lines.append(f"Everything is finite before pass {self.pass_.index + 1} of the program.")
        return Finding(
            kind, "error", text, tuple(lines),
            against_not_finite(node, in_backward=origin.step is not None, how=how, is_nan=kind == "nan",
                               later=bool(self.pass_.index), of_data=of_data, along=self._along(node)),
            node.place or self._first_use(node.id), origin.position,
            origin.step.index if origin.step is not None else None, node.id, self.program.tensor_of(node),
            spread=tuple(spread),
        )  # fmt: skip

    def _along(self, node: NodeRecord) -> str:
        """The dimension of a softmax that meets only -inf, while each row, along the last one, has a finite score."""
        ref = next((one.ref for one in node.operands if one.ref is not None), None)
        value = self.recording.tensors[ref.tensor].values.get(ref.version) if ref is not None else None
        asked = [found[1] for one in node.operands if (found := _DIMENSION.fullmatch(one.text))]
        if "softmax" not in node.op or not asked or not isinstance(value, np.ndarray) or not value.ndim:
            return ""
        is_last = int(asked[0]) % value.ndim == value.ndim - 1
        return "" if is_last or (value == -np.inf).all(axis=-1).any() else f"dim={asked[0]}"

    def _first_use(self, node: int) -> Place | None:
        users = [one for one in self.program.users(node) if self.recording.nodes[one].place is not None]
        return self.recording.nodes[users[0]].place if users else None

    def _first_bad(self, origin: _Origin) -> Value | None:
        if origin.step is not None:
            sent = [one.term for one in origin.step.deliveries]
            return next(value for value in (*sent, *origin.step.grad_inputs) if self._is_bad(value))
        node = self.recording.nodes[origin.node]
        refs = [ref for ref in node.outputs if ref is not None]
        values = [self.recording.value(ref) for ref in refs]
        if node.variable is not None:
            values = list(self.recording.tensors[node.variable].values.values())
        return next((value for value in values if self._is_bad(value)), None)

    def _how(self, origin: _Origin, node: NodeRecord, value: Value | None) -> tuple[str, list[str]]:
        """How finite numbers gave one that is not: for a headline, and as sentences."""
        if origin.step is None and (data := self._bad_input(node)) is not None:
            return how_of_input(self.program, data)
        if origin.step is None and (nothing := how_of_nothing(self.program, node, value)) is not None:
            return nothing
        if not isinstance(value, np.ndarray):
            return "", []
        if origin.step is None:
            return how_in_forward(self.program, node, value)
        formula, lines = how_in_backward(self.program, origin.step, value)
        return formula, [*lines, *self._in_forward_too(origin.step.node)]

    def _in_forward_too(self, number: int) -> list[str]:
        """A sentence for a gradient whose value was not finite before."""
        begin = self.recording.nodes[self._masked(number)]
        value = next((self.recording.value(ref) for ref in begin.outputs if ref is not None), None)
        if begin.id not in self.bad_values or not isinstance(value, np.ndarray):
            return []
        text = format_number(value[first_bad(value)])
        return [f"In forward, {self.program.name(begin.id)} gave {text}, which the loss does not use."]
