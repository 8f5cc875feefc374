"""Compares what the operations of two programs computed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from microtape.recording.comparing.differences import Pair
from microtape.recording.comparing.ledger import Ledger, Site
from microtape.recording.comparing.rounding import UPDATE, carried_over
from microtape.recording.model.model import NodeRecord, Recording, TensorRef, Value

_Steps = tuple[int | None, int | None]


class ForwardComparison:
    """Compares values in the order of the tape. Values are named by their tensors in a."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._a, self._b = ledger.a, ledger.b
        self._relative: dict[TensorRef, float] = {}  # how far apart a value may be, because of rounding
        self._parted: set[TensorRef] = set()
        self._inputs: dict[int, tuple[TensorRef, Value | None]] = {}  # tensor -> what was compared of it last
        self._compared: set[tuple[TensorRef, TensorRef]] = set()
        self._at_border = 0  # the first border that is later than the operations compared so far
        self.parted_uses: set[int] = set()  # nodes that use different values, computed by nodes without a counterpart
        self.grad_relative: dict[int, float] = {}  # the same for the `.grad` of a leaf
        self.parted_grads: set[int] = set()

    def segment(self, number: object, passes: Pair | None) -> None:
        """Compare the operations that were recorded before a pass."""
        for node in self._segments.get(number, ()):
            self.node(node, passes)

    def node(self, node: int, passes: Pair | None, steps: _Steps | None = None) -> None:
        """Compare what an operation used, as far as no node computed it, and what it computed."""
        other = self._ledger.matching.of_a(node)
        one = self._a.nodes[node]
        if other is None or one.variable is not None:
            return
        self._pass_borders(node)
        counterpart = self._b.nodes[other]
        ours, theirs = _tensors(one), _tensors(counterpart)
        if steps is None:  # what backward records uses the program's own values, which have been compared
            for number, refs in self._operand_pairs(ours, theirs):
                self._input(number, refs, (node, other), passes, steps)
        relative, follows = self.of_all([*ours, *self._sources(one)])
        follows = follows or node in self.parted_uses
        for number, (ref, its) in enumerate(zip(one.outputs, counterpart.outputs, strict=False)):
            if ref is not None and its is not None:
                site = Site("value", passes, steps, (node, other), number, (ref, its))
                self._check(site, relative, follows, map(self._a.value, ours))

    def _operand_pairs(
        self, ours: Sequence[TensorRef], theirs: Sequence[TensorRef]
    ) -> list[tuple[int, tuple[TensorRef, TensorRef]]]:
        """The operands that belong together, numbered: all in their order, unless the recorders list other operands."""
        pairs = list(enumerate(zip(ours, theirs, strict=False)))
        if len(ours) == len(theirs) and all(self._may_match(*refs) for _, refs in pairs):
            return pairs
        leaves = {self._leaf_of_a(its): its for its in theirs}
        found = ((number, leaves.get(self._a.tensors[ref.tensor].node)) for number, ref in enumerate(ours))
        return [(number, (ours[number], its)) for number, its in found
                if its is not None and self._a.tensors[ours[number].tensor].is_leaf]  # fmt: skip

    def _leaf_of_a(self, its: TensorRef) -> int | None:
        """The node of the leaf of a that is the counterpart of a leaf of b."""
        tensor = self._b.tensors[its.tensor]
        return self._ledger.matching.of_b(tensor.node) if tensor.is_leaf and tensor.node is not None else -1

    def _may_match(self, ref: TensorRef, its: TensorRef) -> bool:
        """Whether two operands in the same position may be the same: what is known of their origin does not differ."""
        one, other = self._a.tensors[ref.tensor], self._b.tensors[its.tensor]
        made, its_made = self._computed_by.get(ref), self._its_computed_by.get(its)
        matching = self._ledger.matching
        if one.shape != other.shape:
            return False
        if made is not None and matching.of_a(made) is not None and its_made is not None:
            return matching.of_a(made) == its_made or matching.of_b(its_made) is None
        if made is not None or its_made is not None:
            return made is None or matching.of_a(made) is None
        if one.is_leaf and other.is_leaf and one.node is not None and other.node is not None:
            return matching.of_a(one.node) == matching.b.own[other.node]
        return one.name == other.name or not one.name or not other.name

    def of_all(self, sources: Iterable[TensorRef]) -> tuple[float, bool]:
        """How far apart the values may be relatively, and whether any of them differs."""
        relative, parted = 0.0, False
        for ref in sources:
            relative = max(relative, self._relative.get(ref, 0.0))
            parted = parted or ref in self._parted
        return relative, parted

    def relative(self, ref: TensorRef) -> float:
        """How far apart a value may be, as a part of its magnitude; 0 if it is the same to the bit."""
        return self._relative.get(ref, 0.0)

    def has_parted(self, ref: TensorRef) -> bool:
        """Whether a value, or what it was computed from, differs."""
        return ref in self._parted

    def _pass_borders(self, node: int) -> None:
        """Take what is known of the operands of each operation without history over to its results."""
        borders = self._a.borders
        while self._at_border < len(borders) and borders[self._at_border].tape <= node:
            border = borders[self._at_border]
            self._at_border += 1
            sources = [one.ref for one in border.operands if one.ref is not None]
            relative, parted = self.of_all(sources)
            for ref in border.outputs:
                self._relative[ref] = relative
                if parted:
                    self._parted.add(ref)

    def _input(
        self, number: int, refs: tuple[TensorRef, TensorRef], nodes: Pair, passes: Pair | None, steps: _Steps | None
    ) -> None:
        """Compare a leaf, or a tensor without history, when it is used for the first time."""
        ref, its = refs
        if refs in self._compared:
            return
        self._compared.add(refs)
        made, its_made = self._computed_by.get(ref), self._its_computed_by.get(its)
        if made is not None or its_made is not None:
            if made is None or self._ledger.matching.of_a(made) != its_made:
                self._stand_in(Site("input", passes, steps, nodes, number, refs))
            return
        before, value = self._inputs.get(ref.tensor), self._a.value(ref)
        relative, follows, old = self.relative(ref), self.has_parted(ref), None
        if before is not None:  # an update has changed it: by its gradient, and that may have been rounded
            earlier, old = before
            share = min(_change(old, value), 1.0)
            relative = max(relative, self.relative(earlier), self.grad_relative.get(ref.tensor, 0.0) * share)
            follows = follows or self.has_parted(earlier) or ref.tensor in self.parted_grads
        self._inputs[ref.tensor] = (ref, value)
        self._check(Site("input", passes, steps, nodes, number, (ref, its)), relative, follows, (old,))

    def _stand_in(self, site: Site) -> None:
        """Compare two operands that were computed in different ways: their nodes are no counterparts."""
        assert site.tensors is not None
        assert site.nodes is not None
        ref, its = site.tensors
        x, y = self._a.value(ref), self._b.value(its)
        relative = self._ledger.tolerance.together(self._ledger.rtol_of(ref, its), self.relative(ref))
        follows = self.has_parted(ref)
        if self._ledger.check(site, x, y, relative, follows=follows, may_be_none=False).parts:
            self.parted_uses.add(site.nodes[0])

    def _check(self, site: Site, relative: float, follows: bool, sources: Iterable[Value | None]) -> None:
        """Compare a value with what it was computed from: the operands, or the value before an update."""
        assert site.tensors is not None
        ref, its = site.tensors
        ledger = self._ledger
        if self._a.tensors[ref.tensor].dtype != self._b.tensors[its.tensor].dtype:
            ledger.dtypes.append((self._a.tensors[ref.tensor].dtype, self._b.tensors[its.tensor].dtype))
        x, y = self._a.value(ref), self._b.value(its)
        if x is not None and ledger.identical(x, y):
            self._relative.pop(ref, None)  # of a tensor without history: what is known of its operands
            self._parted.discard(ref)
            return
        relative = ledger.tolerance.together(ledger.rtol_of(ref, its), relative)
        if (x is None and ref in self._inside) or (y is None and its in self._its_inside):
            self._relative[ref] = relative
            if follows:
                self._parted.add(ref)
            return
        name = UPDATE if site.kind == "input" or site.nodes is None else self._a.nodes[site.nodes[0]].name
        floor = relative * carried_over(name, map(ledger.largest, sources), ledger.largest(x))
        found = ledger.check(site, x, y, relative, floor, follows=follows, may_be_none=False)
        is_unknown = x is None or y is None  # then all that is known of its operands is true of it, too
        self._relative[ref] = relative if is_unknown else found.relative
        if found.parts or (is_unknown and follows):
            self._parted.add(ref)

    def _sources(self, node: NodeRecord) -> Iterable[TensorRef]:
        """The values at the other end of a node's edges: a recorder may not know all operands."""
        for to, number in node.edges:
            outputs = self._a.nodes[to].outputs if to is not None else ()
            ref = outputs[number] if number < len(outputs) else None
            if ref is not None:
                yield ref

    @cached_property
    def _segments(self) -> Mapping[object, list[int]]:
        """The operations of the program itself, by the pass before which they were recorded."""
        found: dict[object, list[int]] = {}
        side = self._ledger.matching.a
        for node, segment in zip(self._a.nodes, side.segments, strict=True):
            if node.pass_ is None and node.variable is None:
                found.setdefault(segment, []).append(node.id)
        return found

    @cached_property
    def _computed_by(self) -> Mapping[TensorRef, int]:
        """A value of a -> the node that computed it."""
        return {ref: node.id for node in self._a.nodes for ref in node.outputs if ref is not None}

    @cached_property
    def _its_computed_by(self) -> Mapping[TensorRef, int]:
        """The same for b."""
        return {ref: node.id for node in self._b.nodes for ref in node.outputs if ref is not None}

    @cached_property
    def _inside(self) -> Collection[TensorRef | None]:
        """What operations of a computed for themselves."""
        return _inside_of_calls(self._a)

    @cached_property
    def _its_inside(self) -> Collection[TensorRef | None]:
        """The same for b."""
        return _inside_of_calls(self._b)


def _inside_of_calls(recording: Recording) -> Collection[TensorRef | None]:
    """The values that only nodes of the same call use. A recorder may not see them: the call's results tell enough."""
    elsewhere: set[TensorRef | None] = set()
    inside: set[TensorRef | None] = set()
    for user in recording.nodes:
        for to, number in user.edges:
            node = recording.nodes[to] if to is not None else None
            if node is not None and number < len(node.outputs):
                is_inside = node.place is not None and node.place == user.place
                (inside if is_inside else elsewhere).add(node.outputs[number])
    return inside - elsewhere


def _tensors(node: NodeRecord) -> list[TensorRef]:
    return [one.ref for one in node.operands if one.ref is not None]


def _change(old: Value | None, new: Value | None) -> float:
    """How far an update has moved a value, as a part of its magnitude; 1 if that is unknown."""
    if not isinstance(old, np.ndarray) or not isinstance(new, np.ndarray) or old.shape != new.shape:
        return 1.0
    if new.dtype.kind not in "fc" or not new.size:
        return 1.0
    moved, size = float(np.abs(np.subtract(new, old)).max()), float(np.abs(new).max())
    return moved / size if size and math.isfinite(moved) else 1.0
