"""Names of the tensors inside of a call: the user's local variables, else the expressions that computed them."""

from __future__ import annotations

from microtape.recording.model.model import Operand, TensorRef
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.insides.walk import InnerStep, Insides
from viz.planning.display_names import NAME_WIDTH, call_title, code_at, tensor_name

EXPRESSION_WIDTH = 18  # a longer expression is named after its operation: `mul(…)`
LINE_WIDTH = 46


class InnerNames:
    """The names in one picture."""

    def __init__(self, now: Moment, insides: Insides) -> None:
        self._now = now
        self._steps = insides.steps
        self._made: dict[TensorRef, InnerStep] = {}
        for one in insides.steps:
            if one.step.kind == "operation":
                self._made.update((out.ref, one) for out in one.step.outputs if out.ref is not None)

    def operand(self, operand: Operand, at: InnerStep) -> str:
        """The name of an operand of a step, or the text of a constant."""
        return visible(operand.text, NAME_WIDTH) if operand.ref is None else self.tensor(operand.ref, at)

    def tensor(self, ref: TensorRef, at: InnerStep) -> str:
        """The name of a tensor at a step: of the variable, else the expression that computed it, else its shape."""
        name = _variable(ref, at) or _variable(ref, at, any_version=True)
        if name:
            return visible(name, NAME_WIDTH)
        made = self._made.get(ref)
        if made is None or made.number >= at.number:
            return tensor_name(self._now, ref)
        later = self.result(ref, made)
        if later and not self._now.recording.tensors[ref.tensor].name:
            return later
        code = code_at(self._now.recording, made.step.place, 200) if made.step.place is not None else ""
        return code if 0 < len(code) <= EXPRESSION_WIDTH else f"{visible(made.step.op, NAME_WIDTH)}(…)"

    def result(self, ref: TensorRef, made: InnerStep) -> str:
        """The variable that a result was assigned to in the function that computed it; empty if there is none."""
        function = made.step.place.function if made.step.place is not None else ""
        for one in self._steps[made.number + 1 :]:
            if one.call.id == made.call.id and one.step.place is not None and one.step.place.function == function:
                name = _variable(ref, one)
                if name:
                    return visible(name, NAME_WIDTH)
        return ""

    def title(self, one: InnerStep) -> str:
        """An operation as a line of code: `inside = bitwise_and(x >= lo, x <= hi)`."""
        step = one.step
        op = step.op + ("_" if step.in_place and not step.op.endswith("_") else "")
        names = [self.result(out.ref, one) if out.ref is not None else "" for out in step.outputs]
        if step.in_place and step.operands and step.operands[0].ref is not None:
            names = [_variable(step.operands[0].ref, one, any_version=True)]
        called = call_title(
            ", ".join(name or "_" for name in names) or "_", op, [self.operand(two, one) for two in step.operands]
        )
        return called if any(names) else called.partition(" = ")[2]

    def line(self, one: InnerStep, default: str) -> str:
        """The source line of a return, if it is one."""
        place = one.step.place
        lines = self._now.recording.sources.get(place.file, "").split("\n") if place is not None else []
        text = lines[place.line - 1].strip() if place is not None and place.line <= len(lines) else ""
        return visible(text, LINE_WIDTH) if text.startswith("return ") else default


def _variable(ref: TensorRef, at: InnerStep, *, any_version: bool = False) -> str:
    """The local variable that holds the tensor at a step."""
    for one in at.step.variables:
        held = one.value.ref
        is_it = held is not None and (held == ref or (any_version and held.tensor == ref.tensor))
        if is_it and not one.name.startswith("ctx."):
            return one.name
    return ""
