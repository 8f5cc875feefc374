"""A step of a call as a box: the call's beginning with its arguments, an operation, what was unpacked, its end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from microtape.recording.model.calls import CallRecord, FunctionRecord
from microtape.recording.model.contracts import output_name, role_of
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import BackwardStep, Operand, Recording, TensorRef, Value
from microtape.recording.model.undifferentiable import why_undifferentiable
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Box, BoxKind, BoxState, Cluster, Port, Row, Tone
from viz.basics.options import Detail
from viz.insides.inner_names import InnerNames
from viz.insides.walk import InnerStep, function_of
from viz.planning.display_names import NAME_WIDTH, code_at, location, shape_words
from viz.scene.value_rows import VALUE_WIDTH, value_row

MOST_PORTS = 6
MESSAGE_WIDTH = 58
GRADIENT_CALLS = {"backward", "tensor hook", "node pre-hook", "node post-hook"}  # they get and return gradients
_RETURNS = {
    "tensor hook": "the gradient from here on",
    "node pre-hook": "the gradient from here on",
    "node post-hook": "the gradient from here on",
    "pack hook": "kept in place of the tensor",
    "unpack hook": "what backward gets",
    "jvp": "tangent of the output",
}
_NOTHING = {
    "tensor hook": "None: the gradient stays as it is",
    "node pre-hook": "None: the gradients stay as they are",
    "node post-hook": "None: the gradients stay as they are",
    "post-accumulate hook": "None: what it returns is not used",
    "recomputation": "backward has what it needs",
}


@dataclass(frozen=True, eq=False, slots=True)
class InnerBoxMaker:
    """Makes the boxes of one picture, after `done` of its steps; None is the end, with no current step."""

    now: Moment
    show: Collection[Detail]
    names: InnerNames
    done: int | None

    def box(self, one: InnerStep, rank: int) -> Box:
        """The box of a step."""
        step = one.step
        kind: BoxKind = "operation"
        note, ports = "", list[Port]()
        rows = [Row("", f"… after {one.left_out} steps that were left out", "muted")] if one.left_out else []
        if step.kind == "enter":
            kind, title, ports = "enter", signature(one), list(self._arguments(one))
            rows += [
                Row(var.name, visible(var.value.text, NAME_WIDTH)) for var in step.variables if _is_attribute(var.name)
            ]
        elif step.kind == "unpack":
            kind, title, ports = "unpack", "ctx.saved_tensors", list(self._unpacked(one))
        elif step.kind == "return":
            kind, title, ports = "return", self.names.line(one, "return"), list(self._returned(one))
            rows += self._kept(one)
        elif step.kind == "raise":
            kind, title = "error", visible(step.op, NAME_WIDTH)
            rows += [Row("", visible(one.call.error.message, MESSAGE_WIDTH))] if one.call.error is not None else []
        elif step.kind == "pass":
            kind, title = "seed", "backward()"
            rows += [Row("", f"pass {step.inner + 1} ran in here", "muted")] if step.inner is not None else []
        else:
            title, ports = self.names.title(one), list(self._outputs(one))
            note = self._shape(step.outputs[0].ref) if len(step.outputs) == 1 else ""
            rows += self._result(one)
        if len(ports) == 1:
            told = kind == "enter" or title == f"return {ports[0].title}"
            rows, ports = [*([] if told else [Row("", ports[0].title)]), *ports[0].rows, *rows], []
        if kind in ("enter", "unpack", "return"):
            note = location(self.now.recording, step.place) if step.place is not None else ""
        else:
            rows += self._source(one)
        if self.done is not None and one.number >= self.done:
            rows, ports = _before(rows), [Port(port.title, tuple(_before(port.rows))) for port in ports]
        about = (
            title,
            *(f"{row.key} {row.text}".strip() for row in (*rows, *(row for port in ports for row in port.rows))),
        )
        return Box(f"i{one.number}", kind, self._state(one), title, note, tuple(rows), tuple(ports), about, rank, None,
                   clusters=clusters(one))  # fmt: skip

    def constant(self, ref: TensorRef, at: InnerStep, rank: int) -> Box:
        """The box of a tensor that no step computed: it comes from outside, or from where nothing is recorded."""
        title = self.names.tensor(ref, at)
        state: BoxState = "future" if self.done is not None and at.number >= self.done else ""
        return Box(f"i{at.number}t{ref.tensor}v{ref.version}", "constant", state, title, self._shape(ref),
                   tuple(self._value(Operand(ref, ""))), (), (f"{title} comes from outside",), rank, None,
                   clusters=clusters(at))  # fmt: skip

    def _state(self, one: InnerStep) -> BoxState:
        if one.step.kind == "raise":
            return "failed" if self.done is None or one.number < self.done else "future"
        if self.done is None:
            return ""
        if one.number == self.done - 1:
            return "current"
        return "done" if one.number < self.done else "future"

    def _value(self, operand: Operand, tone: Tone = "plain") -> list[Row]:
        if "values" not in self.show:
            return []
        value = self.now.recording.value(operand.ref)
        if operand.ref is None and operand.text == "None":
            return []
        if value is not None:
            return [value_row("value", value, tone, heat="heat" in self.show)]
        return [Row("value", visible(operand.text, VALUE_WIDTH))] if operand.ref is None else []

    def _shape(self, ref: TensorRef | None) -> str:
        return shape_words(self.now.recording.tensors[ref.tensor].shape) if ref is not None else ""

    def _source(self, one: InnerStep) -> list[Row]:
        place = one.step.place
        if "source" not in self.show or place is None:
            return []
        return [Row(location(self.now.recording, place), code_at(self.now.recording, place, VALUE_WIDTH), "muted")]

    def _result(self, one: InnerStep) -> list[Row]:
        """The value of a result; for a write in place also the old value and the versions."""
        step, rows = one.step, []
        new = step.outputs[0] if len(step.outputs) == 1 else None
        if step.in_place and step.operands and (old := step.operands[0].ref) is not None and new is not None:
            rows = [Row("in place", f"version {old.version} → {new.ref.version}" if new.ref else "", "muted")]
            if "values" in self.show and (before := self.now.recording.value(old)) is not None:
                rows.append(value_row("before", before))
        rows += self._value(new) if new is not None else []
        return [*rows, *([Row("", f"recorded as %{step.node}", "muted")] if step.node is not None else [])]

    def _outputs(self, one: InnerStep) -> Iterator[Port]:
        for number, out in enumerate(one.step.outputs) if len(one.step.outputs) > 1 else ():
            name = self.names.result(out.ref, one) if out.ref is not None else ""
            yield Port(name or f"output {number}", (*self._value(out), *self._type(out)))

    def _type(self, operand: Operand) -> list[Row]:
        return [Row("", shape, "muted")] if (shape := self._shape(operand.ref)) else []

    def _arguments(self, one: InnerStep) -> Iterator[Port]:
        arguments = [var for var in one.step.variables if not _is_attribute(var.name)]
        function = function_of(self.now.recording, one.call.node)
        tone: Tone = "gradient" if one.call.kind in GRADIENT_CALLS else "plain"
        for number, var in enumerate(arguments[:MOST_PORTS]):
            about: list[str] = []
            if one.call.kind == "backward" and len(arguments) == self._output_count(one.call):
                about = self._gradient_of(one.call, function, number, var.value)
            elif one.call.kind == "forward" and function is not None and number < len(function.arguments):
                about = ["needs a gradient"] if function.arguments[number].needs_gradient else []
            yield Port(visible(var.name, NAME_WIDTH), (*(Row("", text, "muted") for text in about),
                                                       *self._value(var.value, tone)))  # fmt: skip
        if len(arguments) > MOST_PORTS:
            yield Port(f"… {len(arguments) - MOST_PORTS} more", ())

    def _output_count(self, call: CallRecord) -> int:
        return len(self.now.recording.nodes[call.node].outputs) if call.node is not None else 0

    def _output(self, call: CallRecord, number: int) -> str:
        """The name of an output of the Function; `the output` if it has no name and is the only one."""
        if call.node is None:
            return f"output {number}"
        node, function = self.now.recording.nodes[call.node], function_of(self.now.recording, call.node)
        name = output_name(self.now.recording, node, number, function)
        return name or ("the output" if len(node.outputs) == 1 else f"output {number}")

    def _gradient_of(self, call: CallRecord, function: FunctionRecord | None, number: int, value: Operand) -> list[str]:
        """Which output an argument of backward is the gradient of, and what was put in place of an undefined one."""
        if call.node is None:
            return []
        step = self._step(call)
        name = self._output(call, number)
        found = [f"gradient of {visible(name, NAME_WIDTH)}"]
        if function is not None and number < len(function.outputs):
            role = function.outputs[number].role
            found += [role] if role == "non-differentiable" else []
        undefined = step is not None and number < len(step.grad_outputs) and step.grad_outputs[number] is None
        if undefined:
            found.append("zeros, as it was undefined" if value.ref is not None else "None: nothing arrived")
        return found

    def _step(self, call: CallRecord) -> BackwardStep | None:
        """The step of backward during which a call ran."""
        passes = (one for one in self.now.recording.passes if one.index == call.pass_)
        return next((step for one in passes for step in one.steps if step.index == call.step), None)

    def _unpacked(self, one: InnerStep) -> Iterator[Port]:
        call, step = one.call, self._step(one.call)
        saved = self.now.recording.nodes[call.node].saved if call.node is not None else ()
        for number, out in enumerate(one.step.outputs):
            name = self.names.result(out.ref, one) if out.ref is not None else ""
            rows: list[Row] = []
            if number < len(saved):
                name = name or visible(saved[number].name, NAME_WIDTH)
                used = [use.version_now for use in step.saved if use.ref == saved[number].ref] if step else []
                then, now = saved[number].ref.version, (used or [saved[number].ref.version])[0]
                about = f"saved at version {then}" + (f", now {now} ✗" if now != then else ", unchanged")
                rows = [Row("", about, "alarm" if now != then else "muted")]
            yield Port(name or f"[{number}]", (*rows, *self._value(out)))

    def _returned(self, one: InnerStep) -> Iterator[Port]:
        """The returned values, each with where it goes: to an argument, to an output, back into the pass."""
        call, outputs = one.call, one.step.outputs
        nothing = all(out.ref is None and out.text == "None" for out in outputs)
        if call.kind == "setup_context" or (nothing and call.kind not in ("backward", "forward")):
            if call.kind in _NOTHING:
                yield Port(_NOTHING[call.kind], ())
            return
        function = function_of(self.now.recording, call.node)
        for number, out in enumerate(outputs[:MOST_PORTS]):
            name = self.names.operand(out, one) if out.ref is not None else ""
            if call.kind == "backward":
                yield self._gradient_for(call, function, number, out, name)
            elif call.kind == "forward" and call.node is not None:
                outer = self._output(call, number)
                why = why_undifferentiable(self.now.recording, self.now.recording.nodes[call.node], number)
                role = ""
                if function is not None and number < len(function.outputs):
                    role = role_of(function, function.outputs[number])
                why_not = _words(why) if "contract" in self.show else ()
                yield Port(f"→ {visible(outer, NAME_WIDTH)}", (*_words(role), *why_not, *self._value(out)))
            else:
                tone: Tone = "gradient" if call.kind in GRADIENT_CALLS else "plain"
                about = _RETURNS.get(call.kind, "")
                yield Port(name or f"output {number}", (*_words(about), *self._value(out, tone)))
        if len(outputs) > MOST_PORTS:
            yield Port(f"… {len(outputs) - MOST_PORTS} more", ())

    def _gradient_for(
        self, call: CallRecord, function: FunctionRecord | None, number: int, out: Operand, name: str
    ) -> Port:
        """A gradient that backward returned, with the argument that it belongs to, and what then arrives there."""
        argument = function.arguments[number] if function and number < len(function.arguments) else None
        to = f"→ {visible(argument.name, NAME_WIDTH)}" if argument is not None else f"→ argument {number}"
        if out.ref is None:
            why = "no tensor" if argument is not None and argument.edge is None else "no gradient"
            return Port(to, (Row("", f"{visible(out.text, NAME_WIDTH)}: {why}", "muted"),))
        rows = self._value(out, "gradient")
        if argument is not None and argument.edge is not None and call.node is not None:
            node, step = self.now.recording.nodes[call.node], self._step(call)
            receiver = node.edges[argument.edge].node if argument.edge < len(node.edges) else None
            sent = step.grad_inputs[argument.edge] if step and argument.edge < len(step.grad_inputs) else None
            if sent is not None and not same(sent, self.now.recording.value(out.ref)):
                rows.append(Row("sent", f"{format_value(sent, VALUE_WIDTH)}", "gradient"))
            if receiver is None:
                rows.append(Row("", "needs no gradient: it goes nowhere", "muted"))
            else:
                label = visible(self.now.recording.label(receiver), NAME_WIDTH)
                rows.append(Row("", f"goes to {label}" + ("" if label.startswith("%") else f" (%{receiver})"), "muted"))
        return Port(f"{name} {to}".strip(), tuple(rows))

    def _kept(self, one: InnerStep) -> Iterator[Row]:
        """At the end of forward, or of setup_context: what was saved, and the attributes of ctx."""
        call, kinds = one.call, {two.kind for two in self.now.recording.calls if two.node == one.call.node}
        if call.node is None or call.kind != ("setup_context" if "setup_context" in kinds else "forward"):
            return
        saved = self.now.recording.nodes[call.node].saved
        versions = (f" v{two.ref.version}" if two.ref.version else "" for two in saved)
        texts = [visible(two.name, NAME_WIDTH) + version for two, version in zip(saved, versions, strict=True)]
        if texts:
            yield Row("saves", visible(", ".join(texts), VALUE_WIDTH))
        function = function_of(self.now.recording, call.node)
        for var in function.attributes if function is not None else ():
            yield Row(f"ctx.{visible(var.name, NAME_WIDTH)}", _short(self.now.recording, var.value))


def signature(one: InnerStep) -> str:
    """How a call begins: `Clip.backward(ctx, g, _g_inside)`."""
    names = [var.name for var in one.step.variables if not _is_attribute(var.name)]
    with_ctx = ["ctx"] if one.call.kind in ("backward", "setup_context", "jvp") else []
    name = one.call.name.rpartition("<locals>.")[2]
    names = [*with_ctx, *names]
    listed = ", ".join(names[:MOST_PORTS]) + (", …" if len(names) > MOST_PORTS else "")
    return f"{visible(name, 2 * NAME_WIDTH)}({visible(listed, 2 * NAME_WIDTH)})"


def clusters(one: InnerStep) -> tuple[Cluster, ...]:
    """The frames around a box: a frame for each call that it is in."""
    return tuple(Cluster(f"c{call.id}", _frame(call)) for call in one.path)


def _frame(call: CallRecord) -> str:
    during = f", in step {call.step + 1} of backward" if call.step is not None and call.outer is None else ""
    return f"{call.kind}{during}"


def same(one: Value, other: Value | None) -> bool:
    """Whether two values are equal in shape, dtype and numbers, as far as they were recorded."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        inexact = {one.dtype.kind, other.dtype.kind} <= set("fc")
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=inexact)
    return other is None or (type(one) is type(other) and one == other)


def _is_attribute(variable: str) -> bool:
    return variable.startswith("ctx.")


def _short(recording: Recording, operand: Operand) -> str:
    value = recording.value(operand.ref)
    return visible(operand.text, VALUE_WIDTH) if value is None else format_value(value, VALUE_WIDTH)


def _words(text: str) -> list[Row]:
    return [Row("", text, "muted")] if text else []


def _before(rows: Sequence[Row]) -> list[Row]:
    """The rows of a step that has not run yet: without values."""
    return [row if row.tone == "muted" else replace(row, text="" if row.key else row.text, heat=None) for row in rows]
