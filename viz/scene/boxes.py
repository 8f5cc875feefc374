"""One node of a recording as a box: its title, and rows that show its state at a moment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from microtape.recording.model.formatting import digits_of_sum, format_shape, format_value
from microtape.recording.model.model import NodeRecord, TensorRef, Value
from microtape.recording.model.undifferentiable import why_undifferentiable
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Box, BoxState, Port, Row
from viz.basics.options import Detail
from viz.planning.display_names import (
    NAME_WIDTH,
    code_at,
    formula_text,
    location,
    name_in_forward,
    operation_title,
    shape_words,
    tensor_name,
)
from viz.scene.contract_rows import contract_rows, output_rows
from viz.scene.history_ends import border_rows, border_title, detached_rows, history_end, leaf_history_end, written_rows
from viz.scene.saved_and_hooks import hook_rows, saved_rows, saver_rows
from viz.scene.value_rows import VALUE_WIDTH, value_row, value_text
from viz.scene.write_rows import write_rows

FORMULA_WIDTH = 46
NO_GRADIENT = "no gradient yet"
MOST_PORTS = 6  # of more outputs, which stand side by side, only the tooltip has the values


@dataclass(frozen=True, eq=False)
class BoxMaker:
    """Makes the boxes of one picture."""

    now: Moment
    show: Collection[Detail]
    usual_dtype: str  # of the picture; a box names its dtype only if it differs
    leaves: Mapping[int, TensorRef]  # leaf -> the version used in this picture
    culprits: Mapping[int, Row]  # node -> what is wrong there

    def node(self, node_id: int, rank: int, hidden: int) -> Box:
        """The box of an operation, or of a leaf with its AccumulateGrad; `hidden` neighbours of it are not drawn."""
        node = self.now.recording.nodes[node_id]
        if node.variable is not None:
            return self._leaf(node, node.variable, rank, hidden)
        single = node.outputs[0] if len(node.outputs) == 1 else None
        rows = [*self._culprit(node), *self._about(node)]
        if len(node.outputs) <= 1:
            rows += self._value(single)
            rows += saver_rows(self.now, single) if "saved" in self.show else []
            rows += self._gradient(node.id, 0)
        rows += saved_rows(self.now, node, show="saved" in self.show)
        rows += detached_rows(self.now, node)
        rows += hook_rows(self.now, node, [ref.tensor for ref in node.outputs if ref is not None])
        rows += self._source(node)
        rows += _hidden(hidden)
        return Box(
            id=f"n{node.id}",
            kind="operation",
            state=state_of(self.now, node.id),
            title=operation_title(self.now, node),
            note=self._shape(single.tensor) if single else "",
            rows=tuple(rows),
            ports=tuple(self._port(node, output) for output in range(len(node.outputs)))
            if len(node.outputs) > 1
            else (),
            tooltip=self._tooltip(node),
            rank=rank,
            node=node.id,
            recorded_in=node.pass_,
        )

    def constant(self, ref: TensorRef, rank: int) -> Box:
        """The box of a tensor that needs no gradient, or of a leaf that is not on the tape."""
        tensor = self.now.recording.tensors[ref.tensor]
        if tensor.requires_grad:
            return self._unused(ref, rank)
        found = history_end(self.now, ref)
        title = tensor_name(self.now, ref) if found is None else border_title(self.now, ref, found.border)
        return Box(
            id=f"t{ref.tensor}v{ref.version}",
            kind="border" if found is not None else "constant",
            state="",
            title=title,
            note=self._shape(ref.tensor) if tensor.name or name_in_forward(self.now, ref) or found is not None else "",
            rows=(
                *(border_rows(self.now, found) if found is not None else ()),
                *self._value(ref),
                *(saver_rows(self.now, ref) if "saved" in self.show else ()),
            ),
            ports=(),
            tooltip=(f"{visible(tensor.name, 200) or 'a tensor'} needs no gradient", self._type(ref.tensor)),
            rank=rank,
            node=None,
        )

    def _unused(self, ref: TensorRef, rank: int) -> Box:
        """A leaf used only off the tape, which backward cannot reach."""
        name = visible(self.now.recording.tensors[ref.tensor].name, NAME_WIDTH)
        about = f"{name or 'this leaf'} was used only where nothing was recorded, so backward cannot reach it"
        rows = (*self._value(ref), Row(".grad", NO_GRADIENT, "muted"))
        return Box(f"t{ref.tensor}v{ref.version}", "leaf", "outside", name or "a leaf", self._shape(ref.tensor), rows,
                   (), (about,), rank, None)  # fmt: skip

    def _leaf(self, node: NodeRecord, variable: int, rank: int, hidden: int) -> Box:
        now, tensor = self.now, self.now.recording.tensors[variable]
        ref = self.leaves.get(variable, TensorRef(variable, max(tensor.values, default=0)))
        found = leaf_history_end(now, node.id)
        return Box(
            id=f"n{node.id}",
            kind="leaf",
            state=state_of(self.now, node.id),
            title=visible(tensor.name, NAME_WIDTH) or f"%{node.id}",
            note=self._shape(variable),
            rows=(
                *self._culprit(node),
                *(border_rows(now, found) if found is not None else ()),
                *written_rows(now, ref),
                *self._value(ref),
                *(saver_rows(self.now, ref) if "saved" in self.show else ()),
                *self._arriving(node),
                *self._leaf_gradient(node, variable),
                *hook_rows(now, node, [variable]),
                *_hidden(hidden),
            ),
            ports=(),
            tooltip=(
                f"%{node.id} {visible(node.name, 80)}",
                f"leaf {visible(tensor.name, 200)}: {self._type(variable)}",
                *self._capture(variable),
                f".grad: {NO_GRADIENT if (grad := now.grad(variable)) is None else self._long(grad)}",
            ),
            rank=rank,
            node=node.id,
        )

    def _culprit(self, node: NodeRecord) -> list[Row]:
        """A row that says what is wrong with the node, if anything is."""
        return [self.culprits[node.id]] if node.id in self.culprits else []

    def _about(self, node: NodeRecord) -> list[Row]:
        """Rows about the operation that its title does not cover."""
        tensors, rows = self.now.recording.tensors, []
        if "formulas" in self.show and node.formula:
            rows += [Row("", line, "muted") for line in _formula_lines(formula_text(self.now, node))]
        outputs = [ref for ref in node.outputs if ref is not None]
        base = next((base for ref in outputs if (base := tensors[ref.tensor].base) is not None), None)
        if node.kind == "function":
            rows.append(Row("", "your own Function", "muted"))
        if "contract" in self.show:
            rows += contract_rows(self.now.recording, node)
        if node.kind == "copy_slices":
            rows.append(Row("", "written through a view: inside it, this rule applies;", "muted"))
            rows.append(Row("", "outside it, the gradient passes unchanged", "muted"))
        if base is not None and node.op == "as_strided":
            rows.append(Row("", "the view's new history, which leads to the write", "muted"))
        if (node.in_place or node.kind == "copy_slices") and outputs:
            first = node.operands[0].ref if node.operands else None
            before = first.version if first is not None else max(outputs[0].version - 1, 0)
            rows.append(Row("in place", f"v{before} → v{outputs[0].version}", "muted"))
            rows += write_rows(self.now, node, values="values" in self.show)
        elif base is not None and node.kind != "function":  # the contract of a Function says which argument it is
            rows.append(Row("view of", visible(tensors[base].name, NAME_WIDTH) or "an unnamed tensor", "muted"))
        if node.made_by is not None:
            rows.append(Row("from", f"backward of %{node.made_by} in pass {(node.pass_ or 0) + 1}", "muted"))
        return rows

    def _value(self, ref: TensorRef | None) -> list[Row]:
        if "values" not in self.show or ref is None:
            return []
        value = self.now.recording.value(ref)
        if value is None:
            return []
        return [value_row("value", value, heat="heat" in self.show)]

    def _gradient_row(self, key: str, value: Value | None) -> Row:
        if value is None:
            return Row(key, "None (undefined)", "muted")
        return value_row(key, value, "gradient", heat="heat" in self.show)

    def _gradient(self, node: int, output: int) -> list[Row]:
        now = self.now
        if "gradients" not in self.show or now.pass_ is None or state_of(self.now, node) in ("", "outside"):
            return []
        outputs = now.recording.nodes[node].outputs
        ref = outputs[output] if output < len(outputs) else None
        if ref is not None and not now.recording.tensors[ref.tensor].requires_grad:
            why = why_undifferentiable(now.recording, now.recording.nodes[node], output)
            return [Row("grad", "⊣ non-differentiable", "muted"), *([Row("", why, "muted")] if why else [])]
        step, came = now.step_of(node), now.arrived(node, output)
        if step is not None and output < len(step.grad_outputs):
            return [self._gradient_row("grad", step.grad_outputs[output])]
        if came is None:
            return [Row("grad", NO_GRADIENT, "muted")]
        return [self._sum("grad", node, output)]

    def _sum(self, key: str, node: int, output: int) -> Row:
        """The content of an input buffer: the latest addition, and how many terms are still missing."""
        came = self.now.arrived(node, output)
        assert came is not None
        text = value_text(came.total)
        last, waits = came.delivery, self.now.waits_for(node)
        current = self.now.current
        just_now = current is not None and any(one is last for one in current.deliveries)
        if just_now and last is not None and last.before is not None and last.term is not None:
            addition = _addition(last.before, last.term, came.total)
            if last.before.shape == () and len(addition) <= VALUE_WIDTH:
                text = addition
        if waits:
            text += f"  ({waits} more to come)"
        if came.total is None:
            return Row(key, text, "gradient")
        return value_row(key, came.total, "gradient", heat="heat" in self.show, text=text)

    def _arriving(self, node: NodeRecord) -> list[Row]:
        """The gradient that has arrived at a leaf but is not yet in its `.grad`."""
        now = self.now
        if "gradients" not in self.show or now.pass_ is None or now.step_of(node.id) is not None:
            return []
        asked = any(one.tensor == node.variable for one in now.pass_.captures)
        key = "grad()" if asked and now.pass_.kind == "grad" else "arrived"
        return [self._sum(key, node.id, 0)] if now.arrived(node.id, 0) is not None else []

    def _leaf_gradient(self, node: NodeRecord, variable: int) -> list[Row]:
        now = self.now
        grad = now.grad(variable)
        if "gradients" not in self.show or (now.pass_ is None and grad is None):
            return []
        if grad is None:
            return [Row(".grad", NO_GRADIENT, "muted")]
        row = self._gradient_row(".grad", grad)
        step = now.step_of(node.id)
        if step is not None and step.grad_before is not None and step.grad_before.shape == ():
            term = step.grad_outputs[0] if step.grad_outputs else None
            return [replace(row, text=_addition(step.grad_before, term, grad))]
        return [row]

    def _capture(self, variable: int) -> list[str]:
        captures = self.now.pass_.captures if self.now.pass_ else ()
        return [f"asked for: {self._long(one.value)}" for one in captures if one.tensor == variable]

    def _source(self, node: NodeRecord) -> list[Row]:
        if "source" not in self.show or node.place is None:
            return []
        return [
            Row(location(self.now.recording, node.place), code_at(self.now.recording, node.place, VALUE_WIDTH), "muted")
        ]

    def _port(self, node: NodeRecord, output: int) -> Port:
        """One of several outputs."""
        ref = node.outputs[output]
        ends = ref is not None and not self.now.recording.tensors[ref.tensor].requires_grad
        if len(node.outputs) > MOST_PORTS:
            return Port(f"{output}", (), ends)
        name = f" {tensor_name(self.now, ref)}" if ref is not None else ""
        rows = [Row("", self._shape(ref.tensor), "muted")] if ref is not None else []
        rows += output_rows(self.now.recording, node, output) if "contract" in self.show else []
        return Port(f"{output}:{name}", (*rows, *self._value(ref), *self._gradient(node.id, output)), ends)

    def _shape(self, tensor_id: int) -> str:
        tensor = self.now.recording.tensors[tensor_id]
        shape = shape_words(tensor.shape)
        return shape if tensor.dtype == self.usual_dtype else f"{shape} {visible(tensor.dtype, 16)}"

    def _type(self, tensor_id: int) -> str:
        tensor = self.now.recording.tensors[tensor_id]
        return f"{visible(tensor.dtype, 16)} {format_shape(tensor.shape)}"

    def _long(self, value: Value | None) -> str:
        return format_value(value, 200)

    def _tooltip(self, node: NodeRecord) -> tuple[str, ...]:
        recording = self.now.recording
        lines = [f"%{node.id} {visible(node.name, 80)}"]
        if node.formula:
            lines.append(visible(formula_text(self.now, node), 200))
        for output, ref in enumerate(node.outputs):
            if ref is not None:
                name = visible(recording.tensors[ref.tensor].name, 200) or f"output {output}"
                lines.append(f"{name}: {self._type(ref.tensor)} = {self._long(recording.value(ref))}")
        for output in range(max(len(node.outputs), 1)):
            if (came := self.now.arrived(node.id, output)) is not None:
                lines.append(f"gradient: {self._long(came.total)}")
        if node.place is not None:
            lines.append(f"{visible(node.place.at, 86)} {code_at(recording, node.place, 120)}")
        return tuple(lines)


def state_of(now: Moment, node: int) -> BoxState:
    """How far backward has come with a node."""
    if not now.is_there(node):
        return "absent"
    if now.pass_ is None:
        return ""
    step = now.step_of(node)
    if step is not None and step.error is not None:
        return "failed"
    if now.current is not None:
        if now.current.node == node:
            return "current"
        if any(one.node == node for one in now.current.deliveries):
            return "receiving"
    if step is not None:
        return "done"
    if node in now.ready:
        return "ready"
    if node in now.timeline.evaluates:
        return "future"
    return "" if now.recording.nodes[node].pass_ == now.pass_.index else "outside"


def _addition(before: Value | None, term: Value | None, total: Value | None) -> str:
    summed = format_value(total, VALUE_WIDTH, digits=digits_of_sum(total, before, term))
    return f"{format_value(before, 12)} + {format_value(term, 12)} = {summed}"


def _formula_lines(formula: str) -> list[str]:
    """The operation and its derivatives on separate lines, unless both fit on one."""
    formula = visible(formula, 300)
    parts = [part.strip() for part in formula.split("    ") if part.strip()]
    joined = "   ".join(parts)
    return [joined] if len(joined) <= FORMULA_WIDTH else [visible(part, 2 * FORMULA_WIDTH) for part in parts]


def _hidden(count: int) -> list[Row]:
    return [Row("", f"… and {count} more neighbour{'s' * (count != 1)}", "muted")] if count else []
