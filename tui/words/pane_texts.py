"""The texts of the panes, as lines of spans: current node, leaves, engine. The trace prints the same lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from microtape.recording.findings import findings
from microtape.recording.model.formatting import digits_of_sum, format_number, format_shape, format_value
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import (
    BackwardStep,
    Delivery,
    ErrorRecord,
    NodeRecord,
    SavedUse,
    TensorRef,
    Value,
)
from microtape.recording.model.source import expression
from microtape.recording.model.undifferentiable import why_undifferentiable
from tui.shell.lesson_names import lesson_of_error
from tui.shell.spans import Line, Role, Span, line, plain, sentence_list
from tui.time.cursor import StepCursor
from tui.words.differences import check_lines
from tui.words.functions.contract import arrived_at, kept_name
from tui.words.functions.contract_rows import ContractRows
from tui.words.hook_effects import before_hooks, hook_rows, on_leaving
from tui.words.leaf_rows import SHORTEST, SUMMED, LeafRows, value_span
from tui.words.sentence import LISTED
from tui.words.titles import output_title, title
from tui.words.versions import copy_slices_lines, view_of, write_line
from tui.words.worked_rule import filled_formula, rule_text, worked_rule

EXPLAINED = ("overwritten", "freed", "wrong return")  # failures whose cause is known, so that there is a way out
LABEL = 9  # the width of the labels on the left
MANY = 12  # the most entries of a list; the rest is only counted


class PaneTexts:
    """The texts of the panes at a moment, in lines of a given width. `limit` shortens long lists (None: never)."""

    def __init__(self, cursor: StepCursor, width: int = 100, *, limit: int | None = MANY) -> None:
        self.cursor = cursor
        self.width = width
        self.limit = limit

    # The node pane

    def node(self) -> Iterator[Line]:
        """The current node: its rule, the gradient it received, the tensors it kept, and the gradients it sent."""
        cursor = self.cursor
        if cursor.focus is None:
            none = "No step of this pass was recorded." if cursor.timeline.rows else "The tape is empty."
            yield line(Span("The next step is hidden until you answer." if cursor.hides_next else none, "dim"))
            return
        node = cursor.timeline.node(cursor.focus)
        if cursor.step is None:
            yield from self.operation(node)
            return
        yield from self._heading(node)
        yield from self._step(node, cursor.step)
        if cursor.part is not None:
            count = len(cursor.phases)
            yield line(self._label(""), Span(f"inside the step: {cursor.part + 1} of {count} phases done", "dim"))

    def operation(self, node: NodeRecord) -> Iterator[Line]:
        """A node that backward has not reached: its operands, its result, and the tensors it keeps."""
        yield from self._heading(node)
        yield from self._operation(node)

    def _heading(self, node: NodeRecord) -> Iterator[Line]:
        """The node's number and names, its line and expression; its rule; and PyTorch's name where it fits."""
        names = ", ".join(list(dict.fromkeys(self.cursor.names(node.id)))[:3])
        begin = line(Span(f"%{node.id}", "strong"), Span(f" {names}" if names else "", "name"))
        if node.place is not None:
            begin = line(*begin, Span(f"  {node.place.at_name}", "strong"))
        text = expression(self.cursor.recording, node.place) or filled_formula(self.cursor, node)
        room = self.width - len(plain(begin)) - len("  ")
        if len(text) > room:
            text = f"{text[: max(room, SHORTEST) - 1].rstrip()}…"
        kind = Span(f"   {node.name}", "leaf" if node.kind == "accumulate" else "dim")
        fits = len(text) + len(kind.text) <= room or not node.formula
        yield line(*begin, Span(f"  {text}" if text else "", "op"), kind if fits else "")
        if rule := rule_text(self.cursor, node):
            yield line(self._label("rule"), Span(rule, "op"), "" if fits else kind)

    def _operation(self, node: NodeRecord) -> Iterator[Line]:
        """A node before backward: its operands, its result, and the tensors it keeps."""
        rows = self._contract(node)
        yield from self._under("operands", self._operands(node) if rows is None else rows.arguments())
        is_own = rows is not None and node.kind == "function"
        yield from self._under("result", rows.results() if rows is not None and is_own else self._results(node))
        if writes := self.cursor.timeline.versions.by_node.get(node.id):
            yield line(self._label("wrote"), *write_line(self.cursor, writes, self.width, values=False))
        yield from self._under("view", copy_slices_lines(self.cursor, node))
        yield from self._under("keeps", self._keeps(node) if rows is None else rows.keeps())
        if rows is not None:
            yield line(self._label("ctx"), *rows.context())
        yield from self._under("gradient", self._gradient_so_far(node))

    def _operands(self, node: NodeRecord) -> Iterator[Line]:
        for operand in node.operands:
            name = () if operand.ref is None else line(Span(self.cursor.tensor_name(operand.ref), "name"))
            value = None if operand.ref is None else self.cursor.recording.value(operand.ref)
            yield line(operand.text) if operand.ref is None else self._named(name, value, "value")

    def _results(self, node: NodeRecord) -> Iterator[Line]:
        before, exists = self.cursor.overwritten(node.id), self.cursor.exists(node.id)
        for number, ref in enumerate(node.outputs):
            about = Span("".join(f"   {one}" for one in self._about_output(node, number)), "dim")
            old = self._array(before, self.width - LABEL, "value") if before is not None and number == 0 else ()
            result = self._of_output(node, number, self.cursor.recording.value(ref), "value")
            shown = line(*old, " → " if old else "", *result) if exists else line(Span("not computed yet", "dim"))
            yield line(*shown, about)

    def _keeps(self, node: NodeRecord) -> Iterator[Line]:
        for saved in node.saved:
            name = kept_name(self.cursor, node, saved.name, saved.ref)
            constant = () if plain(name) else line(self._value(self.cursor.recording.value(saved.ref), LISTED, "value"))
            yield line(*name, *constant, Span(_version(saved.ref), "dim"))

    def _gradient_so_far(self, node: NodeRecord) -> Iterator[Line]:
        """The sums that have arrived at a node that still waits or has not run, for each of its outputs."""
        cursor = self.cursor
        arrived, left = cursor.arrived(node.id), cursor.dependencies_left(node.id)
        if not arrived:
            return
        of = f"   {len(arrived)} of {len(arrived) + left} terms" if left else ""
        sums = cursor.buffer(node.id) if len(node.outputs) > 1 else {0: cursor.gradient(node.id)}
        for number, total in sums.items():
            yield line(*self._of_output(node, number, total), Span(of, "dim"))

    def _about_output(self, node: NodeRecord, output: int) -> Iterator[str]:
        """Whose memory an output is, and why it has no gradient."""
        ref = node.outputs[output] if output < len(node.outputs) else None
        if ref is not None and (whose := view_of(self.cursor, ref.tensor)):
            yield whose
        if why := why_undifferentiable(self.cursor.recording, node, output):
            yield f"no gradient: {why}"

    def _step(self, node: NodeRecord, step: BackwardStep) -> Iterator[Line]:
        rows = self._contract(node)
        yield from self._under("received", self._received(node, step, rows))
        for row in hook_rows(self.cursor, step, self._value):
            yield line(self._label("hook"), *row)
        cursor = self.cursor
        if cursor.is_over("unpack"):
            yield from self._under("kept", (self._saved(node, use, rows) for use in step.saved))
        if node.variable is not None and cursor.is_over("accumulate"):
            yield from self._accumulated(step)
        if cursor.is_over("apply"):
            yield from self._under("sends", self._sent(node, step, rows))
            if rows is not None:
                yield line(self._label("ctx"), *rows.context())
            yield from self._under("view", copy_slices_lines(self.cursor, node))
            yield from (line(self._label("checked"), *one) for one in check_lines(cursor, step))
        if step.error is not None and cursor.is_over("fail"):
            yield from self._error(step.error)
        elif step.freed and cursor.is_over("free"):
            yield line(self._label("freed"), Span("the tensors that it kept", "dim"))
        if step.made and cursor.is_over("free"):
            yield line(self._label("recorded"), *sentence_list([title(self.cursor, n) for n in step.made], 6))

    def _received(self, node: NodeRecord, step: BackwardStep, rows: ContractRows | None) -> Iterator[Line]:
        """The gradient of each output, followed by its terms if it is a sum."""
        for number in range(len(step.grad_outputs)):
            gradient = before_hooks(self.cursor, step, number)
            row = rows.received(number, gradient) if rows is not None else None
            why = why_undifferentiable(self.cursor.recording, node, number)
            about = Span(f"   no gradient: {why}" if why else "", "dim")
            yield line(*self._of_output(node, number, gradient), about) if row is None else row
            yield from self._terms(node, number)

    def _of_output(self, node: NodeRecord, number: int, value: Value | None, role: Role = "gradient") -> Line:
        """A value or gradient of an output, with its name if there are several."""
        name = Span(self.cursor.output_name(node.id, number), "name") if len(node.outputs) > 1 else ""
        return self._named(line(name), value, role)

    def _terms(self, node: NodeRecord, number: int) -> Iterator[Line]:
        """The terms of the gradient of an output, if it is a sum."""
        arrived = arrived_at(self.cursor, node.id, number)
        if len(arrived) < 2:
            return
        for i, one in enumerate(arrived[: self.limit]):
            sender = title(self.cursor, one.sender) if one.sender is not None else line("the seed")
            yield line(Span("= " if i == 0 else "+ ", "label"), self._value(one.term, self.width - 40),
                       Span("  from ", "dim"), *sender)  # fmt: skip
        if self.limit is not None and len(arrived) > self.limit:
            yield line(Span(f"and {len(arrived) - self.limit:,} more terms", "dim"))

    def _saved(self, node: NodeRecord, use: SavedUse, rows: ContractRows | None) -> Line:
        whose = view_of(self.cursor, use.ref.tensor)
        stale = use.version_now != use.ref.version
        text = f"   version {use.ref.version} kept, {use.version_now} now" if stale else _version(use.ref)
        versions = line(Span(text, "bad" if stale else "dim")) if rows is None else rows.saved_as(use)
        view = f", {whose}" if whose else ""
        value = Span("changed since", "bad") if stale else self._value(use.value, self.width - 45, "value")
        name = kept_name(self.cursor, node, use.name, use.ref)
        return line(*name, "  " if plain(name) else "", value, *versions, Span(view, "dim"))

    def _computed(self, step: BackwardStep, one: Delivery) -> Line:
        """`g · y = 5 · 3 = 15`: the rule with this node's names and numbers; of an array, those of one element."""
        found = worked_rule(self.cursor, step, one.output)
        width = max((self.width - LABEL - 30) // 3, SUMMED // 2)
        term = self._value(one.term, 2 * width, listed=True)
        if found is None or one.term is None:
            return () if one.before is not None else line(term)
        rule = line(Span(found.text, "op"), " = ")
        if not found.numbers:
            return line(*rule, term)
        if not one.term.shape and found.numbers == format_value(one.term, 20):
            return line(*rule, term)
        if found.result is None or not found.index:
            return line(*rule, Span(found.numbers, "value"), " = ", term)
        element = Span(f"  ({index_text(found.index)}: {found.numbers} = {format_number(found.result)})", "dim")
        if found.numbers == format_number(found.result):
            return line(*rule, term)
        return line(*rule, term, element)

    def _accumulated(self, step: BackwardStep) -> Iterator[Line]:
        grad = line(Span(".grad", "leaf"), "  ")
        if step.grad_before is None:
            yield line(
                self._label("goes to"),
                *grad,
                "None",
                Span(" becomes ", "dim"),
                self._value(step.grad_after, self.width - 30),
            )
        elif step.grad_outputs:
            yield line(
                self._label("goes to"), *grad, *self._sum(step.grad_before, step.grad_outputs[0], step.grad_after, 22)
            )

    def _sent(self, node: NodeRecord, step: BackwardStep, rows: ContractRows | None) -> Iterator[Line]:
        by_output = {one.output: one for one in step.deliveries}
        yet = len(self.cursor.deliveries)
        to_come = {one.output for one in step.deliveries[yet:]}
        edges = [one for one in enumerate(node.edges[: self.limit]) if one[1].node is not None]
        for output, edge in edges or enumerate(node.edges[:1]):
            argument = rows.argument_of(output) if rows is not None else ()
            delivery = by_output.get(output)
            if edge.node is None:
                yield line(Span("nothing for an operand that needs no gradient", "dim"))
            elif delivery is not None:
                yield line(*argument, *self._delivery(step, delivery, sent=output not in to_come))
            elif step.error is None:
                to = output_title(self.cursor, edge.node, edge.input_nr)
                yield line(*argument, Span("nothing to ", "dim"), *to, Span(": not requested", "dim"))
        if rows is not None and step.error is None:
            yield from rows.not_sent()
        if self.limit is not None and len(node.edges) > self.limit:
            yield line(Span(f"and {len(node.edges) - self.limit:,} more edges", "dim"))

    def _delivery(self, step: BackwardStep, one: Delivery, *, sent: bool) -> Line:
        """The receiver, the gradient by the rule, and the new sum in the receiver's buffer."""
        to = line("→ ", *output_title(self.cursor, one.node, one.input_nr, numbered=True), "  ")
        computed = self._computed(step, one) if one.term is not None else line(Span("nothing (None)", "dim"))
        if not sent:
            return line(Span("not yet ", "dim"), *to, *computed)
        total: Line = ()
        if one.before is not None and one.term is not None:
            added = self._sum(one.before, one.term, one.total, (self.width - LABEL - 30) // 3)
            total = line(",  " if computed else "", *added)
        left = one.dependencies_left
        after = Span(f"   waits for {left} more", "dim") if left else Span("   ready", "good")
        return line(*to, *computed, *on_leaving(step), *total, after)

    def _error(self, error: ErrorRecord) -> Iterator[Line]:
        for role, place in error.places:
            text = expression(self.cursor.recording, place)
            yield line(self._label(role), place.at, Span(f"   {text}", "strong"))
        pass_index = self.cursor.timeline.pass_index
        for one in findings(self.cursor.recording):
            if one.pass_ == pass_index and one.kind in EXPLAINED:
                yield line(self._label("way out"), Span(one.remedy, "good"))
        if lesson := lesson_of_error(self.cursor.recording, error):
            yield line(self._label("see"), Span(lesson, "dim"))
        yield line(self._label("error"), Span(f"{error.type}: {error.message}", "bad"))

    # The leaves pane

    def leaves(self) -> Iterator[Line]:
        """Every leaf with its value and its `.grad` so far, and other tensors with a requested gradient."""
        yield from LeafRows(self.cursor, self.width, self.limit).lines()
        yield from self._rest(len(self.cursor.timeline.collectors), "leaves")

    # The engine pane

    def engine(self) -> Iterator[Line]:
        """The ready queue, and the nodes that wait for more terms."""
        cursor, pass_ = self.cursor, self.cursor.timeline.pass_
        if pass_ is None or cursor.is_forward:
            yield line(Span("The engine is idle until backward is called.", "dim"))
            return
        yield line(
            self._label("ready"),
            *(sentence_list([title(cursor, n) for n in cursor.ready], 6) or (Span("nothing", "dim"),)),
        )
        waiting = cursor.waiting
        for i, node in enumerate(waiting[: self.limit]):
            left = cursor.dependencies_left(node)
            sums = cursor.buffer(node).items()
            has = [line(*output_title(cursor, node, nr), "  ", self._value(total, 24)) for nr, total in sums]
            more = Span(f"  and {left} more to come", "dim")
            yield line(self._label("waiting" if i == 0 else ""), *sentence_list(has), more)
        yield from self._rest(len(waiting), "waiting nodes")
        count = len(pass_.steps) if pass_.is_complete else len(pass_.nodes)
        unfinished = cursor.part is not None or (cursor.step is not None and cursor.step.error is not None)
        done = cursor.steps_done - unfinished
        yield line(self._label("done"), f"{done} of {count} nodes")

    # Pieces

    def _label(self, text: str) -> Span:
        return Span(text.ljust(LABEL), "label")

    def _under(self, label: str, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines, with a label before the first."""
        for i, one in enumerate(lines):
            yield line(self._label("" if i else label), *one)

    def _named(self, names: Line, value: Value | None, role: Role = "gradient") -> Line:
        used = LABEL + sum(len(span.text) for span in names) + 2
        return line(*names, "  " if names else "", *self._array(value, self.width - used, role))

    def _contract(self, node: NodeRecord) -> ContractRows | None:
        return ContractRows.of(self.cursor, node, self.width - LABEL, self._array)

    def _array(self, value: Value | None, width: int, role: Role) -> Line:
        """A value, followed by its shape if the elements are not listed."""
        shape = f"   {format_shape(value.shape)}" if value is not None and value.shape else ""
        span = self._value(value, width - len(shape), role, listed=True)
        return line(span, Span("" if span.text.startswith("[") else shape, "dim"))

    def _value(self, value: Value | None, width: int, role: Role = "gradient", *, listed: bool = False) -> Span:
        """A value; with `listed`, few numbers are all listed, even if the line becomes longer than `width`."""
        return value_span(value, width, role, listed=listed)

    def _sum(self, before: Value | None, term: Value | None, total: Value | None, width: int) -> Line:
        if term is None:
            return line(Span("nothing (None)", "dim"))
        if before is None:
            return line(self._value(term, 2 * width))
        width = max(width, SUMMED)
        summed = value_span(total, width, digits=digits_of_sum(total, before, term))
        return line(self._value(before, width), " + ", self._value(term, width), " = ", summed)

    def _rest(self, count: int, what: str) -> Iterator[Line]:
        if self.limit is not None and count > self.limit:
            yield line(Span(f"{'':{LABEL}}and {count - self.limit:,} more {what}", "dim"))


def _version(ref: TensorRef) -> str:
    """The version of a saved tensor, if it had been written in place before it was saved."""
    return f"   version {ref.version}" if ref.version else ""
