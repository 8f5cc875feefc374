"""One or two sentences about a moment: what the step did and why, with its numbers."""

from __future__ import annotations

import math

from microtape.recording.model.formatting import DIGITS, FEW, digits_of_sum, format_argument, format_shape, format_value
from microtape.recording.model.model import (
    BackwardStep,
    Delivery,
    ErrorRecord,
    NodeRecord,
    Operand,
    Pass,
    TensorRef,
    Value,
)
from microtape.recording.model.summary import is_finite
from tui.shell.spans import Line, Role, Span, line, sentence_list
from tui.time.cursor import StepCursor
from tui.time.phases import Phase
from tui.words.functions.contract import arrived_at, contract_at, defined
from tui.words.hook_effects import before_hooks, hook_name, on_arrival, on_leaving
from tui.words.titles import output_title, title
from tui.words.worked_rule import derivatives

WIDTH = 28  # of a number or array inside a sentence
_MOST_LEAVES = 5  # whose gradients are named one by one
_MOST_IN_A_HEADING = 2  # which is one line
LISTED = 48  # of an array with few numbers, which are all listed


def sentence(cursor: StepCursor, *, forward_key: str = "") -> Line:
    """A sentence about the cursor's moment; before the first step, it says what the key that steps forward will do."""
    return _Writer(cursor, forward_key).write()


def computed(cursor: StepCursor, node: int) -> Line:
    """A sentence about an operation: its result, its operands, and the tensors that it keeps for backward."""
    return _Writer(cursor).computed(cursor.timeline.node(node))


def aim(cursor: StepCursor) -> Line:
    """What the pass computes, as a heading: `∂z/∂x and ∂z/∂y, through 3 operations`. Empty without a pass."""
    pass_ = cursor.timeline.pass_
    return _Writer(cursor).aim(pass_, _MOST_IN_A_HEADING) if pass_ is not None else ()


class _Writer:
    def __init__(self, cursor: StepCursor, forward_key: str = "") -> None:
        self.cursor = cursor
        self.forward_key = forward_key

    def write(self) -> Line:
        cursor, pass_ = self.cursor, self.cursor.timeline.pass_
        if cursor.step is not None and cursor.phase is not None:
            return self._inside(cursor.step, cursor.phase)
        if cursor.step is not None:
            return self._backward(cursor.step)
        if cursor.is_forward and cursor.node is None:
            count = len(cursor.timeline.forward)
            return line(
                f"The program has not computed anything yet. It will record {_count(count, 'operation')} on the tape."
            )
        if cursor.is_forward and cursor.node is not None:
            return self.computed(cursor.timeline.node(cursor.node))
        if pass_ is None:
            called = (
                "No backward pass was recorded" if self.cursor.recording.faults else "The program never called backward"
            )
            return line(f"{called}, so there are no backward steps.")
        return self._called()

    def _called(self) -> Line:
        """Backward has been called, and no node has been evaluated: what it computes, and what its first step does."""
        pass_ = self.cursor.timeline.pass_
        assert pass_ is not None
        if pass_.has_failed and pass_.error is not None and not pass_.steps:
            return line(f"{pass_.kind} failed before its first step: ", Span(_first_line(pass_.error), "bad"))
        roots = list(zip((edge.node for edge in pass_.roots), pass_.root_tensors, pass_.seeds, strict=True))
        values = [
            line(*title(self.cursor, node), " = ", self._number(value, "value"))
            for node, ref, _ in roots
            if node is not None and (value := self.cursor.recording.value(ref)) is not None
        ]
        result = line(*sentence_list(values), ". ") if values else ()
        operations = self.cursor.timeline.operations
        computes = line(*result, f"{pass_.kind}() computes ", *self.aim(pass_, _MOST_LEAVES), ".")
        following = self.cursor.next_node
        if following not in self.cursor.ready[:1] or self.cursor.hides_next or not operations:
            return line(*computes, *self._next())
        step = f"The first step ({self.forward_key})" if self.forward_key else "The first step"
        which = "the last of them" if operations > 1 else "it"
        begin = line(*computes, f" {step} visits {which}: ", *title(self.cursor, following))
        given = [seed for node, _, seed in roots if node == following]
        if not given:  # only in an engine with a fault
            return line(*begin, ".")
        root = self._single_root(pass_)
        name = f"∂{root}/∂{root} = " if root else "the seed "
        return line(*begin, ", with ", name, self._number(given[0], "gradient"), ".")

    def aim(self, pass_: Pass, most: int) -> Line:
        """`∂z/∂x and ∂z/∂y`, or `the gradients of z by 28 tensors, w1 to b9`; and whether earlier ones are added to."""
        operations = self.cursor.timeline.operations
        through = f", through {_count(operations, 'operation')}" if operations else ""
        tensors = [one.tensor for one in pass_.captures] or self.cursor.timeline.leaves
        names = dict.fromkeys(self.cursor.tensor_label(tensor) for tensor in tensors)
        root = self._single_root(pass_)
        leaves = [Span(name, "leaf") for name in names]
        if len(leaves) > most:
            what = line(f"the gradients of {root} by " if root else "the gradients of ", _count(len(leaves), "tensor"),
                        ", ", leaves[0], " to ", leaves[-1])  # fmt: skip
        elif root:
            what = sentence_list([line(f"∂{root}/∂", leaf) for leaf in leaves], most)
        else:
            what = line(
                "the gradient of " if len(leaves) == 1 else "the gradients of ",
                *sentence_list([line(leaf) for leaf in leaves], most),
            )
        adds = pass_.kind == "backward" and any(tensor in pass_.grads for tensor in tensors)
        return line(*what, through, f", and adds {'it' if len(names) == 1 else 'them'} to .grad" if adds else "")

    def _single_root(self, pass_: Pass) -> str:
        """The name of the root if it is one number with the seed 1, so that backward computes its plain derivatives."""
        nodes = [root.node for root in pass_.roots]
        label = self.cursor.recording.label(nodes[0]) if len(nodes) == 1 and nodes[0] is not None else "%"
        return "" if label.startswith("%") or not _is_one(pass_.seeds[0]) else label

    def computed(self, node: NodeRecord) -> Line:
        """See the function `computed`."""
        is_function = node.kind == "function"
        kept = dict.fromkeys(
            self.cursor.tensor_name(saved.ref) or (saved.name if is_function else "a constant") for saved in node.saved
        )
        names = sentence_list([line(Span(name, "name")) for name in kept])
        why = line("It keeps ", *names, " for backward.") if kept else line("It keeps no value: backward needs none.")
        return line(*self._result(node), ". ", *why)

    def _result(self, node: NodeRecord) -> Line:
        """`mul computed 6 from x and y`, `softmax computed [0.5, 0.5] from scores, with dim=-1`."""
        every = [line(Span(self._operand(one), "name")) for one in node.operands]
        options = [i for i, one in enumerate(node.operands) if one.ref is None and "=" in one.text]
        written = self._written(node) if node.in_place and every else None
        operands = [one for i, one in enumerate(every) if i != written and i not in options]
        with_ = line(", with ", *sentence_list([every[i] for i in options])) if options else ()
        value = self.cursor.value(node.id)
        result = line(self._number(value, "value") if value is not None else Span("a result that was not kept", "dim"))
        if written is not None:
            others = line(", using ", *sentence_list(operands)) if operands else ()
            before = self.cursor.overwritten(node.id)
            change = line(" from ", self._number(before, "value")) if before is not None else ()
            changed = line(" changed ", *every[written], " in place", *change, " to ", *result)
            return line(Span(node.op, "op"), *changed, *others, *with_)
        given = line(" from ", *sentence_list(operands)) if operands else ()
        results = sentence_list(self._results(node)) if len(node.outputs) > 1 else result
        return line(Span(node.op, "op"), " computed ", *results, *given, *with_)

    def _written(self, node: NodeRecord) -> int:
        """The position of the operand that the operation wrote to: a Function says which."""
        found = self.cursor.timeline.functions.get(node.id)
        dirty = [one.argument for one in found.outputs if one.role == "dirty"] if found is not None else []
        return next((one for one in dirty if one is not None and one < len(node.operands)), 0)

    def _results(self, node: NodeRecord) -> list[Line]:
        """`z = [-0, 2, 0]` for each output that is a tensor; one that gets no gradient is said to be so."""
        found = contract_at(self.cursor, node.id)
        results = []
        for number, ref in enumerate(node.outputs):
            value = self.cursor.recording.value(ref)
            name = Span(self.cursor.output_name(node.id, number), "name")
            is_quiet = found is not None and number < len(found.outputs) and not found.outputs[number].is_differentiable
            if ref is not None:
                shown = line(" = ", self._number(value, "value")) if value is not None else ()
                results.append(line(name, *shown, " (non-differentiable)" if is_quiet else ""))
        return results

    def _backward(self, step: BackwardStep) -> Line:
        node = self.cursor.timeline.node(step.node)
        if step.error is not None:
            return self._failed(node, step, step.error)
        if node.variable is not None:
            return line(*self._accumulate(node, step), *self._next())
        begin = line(*title(self.cursor, node.id), " received ", *self._received(node, step))
        sent = [one for one in step.deliveries if one.term is not None]
        if not sent:
            return line(*begin, "; it sends nothing, because none of its operands gets a gradient.", *self._next())
        rule = derivatives(self.cursor, step)
        terms = [
            line(self._number(one.term, "gradient"), " to ", *output_title(self.cursor, one.node, one.input_nr))
            for one in sent
        ]
        hooked = on_leaving(step)
        by = line(f"; its rule {rule}" if rule else "; it", *hooked, ", sends " if hooked else " sends ")
        return line(
            *begin, *by, *sentence_list(terms), ".",
            *self._sums(sent), *self._waiting(step), *self._made(step), *self._next(),
        )  # fmt: skip

    def _received(self, node: NodeRecord, step: BackwardStep) -> Line:
        """`6 (the sum of 2 terms)`; of a node with several outputs, for which of them each gradient is."""
        several, came = len(step.grad_outputs) > 1, defined(self.cursor, node.id)
        quiet = [number for number, one in enumerate(step.grad_outputs) if one is not None and number not in came]
        known = [number for number, one in enumerate(step.grad_outputs) if one is not None and number in came]
        if not known and not quiet:
            return line("no gradient")
        hooks = on_arrival(step)
        changed: Line = ()
        if hooks:
            names = sentence_list(hook_name(self.cursor, step.node, hook) for hook in hooks)
            changed = line(", which the ", "hook " if len(hooks) == 1 else "hooks ", *names, " changed")
        parts = []
        for number in known:
            count = len(arrived_at(self.cursor, node.id, number))
            whole = f" (the sum of {count} terms)" if count > 1 else ""
            of = line(" for ", Span(self.cursor.output_name(node.id, number), "name")) if several else ()
            after = self._number(step.grad_outputs[number], "gradient")
            before = self._number(before_hooks(self.cursor, step, number), "gradient")
            is_changed = changed and (before != after or len(known) == 1)
            to = (*changed, " to ", after, "," if quiet else "") if is_changed else ()
            parts.append(line(before, *of, whole, *to))
        if quiet:
            names = sentence_list(line(Span(self.cursor.output_name(node.id, one), "name")) for one in quiet)
            parts.append(line("zeros for ", *names))
        return sentence_list(parts)

    def _inside(self, step: BackwardStep, phase: Phase) -> Line:
        """One moment inside a step."""
        name = title(self.cursor, step.node)
        if phase.kind == "take":
            received = self._received(self.cursor.timeline.node(step.node), step)
            return line(*name, " has all its terms. Its input buffer hands over ", *received, ".")
        if phase.kind == "unpack":
            kept = [
                line(Span(use.name, "op"), " = ", self._number(use.value, "value"), _version(use.ref))
                for use in step.saved
            ]
            values, they_have = ("value", "It has") if len(kept) == 1 else ("values", "They have")
            return line(
                *name, f" unpacks the {values} that forward kept: ", *sentence_list(kept),
                f". {they_have} not been modified since.",
            )  # fmt: skip
        if phase.kind == "apply":
            rule = derivatives(self.cursor, step)
            terms = [self._number(one.term, "gradient") for one in step.deliveries]
            applies = f" applies its rule {rule} and gets " if rule else " computes "
            return line(*name, applies, *sentence_list([line(term) for term in terms]), ". Nothing is sent yet.")
        one = step.deliveries[phase.delivery]
        to = output_title(self.cursor, one.node, one.input_nr)
        left = one.dependencies_left
        then = f"It waits for {_count(left, 'more term')}." if left else "It has all its terms: it is ready."
        if one.term is None:
            return line(*to, " receives no gradient (None) from ", *name, f". {then}")
        if one.before is None:
            return line(*to, " receives ", self._number(one.term, "gradient"), f"; its buffer was empty. {then}")
        return line(*to, " has ", *self._sum(one.before, one.term, one.total), f": gradients add up. {then}")

    def _accumulate(self, node: NodeRecord, step: BackwardStep) -> Line:
        name = title(self.cursor, node.id)
        gradient = step.grad_outputs[0] if step.grad_outputs else None
        if gradient is None:
            return line(*name, " is a leaf that received no gradient: its .grad is unchanged.")
        begin = line(*name, " is a leaf, so its gradient goes no further: ")
        for hook in on_arrival(step):
            before, after = (self._number(value, "gradient") for value in (hook.before, hook.after))
            by = hook_name(self.cursor, step.node, hook)
            begin = line(*begin, "the hook ", *by, " changed ", before, " to ", after, ", and ")
        if step.grad_before is None:
            return line(*begin, self._number(gradient, "gradient"), " becomes its .grad, which was None.")
        total = self._sum(step.grad_before, gradient, step.grad_after)
        return line(*begin, "its .grad was not None, so backward adds to it: ", *total, ".")

    def _sums(self, sent: list[Delivery]) -> Line:
        """The sums of gradients of values that were used more than once."""
        sums = [
            line(
                *output_title(self.cursor, one.node, one.input_nr), " has ", *self._sum(one.before, one.term, one.total)
            )
            for one in sent
            if one.before is not None
        ]
        return line(" Gradients of values used more than once add up: ", *sentence_list(sums), ".") if sums else ()

    def _waiting(self, step: BackwardStep) -> Line:
        left = {one.node: one.dependencies_left for one in step.deliveries}
        groups: dict[int, list[Line]] = {}
        for node, count in left.items():
            if count:
                groups.setdefault(count, []).append(title(self.cursor, node))
        waiting = [
            line(
                *sentence_list(nodes),
                f" {'waits' if len(nodes) == 1 else 'each wait'} for {_count(count, 'more term')}",
            )
            for count, nodes in groups.items()
        ]
        return line(" ", *sentence_list(waiting), ".") if waiting else ()

    def _made(self, step: BackwardStep) -> Line:
        if not step.made:
            return ()
        operations, pass_ = _count(len(step.made), "operation"), self.cursor.timeline.pass_
        if pass_ is not None and pass_.create_graph:
            return line(f" Its computation is on the tape too (create_graph): {operations}.")
        return line(f" It recorded {operations} meanwhile, as when a checkpoint recomputes values that were not kept.")

    def _next(self) -> Line:
        ready, following = self.cursor.ready, self.cursor.next_node
        if following is not None and self.cursor.hides_next:
            return ()
        if following is None:
            pass_ = self.cursor.timeline.pass_
            if pass_ is not None and pass_.error is not None and pass_.is_cut_short:
                return line(" The recording of this pass ends here: ", Span(_first_line(pass_.error), "bad"), ".")
            if pass_ is not None and pass_.error is not None:  # in a hook, between two steps
                error = f"{pass_.error.type}: {_first_line(pass_.error)}"
                return line(f" Then {pass_.kind} failed: ", Span(error, "bad"))
            return line(f" That was the last step: {pass_.kind} is done.") if pass_ and pass_.is_complete else ()
        if following not in ready[:1]:  # only in an engine with a fault
            return line(" Next: ", *title(self.cursor, following), ".")
        node = self.cursor.timeline.node(following)
        if len(ready) == 1:
            why = "the only ready node"
        elif node.sequence_nr is None:
            why = "because leaves go first"
        else:
            why = f"the last recorded of {len(ready)} ready nodes"
        return line(" Next: ", *title(self.cursor, following), f", {why}.")

    def _failed(self, node: NodeRecord, step: BackwardStep, error: ErrorRecord) -> Line:
        name = title(self.cursor, node.id)
        stale = next((use for use in step.saved if use.version_now != use.ref.version), None)
        if stale is None:
            return line(*name, " failed: ", Span(f"{error.type}: {_first_line(error)}", "bad"))
        places = dict(error.places)
        modified = f" (line {places['modified'].line})" if "modified" in places else ""
        return line(
            *name, " failed. It kept ", Span(self.cursor.tensor_name(stale.ref) or "a tensor", "name"),
            f" at version {stale.ref.version}, but an in-place operation{modified} has since changed it to ",
            Span(f"version {stale.version_now}", "bad"), ": the value that its derivative needs is gone.",
        )  # fmt: skip

    def _sum(self, before: Value | None, term: Value | None, total: Value | None) -> Line:
        summed = self._number(total, "gradient", digits_of_sum(total, before, term))
        return line(self._number(before, "gradient"), " + ", self._number(term, "gradient"), " = ", summed)

    def _number(self, value: Value | None, role: Role, digits: int = DIGITS) -> Span:
        shape = f" ({format_shape(value.shape)})" if value is not None and value.shape else ""
        text = format_value(
            value, LISTED if value is not None and math.prod(value.shape) <= FEW else WIDTH, digits=digits
        )
        role = "bad" if not is_finite(value) else role
        return Span(text if text[:1] in "[N" else text + shape, role)

    def _operand(self, operand: Operand) -> str:
        if operand.ref is None:
            return format_argument(operand.text)
        name = self.cursor.tensor_name(operand.ref)
        return name or format_value(self.cursor.recording.value(operand.ref), 16)


def _version(ref: TensorRef) -> str:
    """The version of a saved tensor, if it had been written in place before it was saved."""
    return f" (version {ref.version})" if ref.version else ""


def _is_one(value: Value | None) -> bool:
    return value is not None and value.shape == () and format_value(value, 8) == "1"


def _first_line(error: ErrorRecord) -> str:
    return error.message.splitlines()[0] if error.message else error.type


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
