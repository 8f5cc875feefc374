"""Checks that every id, index and position in a recording from a file is in range.

The viewers index nodes and tensors by the numbers in a recording, and follow its edges, without checking them. This
module checks them once, so that the viewers may.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from microtape.recording.file.integrity_of_calls import check_calls
from microtape.recording.file.integrity_of_checks import check_checks
from microtape.recording.file.json_records import Damaged
from microtape.recording.file.packing import MOST_DIMENSIONS
from microtape.recording.file.references import (
    MOST,
    MOST_ELEMENTS,
    OUT_OF_RANGE,
    Owners,
    References,
    all_within,
    numbered,
    outside,
    same,
    shape_within,
    within,
)
from microtape.recording.model.model import (
    AliasUseRecord,
    BackwardStep,
    BorderRecord,
    CourseRecord,
    EdgeRecord,
    FreedRecord,
    NodeRecord,
    Pass,
    Recording,
    ScopeRecord,
    TensorRecord,
    UpdateRecord,
)
from microtape.recording.tables.columns import Table
from microtape.recording.tables.fields import as_integers, field, inside, integers, present
from microtape.recording.tables.ids import ids_in

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]

_MOST_NOTES = 10_000


def check_integrity(recording: Recording) -> None:
    """Raise Damaged if an id, an index or a position is out of range, or an edge leads forward on the tape."""
    _Records(recording).run()
    check_calls(recording)
    check_checks(recording)


class _Records(References):
    """One method for each kind of record. Those that come in large numbers are checked together, field by field."""

    def run(self) -> None:
        if len(self.recording.notes) > _MOST_NOTES:
            raise Damaged(f"{len(self.recording.notes):,} notes")
        self._tensors(self.recording.tensors)
        for number, scope in enumerate(self.recording.scopes):
            self._scope(number, scope)
        self._nodes(self.recording.nodes)
        for number, border in enumerate(self.recording.borders):
            self._border(border, f"border {number}")
        for number, update in enumerate(self.recording.updates):
            self._update(update, f"update {number}")
        all_within(self.recording.freed, self.nodes, "freed nodes")
        for number, freed in enumerate(self.recording.freed_by):
            self._freed(freed, f"freed node {number}")
        for number, use in enumerate(self.recording.alias_uses):
            self._alias_use(use, f"use {number} of an alias")
        before = -1
        for course in self.recording.courses:
            within(course.pass_ - before - 1, MOST, f"course {before + 1}")
            before = course.pass_
            self._course(course)
        before = -1
        for one in self.recording.passes:  # numbered as in the program; a pass that was not asked for is missing
            within(one.index - before - 1, MOST, f"pass {before + 1}")
            before = one.index
            self._one_pass(one)
        self._steps([one for one in self.recording.passes if not isinstance(one.steps, Table)])
        for one in self.recording.passes:
            if isinstance(one.steps, Table):
                self._steps([one])
        self.error(self.recording.error)

    def _tensors(self, tensors: Sequence[TensorRecord]) -> None:
        of = Owners("tensor {}".format)
        numbered(integers(tensors, "id"), np.arange(self.tensors), of)
        self.all_node_ids(integers(tensors, "node"), of)
        self.all_tensor_ids(integers(tensors, "base"), of)
        of.refuse(outside(integers(tensors, "output_nr"), MOST), OUT_OF_RANGE)
        sizes, lengths = inside(tensors, "shape")
        if sizes.max(initial=0) > MOST_DIMENSIONS:
            raise Damaged(f"tensor {sizes.argmax()} has {sizes.max():,} dimensions")
        Owners("tensor {}".format, sizes).refuse(outside(as_integers(lengths), MOST), OUT_OF_RANGE)

    def _scope(self, number: int, scope: ScopeRecord) -> None:
        """An outer scope comes before an inner one, so that going outwards ends."""
        same(scope.id, number, f"scope {number}")
        if scope.outer is not None and not 0 <= scope.outer < number:
            raise Damaged(f"scope {number} refers to an outer scope that does not come before it")

    def _nodes(self, nodes: Sequence[NodeRecord]) -> None:
        name = "node {}".format
        of = Owners(name)
        numbered(integers(nodes, "id"), np.arange(self.nodes), of)
        self.all_places(field(nodes, "place"), of)
        sizes, operands = inside(nodes, "operands")
        self.all_refs(field(operands, "ref"), Owners(name, sizes))
        sizes, outputs = inside(nodes, "outputs")
        self.all_refs(outputs, Owners(name, sizes))
        sizes, edges = inside(nodes, "edges")
        self._edges(edges, sizes)
        sizes, saved = inside(nodes, "saved")
        self.all_refs(field(saved, "ref"), Owners(name, sizes))
        self.all_tensor_ids(integers(nodes, "variable"), of)
        self.all_node_ids(integers(nodes, "made_by"), of)
        scopes = integers(nodes, "scope")
        of.refuse(outside(scopes, len(self.recording.scopes)), "refers to a scope that does not exist")
        of.refuse(outside(integers(nodes, "pass_"), MOST), OUT_OF_RANGE)

    def _edges(self, edges: Sequence[EdgeRecord], sizes: Integers) -> None:
        """Edges lead backwards on the tape, so that following them ends."""
        node, before = integers(edges, "node"), np.repeat(np.arange(self.nodes), sizes)
        wrong = outside(node, self.nodes) | (node >= before)
        Owners("an edge of node {}".format, sizes).refuse(wrong, "leads to a node that does not come before it")
        Owners("node {}".format, sizes).refuse(outside(integers(edges, "input_nr"), MOST), OUT_OF_RANGE)

    def _border(self, border: BorderRecord, where: str) -> None:
        self.place(border.place, where)
        self.operands(border.operands, where)
        for output in border.outputs:
            self.ref(output, where)
        within(border.tape, self.nodes + 1, where)

    def _update(self, one: UpdateRecord, where: str) -> None:
        self.tensor_id(one.tensor, where)
        for place in (one.place, one.again):
            self.place(place, where)
        within(one.passes, MOST, where)

    def _alias_use(self, one: AliasUseRecord, where: str) -> None:
        self.tensor_id(one.tensor, where)
        for place in (one.place, one.made, one.written):
            self.place(place, where)

    def _freed(self, one: FreedRecord, where: str) -> None:
        within(one.node, self.nodes, where)
        within(one.pass_, MOST, where)
        self.place(one.place, where)

    def _course(self, one: CourseRecord) -> None:
        for parameter in one.parameters:
            where = f"{parameter.name[:40]!a} in the course of pass {one.pass_}"
            shape_within(parameter.shape, where)
            for found in (parameter.weight, parameter.gradient):
                if found is not None:
                    all_within((found.zeros, found.nans, found.infs), MOST_ELEMENTS, where)

    def _one_pass(self, one: Pass) -> None:
        where = f"pass {one.index}"
        self.place(one.place, where)
        self.edge_list(one.roots, self.nodes, where)
        for ref in one.root_tensors:
            self.ref(ref, where)
        if not len(one.roots) == len(one.root_tensors) == len(one.seeds):
            raise Damaged(f"{where} has {len(one.roots)} roots and {len(one.seeds)} first gradients")
        all_within((capture.tensor for capture in one.captures), self.tensors, where)
        within(one.tape, self.nodes + 1, where)
        for ids in (as_integers(one.nodes), as_integers(one.ready), ids_in(one.dependencies)):
            Owners(lambda _: where).refuse(outside(ids, self.nodes), OUT_OF_RANGE)
        all_within(one.grads, self.tensors, where)
        self.error(one.error)

    def _steps(self, passes: Sequence[Pass]) -> None:
        """The steps of some passes together, for there may be thousands of short passes."""
        many = [one.steps for one in passes]
        steps: Sequence[BackwardStep] = many[0] if len(many) == 1 else list(chain.from_iterable(many))
        counts = list(map(len, many))
        starts = np.cumsum([0, *counts])
        index = np.arange(len(steps)) - np.repeat(starts[:-1], counts)

        def name(step: int) -> str:
            number = int(np.searchsorted(starts, step, "right")) - 1
            return f"step {index[step]} of pass {passes[number].index}"

        of = Owners(name)
        numbered(integers(steps, "index"), index, of)
        nodes = integers(steps, "node")
        of.refuse(outside(nodes, self.nodes), OUT_OF_RANGE)
        edges = self.edges[nodes]
        sent, _ = inside(steps, "grad_inputs")
        for step in np.flatnonzero((sent != 0) & (sent != edges)).tolist():
            raise Damaged(f"{name(step)} has {sent[step]} gradients for {edges[step]} edges")
        sizes, saved = inside(steps, "saved")
        self.all_refs(field(saved, "ref"), Owners(name, sizes))
        sizes, deliveries = inside(steps, "deliveries")
        for step in np.flatnonzero(sizes > edges).tolist():
            raise Damaged(f"{name(step)} has {sizes[step]:,} deliveries for {edges[step]} edges")
        wrong = outside(integers(deliveries, "node"), self.nodes) | outside(integers(deliveries, "input_nr"), MOST)
        wrong |= outside(integers(deliveries, "output"), np.repeat(edges, sizes))
        wrong |= outside(integers(deliveries, "dependencies_left"), MOST)
        Owners(name, sizes).refuse(wrong, OUT_OF_RANGE)
        sizes, made = inside(steps, "made")
        Owners(name, sizes).refuse(outside(as_integers(made), self.nodes), OUT_OF_RANGE)
        for error in present(steps, "error"):
            self.error(error)
