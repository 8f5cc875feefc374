"""Checks the records of the user's functions that the engine calls."""

from __future__ import annotations

from microtape.recording.file.json_records import Damaged
from microtape.recording.file.references import MOST, References, same, within
from microtape.recording.model.model import CallRecord, CallStep, FunctionRecord, Recording

_DEEPEST = 200  # calls inside of each other; Python allows about as many, and each view goes into them by recursion


def check_calls(recording: Recording) -> None:
    """Raise Damaged if a call refers to what does not exist, or if going into calls would not end soon."""
    _Calls(recording).run()


class _Calls(References):
    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        self.depths: list[int] = []  # how many calls are around each
        self.called: set[int] = set()  # those that a step of another has made

    def run(self) -> None:
        for number, function in enumerate(self.recording.functions):
            self._function(function, f"Function {number}")
        for number, call in enumerate(self.recording.calls):
            self._call(number, call)

    def _function(self, one: FunctionRecord, where: str) -> None:
        within(one.node, self.nodes, where)
        for argument in one.arguments:
            self.operands((argument.value,), where)
            if argument.edge is not None:
                within(argument.edge, self.edges[one.node], where)
        for output in one.outputs:
            if output.argument is not None:
                within(output.argument, len(one.arguments), where)
        self.operands((variable.value for variable in one.attributes), where)

    def _call(self, number: int, call: CallRecord) -> None:
        """An outer call comes before an inner one, so that going outwards or inwards ends."""
        where = f"call {number}"
        same(call.id, number, where)
        self.node_id(call.node, where)
        for index in (call.pass_, call.step, call.left_out):
            within(index or 0, MOST, where)
        if call.outer is not None and not 0 <= call.outer < number:
            raise Damaged(f"{where} refers to an outer call that does not come before it")
        self.depths.append(0 if call.outer is None else self.depths[call.outer] + 1)
        if self.depths[number] > _DEEPEST:
            raise Damaged(f"{where} has more than {_DEEPEST} calls around it")
        self.place(call.place, where)
        within(call.left_out_at, len(call.steps) + 1, where)
        for step in call.steps:
            self._call_step(number, step, where)
        self.error(call.error)

    def _call_step(self, call: int, step: CallStep, where: str) -> None:
        self.place(step.place, where)
        self.operands((*step.operands, *step.outputs, *(variable.value for variable in step.variables)), where)
        self.node_id(step.node, where)
        if step.kind == "call" and step.inner is not None:
            if not call < step.inner < len(self.recording.calls):
                raise Damaged(f"{where} refers to an inner call that does not come after it")
            if step.inner in self.called:  # two in each call make a billion of thirty
                raise Damaged(f"call {step.inner} is made twice")
            self.called.add(step.inner)
        elif step.inner is not None:
            within(step.inner, MOST, where)
