"""What happens inside the user's functions, in words: their steps, their variables, what becomes of the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from microtape.recording.model.calls import CallKind, CallStep, FunctionRecord, Variable
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import HookCall, Operand, SavedUse, TensorRef, Value
from microtape.recording.model.source import expression
from microtape.recording.model.summary import is_finite
from tui.shell.spans import Line, Span, line
from tui.time.calls import CallCursor

HOOKS: dict[CallKind, str] = {  # the kind of a call, and what `BackwardStep.hooks` calls it
    "tensor hook": "tensor",
    "node pre-hook": "node pre",
    "node post-hook": "node post",
    "post-accumulate hook": "post accumulate",
}
EXPRESSION, BRIEF = 28, 16  # characters of a result's expression, and of an operand's value


class Row(NamedTuple):
    """A step of a call in words."""

    op: str
    operands: str
    result: Line


class Local(NamedTuple):
    """A variable, or the result of a step that has no variable yet."""

    name: str
    value: Value | None  # if it is a tensor
    text: Line


class InsideWords:
    """The words of one call of a function of the user's. `width` is that of a value."""

    def __init__(self, cursor: CallCursor, width: int = 40) -> None:
        self.cursor, self.recording, self.call = cursor, cursor.recording, cursor.call
        self.width = width

    # Steps

    @cached_property
    def rows(self) -> list[Row]:
        """Every step of the call that was kept."""
        return [self._row(at, step) for at, step in enumerate(self.call.steps)]

    @property
    def gap(self) -> str:
        """The line in front of step number `left_out_at`, which says how many steps are missing; empty if none is."""
        count = self.call.left_out
        return f"{count:,} more {'step was' if count == 1 else 'steps were'} not kept" if count else ""

    def _row(self, at: int, step: CallStep) -> Row:
        if step.kind == "enter":
            return Row("enter", "", self._entered(step))
        if step.kind == "return":
            return Row("return", "", self._returned(at, step))
        if step.kind == "raise":
            message = self.call.error.message if self.call.error is not None else ""
            return Row("raise", "", line(Span(f"{step.op}: {' '.join(message.split())}", "bad")))
        if step.kind == "unpack":
            return Row("unpack", "", self._unpacked(at, step))
        operands = ", ".join(self._name(at, one, i) for i, one in enumerate(step.operands))
        if step.kind == "pass":
            return Row(step.op, operands, self._pass(step))
        if step.in_place and step.operands and step.outputs:
            return Row(f"{step.op}_".replace("__", "_"), operands, self._written(at, step))
        if step.kind == "call":
            return Row("call", f"{step.op}({operands})", self._called(at, step))
        return Row(step.op, operands, _listed(self._result(at, step, one) for one in step.outputs))

    def _called(self, at: int, step: CallStep) -> Line:
        """What a call returned."""
        inner = self.cursor.to(at).inner()
        last = inner.end().step if inner is not None else None
        if last is not None and last.kind == "raise":
            return line(Span("raised ", "bad"), Span(last.op, "bad"))
        returned = last.outputs if last is not None and last.kind == "return" else ()
        return _listed(self._result(at, step, one) for one in step.outputs or returned)

    def _entered(self, step: CallStep) -> Line:
        given = _arguments(step)
        if self.call.kind == "backward":
            return _listed(self._received(i, one) for i, one in enumerate(given))
        return _listed(line(Span(one.name, "name"), " = ", self.value(one.value)) for one in given)

    def _received(self, output: int, one: Variable) -> Line:
        """`g = [1, 2] from z`, for an argument of backward."""
        step, function = self.cursor.backward_step, self.function
        begin = line(Span(one.name, "name"), " = ", self.value(one.value, gradient=True))
        if self.call.node is None or (name := self._output(output)) is None:
            return begin
        note = ""
        if function is not None and function.outputs[output].role == "non-differentiable":
            note = ", which is non-differentiable: zeros" if one.value.ref is not None else ""
        elif step is not None and output < len(step.grad_outputs) and step.grad_outputs[output] is None:
            note = ", to which no gradient came: zeros" if one.value.ref is not None else ""
        return line(*begin, Span(" from ", "dim"), Span(name, "name"), Span(note, "dim"))

    def _unpacked(self, at: int, step: CallStep) -> Line:
        return _listed(line(*self._result(at, step, one), Span(self._versions(one.ref), "dim")) for one in step.outputs)

    def _versions(self, ref: TensorRef | None) -> str:
        """`, saved at version 0, now 0`."""
        if ref is None:
            return ""
        step = self.cursor.backward_step
        used: Iterable[SavedUse] = step.saved if step is not None and step.node == self.call.node else ()
        now = next((f", now {one.version_now}" for one in used if one.ref == ref), "")
        return f", saved at version {ref.version}{now}"

    def _written(self, at: int, step: CallStep) -> Line:
        old, new = step.operands[0], step.outputs[0]
        versions = ""
        if old.ref is not None and new.ref is not None:
            versions = f", version {old.ref.version} → {new.ref.version}"
        name = self._name(at, old, 0)
        return line(Span(name, "name"), ": ", self.value(old), " → ", self.value(new), Span(versions, "dim"))

    def _result(self, at: int, step: CallStep, output: Operand) -> Line:
        """`scaled = [-0, 2, 0]`; without a variable, the expression."""
        name = self.assigned(at, output) or self._expression(step)
        return line(Span(name, "name"), " = " if name else "", self.value(output))

    def _pass(self, step: CallStep) -> Line:
        passes = [(i, one) for i, one in enumerate(self.recording.passes) if one.index == step.inner]
        for _, one in passes:
            count = len(one.steps)
            return line("pass ", str(one.index + 1), Span(f", {count} step{'' if count == 1 else 's'}", "dim"))
        return line(Span("a pass that was not kept", "dim"))

    # What becomes of what the function returns

    def _returned(self, at: int, step: CallStep) -> Line:
        kind, outputs = self.call.kind, step.outputs
        if kind == "backward":
            return self._sent(at, outputs)
        if kind in HOOKS:
            return self._hooked(outputs)
        if kind == "setup_context":
            return self._set_up(step)
        if kind == "recomputation":
            if _is_none(outputs):
                return line("stops: all that was saved is computed again")
            return line(*self._values(at, outputs), Span(", computed again", "dim"))
        if kind == "forward":
            return _listed(self._made(at, i, one) for i, one in enumerate(outputs))
        if kind == "jvp":
            return line(*self._values(at, outputs), Span(", the tangents of the outputs", "dim"))
        return line(*self._values(at, outputs),
                    Span(", to be kept" if kind == "pack hook" else ", the saved tensor", "dim"))  # fmt: skip

    def _sent(self, at: int, outputs: Sequence[Operand]) -> Line:
        """`scaled = [-0, 2, 0] to x; None to lo, hi`."""
        function = self.function
        if function is None or len(function.arguments) != len(outputs):
            return self._values(at, outputs)
        found: list[Line] = []
        nothing: list[str] = []
        for argument, one in zip(function.arguments, outputs, strict=True):
            if one.ref is None and one.text == "None" and not argument.needs_gradient:
                nothing.append(argument.name)
                continue
            note = Span("")
            if one.ref is None and one.text == "None":
                note = Span(", which needs a gradient", "warn")
            elif not argument.needs_gradient:
                note = Span(", which needs none", "dim")
            to = line(Span(" to ", "dim"), Span(argument.name, "name"), note)
            found.append(line(*self._item(at, one, gradient=True), *to))
        if nothing:
            found.append(line("None", Span(" to ", "dim"), Span(", ".join(nothing), "name")))
        return _listed(found)

    def _hooked(self, outputs: Sequence[Operand]) -> Line:
        """The gradient before and after a hook."""
        hook = self._hook
        what = ".grad" if self.call.kind == "post-accumulate hook" else "the gradient"
        if hook is None:
            return self._values(0, outputs)
        before, after = (self._text(one, gradient=True) for one in (hook.before, hook.after))
        if before.text == after.text:
            return line("None: " if _is_none(outputs) and what != ".grad" else "", f"{what} stays ", after)
        return line(f"{what} ", before, " becomes ", after)

    @property
    def _hook(self) -> HookCall | None:
        """What the step recorded of this call of a hook."""
        step, call = self.cursor.backward_step, self.call
        kind = HOOKS.get(call.kind)
        same = [
            one.id for one in self.recording.calls
            if (one.kind, one.name, one.pass_, one.step) == (call.kind, call.name, call.pass_, call.step)
        ]  # fmt: skip
        hooks = [one for one in step.hooks if one.kind == kind and one.name == call.name] if step is not None else []
        at = same.index(call.id)
        return hooks[at] if at < len(hooks) else None

    def _set_up(self, step: CallStep) -> Line:
        context = [one for one in step.variables if "." in one.name]
        saved = self.recording.nodes[self.call.node].saved if self.call.node is not None else ()
        found = [line(Span(one.name, "name"), " = ", self.value(one.value)) for one in context]
        if saved:
            names = ", ".join(one.name for one in saved)
            found.append(line("saves ", Span(names, "name")))
        return _listed(found) or line("nothing is kept")

    def _made(self, at: int, index: int, one: Operand) -> Line:
        """`z = [-0, 2, 0], differentiable`, for an output of forward."""
        function = self.function
        role = self.role(function, index) if function is not None and index < len(function.outputs) else ""
        name = self._output(index) or self._name_in(at, one) or ""
        begin = line(Span(name, "name"), " = " if name else "", self.value(one))
        return line(*begin, Span(f", {role}" if role else "", "dim"))

    @staticmethod
    def role(function: FunctionRecord, index: int) -> str:
        """`non-differentiable by mark_non_differentiable`: what an output of a Function is to autograd."""
        output = function.outputs[index]
        argument = function.arguments[output.argument].name if output.argument is not None else "an argument"
        return {
            "non-differentiable": f"non-differentiable ({output.reason})",
            "dirty": f"{argument} itself, dirty",
            "view": f"a view of {argument}",
            "returned unchanged": f"{argument}, returned unchanged",
        }.get(output.role, output.role)

    # Variables

    def variables(self, at: int) -> Iterator[Local]:
        """The result of a step, then the variables. What is new or changed since the step before says so."""
        step, before = self.call.steps[at], self.call.steps[at - 1] if at else None
        if step.kind in ("operation", "call", "unpack") and not step.in_place:
            for result in step.outputs:
                name = self.assigned(at, result) or self._expression(step) or "result"
                yield Local(name, self._known(result), line(self.value(result), Span("  result", "good")))
        if before is None or step.place is None or before.place is None or step.place.function != before.place.function:
            known = None  # the variables of another function
        else:
            known = {one.name: one.value for one in before.variables}
        for one in sorted(step.variables, key=lambda one: "." in one.name):  # the attributes of ctx come last
            text = line(self.value(one.value), *self._version(one.value))
            if known is not None and one.name not in known:
                text = line(*text, Span("  new", "good"))
            elif known is not None and known[one.name] != one.value:
                text = line(*text, Span("  was ", "good"), self.value(known[one.name]))
            yield Local(one.name, self._known(one.value), text)

    def arrays(self, at: int) -> list[tuple[str, Value]]:
        """All arrays of a step with their names, its result first."""
        step = self.call.steps[at]
        found: dict[str, Value] = {}
        for name, value, _ in self.variables(at):
            if value is not None:
                found.setdefault(name, value)
        for i, one in enumerate((*step.outputs, *step.operands)):
            value = self._known(one)
            if value is not None and not any(value is other for other in found.values()):
                found.setdefault(self._name(at, one, -1) or f"value {i + 1}", value)
        return list(found.items())

    def assigned(self, at: int, output: Operand) -> str:
        """The variables that the result of a step was assigned to; empty if it was used at once, or not kept."""
        after = self.call.steps[at + 1 : at + 2]
        if output.ref is None or not after or (self.call.left_out and at + 1 == self.call.left_out_at):
            return ""
        had = {(one.name, one.value.ref) for one in self.call.steps[at].variables}
        return next((one.name for one in after[0].variables
                     if one.value.ref == output.ref and (one.name, one.value.ref) not in had), "")  # fmt: skip

    # Pieces

    @cached_property
    def function(self) -> FunctionRecord | None:
        """What the call of the Function promised."""
        return next((one for one in self.recording.functions if one.node == self.call.node), None)

    def _output(self, index: int) -> str | None:
        """The user's name for an output of the Function; None if there is no such output."""
        function, node = self.function, self.call.node
        if function is None or node is None or index >= len(function.outputs):
            return None
        outputs = self.recording.nodes[node].outputs
        ref = outputs[index] if index < len(outputs) else None
        own = self.recording.tensors[ref.tensor].name if ref is not None else ""
        return own or function.outputs[index].name or (f"output {index}" if len(function.outputs) > 1 else "the output")

    def _name(self, at: int, one: Operand, index: int) -> str:
        """The name of an operand: a variable's, else the expression that computed it, else a tensor's, else a value."""
        if one.ref is None:
            return one.text
        step = self.call.steps[at]
        if step.in_place and index == 0:
            for variable in step.variables:
                if variable.value.ref is not None and variable.value.ref.tensor == one.ref.tensor:
                    return variable.name
        if name := self._name_in(at, one):
            return name
        for earlier in reversed(self.call.steps[:at]):
            if any(output.ref == one.ref for output in earlier.outputs) and (text := self._expression(earlier)):
                return f"({text})" if " " in text else text
        return self.recording.tensors[one.ref.tensor].name or format_value(self._known(one), BRIEF)

    def _name_in(self, at: int, one: Operand) -> str:
        found = [variable.name for variable in self.call.steps[at].variables if variable.value.ref == one.ref]
        return min(found, key=lambda name: ("." in name, "[" in name)) if found and one.ref is not None else ""

    def _expression(self, step: CallStep) -> str:
        text = expression(self.recording, step.place)
        return text if len(text) <= EXPRESSION else ""

    def _values(self, at: int, outputs: Iterable[Operand]) -> Line:
        return _listed(self._item(at, one) for one in outputs)

    def _item(self, at: int, one: Operand, *, gradient: bool = False) -> Line:
        name = self._name_in(at, one) if one.ref is not None else ""
        return line(Span(name, "name"), " = " if name else "", self.value(one, gradient=gradient))

    def _known(self, one: Operand) -> Value | None:
        return self.recording.value(one.ref)

    def value(self, one: Operand, *, gradient: bool = False) -> Span:
        """The value of a tensor, or the text of anything else."""
        if one.ref is None:
            return Span(one.text, "value" if one.text != "None" else "")
        value = self._known(one)
        return Span("not kept", "dim") if value is None else self._text(value, gradient=gradient)

    def _text(self, value: Value | None, *, gradient: bool = False) -> Span:
        if value is None:
            return Span("None")
        return Span(
            format_value(value, self.width), "bad" if not is_finite(value) else "gradient" if gradient else "value"
        )

    @staticmethod
    def _version(one: Operand) -> Line:
        return line(Span(f"  version {one.ref.version}", "dim")) if one.ref is not None and one.ref.version else ()


def _arguments(step: CallStep) -> list[Variable]:
    """The variables at the beginning of a function: its arguments, without ctx."""
    return [one for one in step.variables if "." not in one.name]


def _is_none(outputs: Sequence[Operand]) -> bool:
    return all(one.ref is None and one.text == "None" for one in outputs)


def _listed(items: Iterable[Line]) -> Line:
    found: list[Span] = []
    for item in items:
        found += [Span("; ") if found else Span(""), *item]
    return line(*found)
