"""Checks that every id, index and position in a recording from a file is in range.

The viewers index nodes and tensors by the numbers in a recording, and follow its edges, without checking them. This
module checks them once, so that the viewers may.
"""

from __future__ import annotations

from collections.abc import Iterable

from microtape.recording.file.json_records import Damaged
from microtape.recording.model.model import (
    BackwardStep,
    BorderRecord,
    CallRecord,
    CallStep,
    CourseRecord,
    EdgeRecord,
    ErrorRecord,
    FiniteDifferences,
    FreedRecord,
    FunctionRecord,
    JacobianCheck,
    NodeRecord,
    Operand,
    Pass,
    Place,
    Recording,
    SavedRecord,
    SavedUse,
    ScopeRecord,
    TensorRecord,
    TensorRef,
    UpdateRecord,
)

_MOST = 2**31  # lines, columns, versions, input numbers: more than any program has, and safe for every viewer
_MOST_ELEMENTS = 2**53  # of an array
_MOST_NOTES = 10_000


def check_integrity(recording: Recording) -> None:
    """Raise Damaged if an id, an index or a position is out of range, or an edge leads forward on the tape."""
    _Checks(recording).run()


class _Checks:
    """The valid ranges of one recording, and one method for each kind of record."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.nodes = len(recording.nodes)
        self.tensors = len(recording.tensors)
        self.outputs = [len(node.outputs) for node in recording.nodes]
        self.edges = [len(node.edges) for node in recording.nodes]

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
        _all_within(self.recording.freed, self.nodes, "freed nodes")
        for number, found in enumerate(self.recording.checks):
            self._check(found, f"check {number}")
        for number, jacobian in enumerate(self.recording.jacobians):
            self._jacobian(jacobian, f"Jacobian {number}")
        for number, freed in enumerate(self.recording.freed_by):
            self._freed(freed, f"freed node {number}")
        for number, function in enumerate(self.recording.functions):
            self._function(function, f"Function {number}")
        for number, call in enumerate(self.recording.calls):
            self._call(number, call)
        before = -1
        for course in self.recording.courses:
            _within(course.pass_ - before - 1, _MOST, f"course {before + 1}")
            before = course.pass_
            self._course(course)
        before = -1
        for one in self.recording.passes:  # numbered as in the program; a pass that was not asked for is missing
            _within(one.index - before - 1, _MOST, f"pass {before + 1}")
            before = one.index
            self._one_pass(one)
        self._error(self.recording.error)

    def _tensor(self, number: int, tensor: TensorRecord) -> None:
        where = f"tensor {number}"
        _same(tensor.id, number, where)
        self._node_id(tensor.node, where)
        self._tensor_id(tensor.base, where)
        _within(tensor.output_nr, _MOST, where)
        if tensor.shape:
            _all_within(tensor.shape, _MOST, where)

    def _scope(self, number: int, scope: ScopeRecord) -> None:
        """An outer scope comes before an inner one, so that going outwards ends."""
        _same(scope.id, number, f"scope {number}")
        if scope.outer is not None and not 0 <= scope.outer < number:
            raise Damaged(f"scope {number} refers to an outer scope that does not come before it")

    def _node(self, number: int, node: NodeRecord) -> None:
        where = f"node {number}"
        _same(node.id, number, where)
        self._place(node.place, where)
        self._operands(node.operands, where)
        for output in node.outputs:
            self._ref(output, where)
        self._edge_list(node.edges, number, where)
        self._saved(node.saved, where)
        self._tensor_id(node.variable, where)
        self._node_id(node.made_by, where)
        if node.scope is not None and not 0 <= node.scope < len(self.recording.scopes):
            raise Damaged(f"{where} refers to a scope that does not exist")
        if node.pass_ is not None:
            _within(node.pass_, _MOST, where)

    def _border(self, border: BorderRecord, where: str) -> None:
        self._place(border.place, where)
        self._operands(border.operands, where)
        for output in border.outputs:
            self._ref(output, where)
        _within(border.tape, self.nodes + 1, where)

    def _update(self, one: UpdateRecord, where: str) -> None:
        self._tensor_id(one.tensor, where)
        self._place(one.place, where)
        _within(one.passes, _MOST, where)

    def _check(self, one: FiniteDifferences, where: str) -> None:
        _within(one.pass_, _MOST, where)
        _within(one.node, self.nodes, where)
        _within(one.output, self.edges[one.node], where)
        _all_within(one.elements, _MOST, where)
        if not one.analytical.shape == one.numerical.shape == (len(one.elements),):
            raise Damaged(f"{where} has different numbers of elements and results")

    def _jacobian(self, one: JacobianCheck, where: str) -> None:
        _within(one.pass_, _MOST, where)
        _within(one.node, self.nodes, where)
        _within(one.edge, self.edges[one.node], where)
        outputs = self.edges[one.node] if one.of_gradient else len(self.recording.nodes[one.node].outputs)
        _within(one.output, outputs, where)
        shape = one.analytical.shape
        if len(shape) != 2 or one.numerical.shape != shape:
            raise Damaged(f"{where} is not two matrices of one shape")
        _all_within(one.wrong, shape[0] * shape[1], where)

    def _freed(self, one: FreedRecord, where: str) -> None:
        _within(one.node, self.nodes, where)
        _within(one.pass_, _MOST, where)
        self._place(one.place, where)

    def _function(self, one: FunctionRecord, where: str) -> None:
        _within(one.node, self.nodes, where)
        for argument in one.arguments:
            self._operands((argument.value,), where)
            if argument.edge is not None:
                _within(argument.edge, self.edges[one.node], where)
        for output in one.outputs:
            if output.argument is not None:
                _within(output.argument, len(one.arguments), where)
        self._operands((variable.value for variable in one.attributes), where)

    def _call(self, number: int, call: CallRecord) -> None:
        """An outer call comes before an inner one, so that going outwards or inwards ends."""
        where = f"call {number}"
        _same(call.id, number, where)
        self._node_id(call.node, where)
        for index in (call.pass_, call.step, call.left_out):
            _within(index or 0, _MOST, where)
        if call.outer is not None and not 0 <= call.outer < number:
            raise Damaged(f"{where} refers to an outer call that does not come before it")
        self._place(call.place, where)
        _within(call.left_out_at, len(call.steps) + 1, where)
        for step in call.steps:
            self._call_step(number, step, where)
        self._error(call.error)

    def _call_step(self, call: int, step: CallStep, where: str) -> None:
        self._place(step.place, where)
        self._operands((*step.operands, *step.outputs, *(variable.value for variable in step.variables)), where)
        self._node_id(step.node, where)
        if step.kind == "call" and step.inner is not None:
            if not call < step.inner < len(self.recording.calls):
                raise Damaged(f"{where} refers to an inner call that does not come after it")
        elif step.inner is not None:
            _within(step.inner, _MOST, where)

    def _course(self, one: CourseRecord) -> None:
        for parameter in one.parameters:
            where = f"{parameter.name[:40]!a} in the course of pass {one.pass_}"
            _all_within(parameter.shape, _MOST, where)
            for found in (parameter.weight, parameter.gradient):
                if found is not None:
                    _all_within((found.zeros, found.nans, found.infs), _MOST_ELEMENTS, where)

    def _one_pass(self, one: Pass) -> None:
        where = f"pass {one.index}"
        self._place(one.place, where)
        self._edge_list(one.roots, self.nodes, where)
        for ref in one.root_tensors:
            self._ref(ref, where)
        if not len(one.roots) == len(one.root_tensors) == len(one.seeds):
            raise Damaged(f"{where} has {len(one.roots)} roots and {len(one.seeds)} first gradients")
        _all_within((capture.tensor for capture in one.captures), self.tensors, where)
        _within(one.tape, self.nodes + 1, where)
        for ids in (one.nodes, one.dependencies, one.ready):
            _all_within(ids, self.nodes, where)
        _all_within(one.grads, self.tensors, where)
        for index, step in enumerate(one.steps):
            self._step(index, step, f"step {index} of {where}")
        self._error(one.error)

    def _step(self, index: int, step: BackwardStep, where: str) -> None:
        _same(step.index, index, where)
        _within(step.node, self.nodes, where)
        edges = self.edges[step.node]
        if len(step.grad_inputs) not in (0, edges):
            raise Damaged(f"{where} has {len(step.grad_inputs)} gradients for {edges} edges")
        self._saved(step.saved, where)
        for delivery in step.deliveries:
            _within(delivery.output, edges, where)
            _within(delivery.node, self.nodes, where)
            _within(delivery.input_nr, _MOST, where)
            _within(delivery.dependencies_left, _MOST, where)
        _all_within(step.made, self.nodes, where)
        self._error(step.error)

    def _error(self, error: ErrorRecord | None) -> None:
        for _, place in error.places if error else ():
            self._place(place, "an error")

    def _operands(self, operands: Iterable[Operand], where: str) -> None:
        for operand in operands:
            self._ref(operand.ref, where)

    def _saved(self, saved: tuple[SavedRecord, ...] | tuple[SavedUse, ...], where: str) -> None:
        for one in saved:
            self._ref(one.ref, where)

    def _ref(self, ref: TensorRef | None, where: str) -> None:
        if ref is not None and not (0 <= ref.tensor < self.tensors and 0 <= ref.version < _MOST):
            raise Damaged(f"{where} refers to a tensor that does not exist")

    def _edge_list(self, edges: tuple[EdgeRecord, ...], before: int, where: str) -> None:
        """Edges lead backwards on the tape, so that following them ends."""
        for node, input_nr in edges:
            if node is not None and not 0 <= node < before:
                raise Damaged(f"an edge of {where} leads to a node that does not come before it")
            _within(input_nr, _MOST, where)

    def _node_id(self, node: int | None, where: str) -> None:
        if node is not None and not 0 <= node < self.nodes:
            raise Damaged(f"{where} refers to a node that does not exist")

    def _tensor_id(self, tensor: int | None, where: str) -> None:
        if tensor is not None and not 0 <= tensor < self.tensors:
            raise Damaged(f"{where} refers to a tensor that does not exist")

    def _place(self, place: Place | None, where: str) -> None:
        if place is not None and not (
            1 <= place.line <= place.end_line < _MOST and 0 <= place.column < _MOST and 0 <= place.end_column < _MOST
        ):
            raise Damaged(f"{where} has an impossible position")


def _same(found: int, expected: int, where: str) -> None:
    if found != expected:
        raise Damaged(f"{where} is numbered {found:d}"[:60])


def _within(number: int, end: int, where: str) -> None:
    if not 0 <= number < end:
        raise Damaged(f"{where} has a number out of range")


def _all_within(numbers: Iterable[int], end: int, where: str) -> None:
    for number in numbers:
        if not 0 <= number < end:
            raise Damaged(f"{where} has a number out of range")
