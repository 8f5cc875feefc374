"""Checks that every id, index and position in a recording from a file is in range.

The viewers index nodes and tensors by the numbers in a recording, and follow its edges, without checking them. This
module checks them once, so that the viewers may.
"""

from __future__ import annotations

from microtape.recording.file.integrity_of_calls import check_calls
from microtape.recording.file.integrity_of_checks import check_checks
from microtape.recording.file.json_records import Damaged
from microtape.recording.file.references import (
    MOST,
    MOST_ELEMENTS,
    References,
    all_within,
    same,
    shape_within,
    within,
)
from microtape.recording.model.model import (
    BackwardStep,
    BorderRecord,
    CourseRecord,
    FreedRecord,
    NodeRecord,
    Pass,
    Recording,
    ScopeRecord,
    TensorRecord,
    UpdateRecord,
)

_MOST_NOTES = 10_000


def check_integrity(recording: Recording) -> None:
    """Raise Damaged if an id, an index or a position is out of range, or an edge leads forward on the tape."""
    _Records(recording).run()
    check_calls(recording)
    check_checks(recording)


class _Records(References):
    """One method for each kind of record."""

    def run(self) -> None:
        if len(self.recording.notes) > _MOST_NOTES:
            raise Damaged(f"{len(self.recording.notes):,} notes")
        for number, tensor in enumerate(self.recording.tensors):
            self._tensor(number, tensor)
        for number, scope in enumerate(self.recording.scopes):
            self._scope(number, scope)
        for number, node in enumerate(self.recording.nodes):
            self._node(number, node)
        for number, border in enumerate(self.recording.borders):
            self._border(border, f"border {number}")
        for number, update in enumerate(self.recording.updates):
            self._update(update, f"update {number}")
        all_within(self.recording.freed, self.nodes, "freed nodes")
        for number, freed in enumerate(self.recording.freed_by):
            self._freed(freed, f"freed node {number}")
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
        self.error(self.recording.error)

    def _tensor(self, number: int, tensor: TensorRecord) -> None:
        where = f"tensor {number}"
        same(tensor.id, number, where)
        self.node_id(tensor.node, where)
        self.tensor_id(tensor.base, where)
        within(tensor.output_nr, MOST, where)
        if tensor.shape:
            shape_within(tensor.shape, where)

    def _scope(self, number: int, scope: ScopeRecord) -> None:
        """An outer scope comes before an inner one, so that going outwards ends."""
        same(scope.id, number, f"scope {number}")
        if scope.outer is not None and not 0 <= scope.outer < number:
            raise Damaged(f"scope {number} refers to an outer scope that does not come before it")

    def _node(self, number: int, node: NodeRecord) -> None:
        where = f"node {number}"
        same(node.id, number, where)
        self.place(node.place, where)
        self.operands(node.operands, where)
        for output in node.outputs:
            self.ref(output, where)
        self.edge_list(node.edges, number, where)
        self.saved(node.saved, where)
        self.tensor_id(node.variable, where)
        self.node_id(node.made_by, where)
        if node.scope is not None and not 0 <= node.scope < len(self.recording.scopes):
            raise Damaged(f"{where} refers to a scope that does not exist")
        if node.pass_ is not None:
            within(node.pass_, MOST, where)

    def _border(self, border: BorderRecord, where: str) -> None:
        self.place(border.place, where)
        self.operands(border.operands, where)
        for output in border.outputs:
            self.ref(output, where)
        within(border.tape, self.nodes + 1, where)

    def _update(self, one: UpdateRecord, where: str) -> None:
        self.tensor_id(one.tensor, where)
        self.place(one.place, where)
        within(one.passes, MOST, where)

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
        for ids in (one.nodes, one.dependencies, one.ready):
            all_within(ids, self.nodes, where)
        all_within(one.grads, self.tensors, where)
        for index, step in enumerate(one.steps):
            self._step(index, step, f"step {index} of {where}")
        self.error(one.error)

    def _step(self, index: int, step: BackwardStep, where: str) -> None:
        same(step.index, index, where)
        within(step.node, self.nodes, where)
        edges = self.edges[step.node]
        if len(step.grad_inputs) not in (0, edges):
            raise Damaged(f"{where} has {len(step.grad_inputs)} gradients for {edges} edges")
        self.saved(step.saved, where)
        if len(step.deliveries) > edges:
            raise Damaged(f"{where} has {len(step.deliveries):,} deliveries for {edges} edges")
        for one in step.deliveries:
            if not (
                0 <= one.output < edges
                and 0 <= one.node < self.nodes
                and 0 <= one.input_nr < MOST
                and 0 <= one.dependencies_left < MOST
            ):
                raise Damaged(f"{where} has a number out of range")
        all_within(step.made, self.nodes, where)
        self.error(step.error)
