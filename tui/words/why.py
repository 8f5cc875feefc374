"""Explains why a gradient has its value: its terms, for one element, and the node that sent each term."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microtape.recording.findings import findings
from microtape.recording.model.formatting import digits_of_sum, format_value
from microtape.recording.model.formula import element, factor_text, has_element, index_of_largest, index_text, symbols
from microtape.recording.model.formula_names import symbol_values
from microtape.recording.model.model import BackwardStep, Value
from microtape.recording.model.source import expression
from microtape.recording.model.undifferentiable import why_undifferentiable
from tui.shell.spans import Line, Span, line, plain
from tui.time.cursor import StepCursor
from tui.time.node_names import not_here
from tui.time.timeline import Arrival
from tui.words.differences import differences_line
from tui.words.findings import carried, explained, findings_at
from tui.words.functions.contract import arrived_at, contract, kept_name
from tui.words.hook_effects import hook_name, on_arrival, on_leaving
from tui.words.titles import title
from tui.words.why_none import made_at, why_no_grad, why_none
from tui.words.worked_rule import worked_rule

Index = tuple[int, ...]
MOST_PRODUCTS = 4  # products of a sum that are written out


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question: an element of the gradient of a node's output (for a leaf's node, of its `.grad`)."""

    node: int
    index: Index | None  # None if the gradient is missing or only a summary was kept


@dataclass(frozen=True, slots=True)
class Term:
    """One of the terms of a gradient."""

    lines: tuple[Line, ...]
    sender: Subject | None  # the gradient from which it was computed; None for a seed


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: a heading, then the terms, each of which can be followed back."""

    subject: Subject
    heading: tuple[Line, ...]
    terms: tuple[Term, ...]
    left_out: int = 0  # the number of further terms


def subject_named(cursor: StepCursor, text: str) -> Subject:
    """The subject that the user means: `W1`, `W1[0, 3]`, `%7`; an empty text means the current node.

    Of several nodes with a name, it is the current one if that has it, else the last.

    Raises:
        LookupError: the text names no node or no element; the message is for the user.
    """
    match = re.fullmatch(r"\s*(.*?)\s*(?:\[([-\d,\s]*)\])?\s*", text)
    name, wanted = (match[1], match[2]) if match else (text, None)
    nodes = cursor.find(name) if name else frozenset() if cursor.focus is None else frozenset({cursor.focus})
    if not nodes:
        raise LookupError(not_here(cursor.timeline, name) if name else "there is no current node")
    node = cursor.focus if cursor.focus in nodes else max(nodes)  # of several nodes: the current one, else the last
    value = cursor.gradient(node)
    if wanted is None:
        return subject(cursor, node)
    try:
        index = tuple(int(part) for part in wanted.split(",") if part.strip())
    except ValueError:
        raise LookupError(f"[{wanted}] is not an element: write it as [2] or [0, 3]") from None
    shape = value.shape if value is not None else ()
    fits = len(index) == len(shape) and all(-n <= i < n for i, n in zip(index, shape, strict=True))
    if value is not None and not fits:
        raise LookupError(f"{text.strip()} does not exist: the shape is {tuple(shape)}")
    return Subject(node, tuple(i % n for i, n in zip(index, shape, strict=False)) if value is not None else None)


def subject(cursor: StepCursor, node: int, index: Index | None = None) -> Subject:
    """A node's gradient at an element, by default the element farthest from zero."""
    value = cursor.gradient(node)
    if not isinstance(value, np.ndarray) or not value.size or value.dtype.kind != "f":
        return Subject(node, None)
    if has_element(value, index):
        return Subject(node, index)
    return Subject(node, index_of_largest(value))


def move_element(cursor: StepCursor, about: Subject, axis: int, by: int) -> Subject:
    """The next or previous element along an axis (0 is the last axis), clamped at the ends."""
    value = cursor.gradient(about.node)
    if about.index is None or value is None or axis >= len(about.index):
        return about
    at = len(about.index) - 1 - axis
    moved = min(max(about.index[at] + by, 0), value.shape[at] - 1)
    return replace(about, index=(*about.index[:at], moved, *about.index[at + 1 :]))


def why(cursor: StepCursor, about: Subject, limit: int | None = None) -> Answer:
    """The answer at this moment of the pass, with at most `limit` terms.

    An element that the gradient does not have (at another moment, a wrong engine's gradient may have another shape) is
    replaced by the one farthest from zero.
    """
    about = subject(cursor, about.node, about.index)
    if cursor.gradient(about.node) is None:
        return Answer(about, tuple(why_none(cursor, about.node)), ())
    count = len(_arrived(cursor, about.node))
    told = count if limit is None else min(count, limit)
    terms = tuple(_term(cursor, about, i) for i in range(told))
    return Answer(about, tuple(_heading(cursor, about)), terms, count - told)


def label(cursor: StepCursor, about: Subject) -> Line:
    """`W1[0, 3]`, for headings and breadcrumbs."""
    first, *_ = title(cursor, about.node)
    name = Span(first.text.partition(" ")[0], first.role)
    if len(cursor.timeline.node(about.node).outputs) > 1:
        name = Span(cursor.output_name(about.node, cursor.output_shown(about.node)), "name")
    return line(name, Span(index_text(about.index or ())))


def _arrived(cursor: StepCursor, node: int) -> Sequence[Arrival]:
    """The terms of a node's gradient."""
    return arrived_at(cursor, node, cursor.output_shown(node))


def promised(cursor: StepCursor, node: int) -> Iterator[Line]:
    """The contract of a node's Function, below what is said of its gradient."""
    lines = list(contract(cursor, node))
    if lines:
        yield line("")
        yield line("The contract of ", Span(cursor.timeline.node(node).op, "op"), ":")
        yield from (line("  ", *one) for one in lines)


def _heading(cursor: StepCursor, about: Subject) -> Iterator[Line]:
    value, record = cursor.gradient(about.node), cursor.timeline.node(about.node)
    arrived, left = _arrived(cursor, about.node), cursor.dependencies_left(about.node)
    name, pass_ = label(cursor, about), cursor.timeline.pass_
    roots = [cursor.recording.label(root.node) for root in pass_.roots if root.node is not None] if pass_ else []
    of = f"∂{roots[0]}/∂" if len(roots) == 1 else "the gradient of "
    terms = [one.term for one in arrived]
    yield line(Span(of, "strong"), *name, " = ", Span(_sum(value, terms, about.index), "gradient"), _so_far(left))
    hooks = on_arrival(cursor.timeline.step_of[about.node]) if cursor.has_run(about.node) else ()
    if len(arrived) > 1:
        added = " + ".join(_at(one, about.index) for one in terms[:8])
        rest = f" + {len(terms) - 8} more" if len(terms) > 8 else ""
        total = _sum(arrived[-1].total if hooks else value, terms, about.index)
        yield line(f"It is the sum of {len(arrived)} terms, because ", *name, " was used more than once:")
        yield line(Span(f"{added}{rest} = {total}", "gradient"))
    for hook in hooks:
        before, after = (Span(_at(x, about.index), "gradient") for x in (hook.before, hook.after))
        if before != after:
            yield line("The hook ", *hook_name(cursor, about.node, hook), " changed ", before, " to ", after, ".")
    status = cursor.leaf(record.variable) if record.variable is not None else None
    old = pass_.grads.get(record.variable) if pass_ is not None and record.variable is not None else None
    if status is not None and status.state == "complete" and old is not None:
        added = f"{_at(old, about.index)} + {_at(value, about.index)}"
        total = _sum(status.grad, [old, value], about.index)
        yield line(".grad was not None, so backward added to it: ", Span(f"{added} = {total}", "gradient"))


def not_a_leaf_note(cursor: StepCursor, node: int) -> Iterator[Line]:
    """A note that `.grad` of a tensor that is not a leaf stays None, although it has a gradient."""
    record = cursor.timeline.node(node)
    ref = next(iter(record.outputs), None)
    tensor = cursor.recording.tensors[ref.tensor] if ref is not None and record.variable is None else None
    if tensor is not None and tensor.name and not tensor.retains_grad:
        at = f" ({record.place.at})" if record.place is not None else ""
        yield line(
            Span(f"{tensor.name}.grad stays None: it is not a leaf{at}, and retain_grad() was not called on it.", "dim")
        )


def _so_far(left: int) -> Span:
    return Span(f"   so far: {left} more {'term' if left == 1 else 'terms'} to come", "dim") if left else Span("")


def _term(cursor: StepCursor, about: Subject, which: int) -> Term:
    """One term: its value and sender, the sender's rule and kept tensors, a check, and the source line."""
    arrival = _arrived(cursor, about.node)[which]
    if arrival.sender is None:
        return _seed(about, arrival)
    step = cursor.timeline.steps[arrival.step]
    node = cursor.timeline.node(arrival.sender)
    output = _output_of(cursor, about, which)
    same_shape = _shape(arrival.term) == _shape(cursor.gradient(about.node))
    index = about.index if same_shape else None
    sender = title(cursor, node.id)
    first = line(Span(_at(arrival.term, about.index), "gradient"), "  from ", *sender)
    rule, following = _rule_lines(cursor, about, arrival, output, index)
    op = Span(f"   {node.op}", "op") if sender[-1].role != "op" else ""
    lines = [
        line(*first, op, *_for_argument(cursor, node.id, output)),
        *rule,
        *_kept_lines(cursor, step),
    ]
    if checked := differences_line(cursor, step, output, index):
        lines.append(line("  ", *checked))
    if node.place is not None:
        where = f"  {node.place.at}  "
        lines.append(line(Span(where, "dim"), Span(expression(cursor.recording, node.place), "strong")))
    return Term(tuple(lines), subject(cursor, node.id, following))


def _for_argument(cursor: StepCursor, node: int, edge: int) -> Line:
    """`, for its argument x`, if a Function sent the term."""
    function = cursor.timeline.functions.get(node)
    names = [one.name for one in function.arguments if one.edge == edge] if function is not None else []
    return line(", for its argument ", Span(names[0], "op")) if names else ()


def _seed(about: Subject, arrival: Arrival) -> Term:
    number = Span(_at(arrival.term, about.index), "gradient")
    is_scalar = not _shape(arrival.term)
    why_one = "The derivative of a number with respect to itself is 1." if is_scalar else ""
    return Term((line(number, "  is the seed, where backward begins. ", Span(why_one, "dim")),), None)


def _output_of(cursor: StepCursor, about: Subject, which: int) -> int:
    """The index of the sender's gradient that became the term: a step may send several to the same input."""
    arrived = _arrived(cursor, about.node)
    arrival = arrived[which]
    first_of_step = which
    while first_of_step and arrived[first_of_step - 1].step == arrival.step:
        first_of_step -= 1
    deliveries = cursor.timeline.steps[arrival.step].deliveries
    outputs = [one.output for one in deliveries if (one.node, one.input_nr) == (about.node, arrival.input_nr)]
    return outputs[min(which - first_of_step, len(outputs) - 1)]


def _rule_lines(
    cursor: StepCursor, about: Subject, arrival: Arrival, output: int, index: Index | None
) -> tuple[list[Line], Index | None]:
    """The sender's rule with its numbers, and the element of the sender's gradient from which the term was computed."""
    step = cursor.timeline.steps[arrival.step]
    found = worked_rule(cursor, step, output, index)
    if found is None:
        return [], None
    rule = line(Span("  by its rule ", "dim"), Span(found.text, "op"))
    products = _products(cursor, arrival.step, output, index)
    if products is not None:
        text, largest = products
        return [line(*rule, Span(f" = {text}", "value"))], largest
    numbers = f" = {found.numbers}" if found.numbers and found.numbers != _at(arrival.term, about.index) else ""
    gradient = step.grad_outputs[0] if step.grad_outputs else None
    following = None
    if found.numbers and gradient is not None and index is not None:
        following = _broadcast_index(gradient, _shape(arrival.term), index)
    return [line(*rule, Span(numbers, "value"), *on_leaving(step))], following


def _kept_lines(cursor: StepCursor, step: BackwardStep) -> Iterator[Line]:
    for use in step.saved:
        name = kept_name(cursor, cursor.timeline.node(step.node), use.name, use.ref)
        value = format_value(use.value, 50) if use.value is not None else "gone"
        yield line(Span("  which kept ", "dim"), *name, "  " if plain(name) else "", Span(value, "value"))


def _products(cursor: StepCursor, step_index: int, output: int, index: Index | None) -> tuple[str, Index] | None:
    """For a matrix product: an element, written out as a row times a column, and the index of its largest factor."""
    step = cursor.timeline.steps[step_index]
    node = cursor.timeline.node(step.node)
    order = symbols(node)
    gradient = step.grad_outputs[0] if step.grad_outputs else None
    if order != ("X", "Y") or index is None or len(index) != 2 or not isinstance(gradient, np.ndarray):
        return None
    other = symbol_values(cursor.recording, node, step).get("Y" if output == 0 else "X")
    if not isinstance(other, np.ndarray) or other.ndim != 2 or gradient.ndim != 2:
        return None
    first, second = (gradient, other.T) if output == 0 else (other.T, gradient)
    recorded = next((one.term for one in step.deliveries if one.output == output), None)
    if first.shape[1] != second.shape[0] or not isinstance(recorded, np.ndarray):
        return None
    if recorded.shape != (first.shape[0], second.shape[1]) or not has_element(recorded, index):
        return None
    i, j = index
    left, right = first[i, :], second[:, j]
    every: Any = np.multiply(left, right)
    if not np.isclose(every.sum(), recorded[index], rtol=1e-3, equal_nan=True):
        return None
    ranked = np.argsort(-np.abs(np.nan_to_num(every, nan=np.inf)), kind="stable")[:MOST_PRODUCTS]
    text = " + ".join(f"{factor_text(left[k])} · {factor_text(right[k])}" for k in ranked)
    rest = f" + {len(every) - len(ranked)} smaller products" if len(every) > len(ranked) else ""
    largest_k = int(ranked[0])
    return text + rest, (i, largest_k) if output == 0 else (largest_k, j)


def _broadcast_index(gradient: Value, shape: tuple[int, ...], index: Index) -> Index | None:
    """The element of the gradient from which the rule computed that element of the term."""
    if element(gradient, shape, index) is None:
        return None
    at = index[len(shape) - len(gradient.shape) :] if gradient.shape else ()
    return tuple(0 if size == 1 else i for size, i in zip(gradient.shape, at, strict=True))


def _shape(value: Value | None) -> tuple[int, ...]:
    return () if value is None else value.shape


def _at(value: Value | None, index: Index | None) -> str:
    return format_value(_at_index(value, index), 40)


def _sum(total: Value | None, terms: Sequence[Value | None], index: Index | None) -> str:
    numbers = [_at_index(one, index) for one in (total, *terms)]
    return format_value(numbers[0], 40, digits=digits_of_sum(*numbers))


def _at_index(value: Value | None, index: Index | None) -> Value | None:
    return value[index] if isinstance(value, np.ndarray) and index is not None and has_element(value, index) else value


def subject_or_tensor(cursor: StepCursor, text: str) -> Subject | int:
    """The subject that the user means, or the id of a tensor that has no node on the tape.

    Raises:
        LookupError: the text names neither; the message is for the user.
    """
    name = text.partition("[")[0].strip()
    if (quiet := _undifferentiable(cursor, name)) is not None:
        return quiet
    if not name or cursor.find(name):
        return subject_named(cursor, text)
    found = [one.id for one in cursor.recording.tensors if name in one.names]
    if not found:
        made = " ".join(plain(one) for one in made_at(cursor.recording, name))
        if made:
            raise LookupError(f"no operation on the tape uses {name!r}, so it gets no gradient ({made})")
        raise LookupError(not_here(cursor.timeline, name))
    return found[-1]


def _undifferentiable(cursor: StepCursor, name: str) -> int | None:
    """The last tensor with this name on the tape, if no gradient ever reaches it; else None."""
    for node in sorted(cursor.timeline.by_name.get(name, ()), reverse=True):
        record = cursor.timeline.node(node)
        for number, ref in enumerate(record.outputs):
            if ref is not None and name in cursor.recording.tensors[ref.tensor].names:
                return ref.tensor if why_undifferentiable(cursor.recording, record, number) else None
    return None


def answer_lines(cursor: StepCursor, text: str) -> Iterator[Line]:
    """The whole answer, back to the seed along the largest terms.

    Raises:
        LookupError: the text names nothing; the message is for the user.
    """
    what = subject_or_tensor(cursor, text)
    if isinstance(what, int):
        yield from why_no_grad(cursor, what)
        return
    seen: set[int] = set()
    following: Subject | None = what
    while following is not None and following.node not in seen:
        seen.add(following.node)
        if following is what:
            yield from _wrong_here(cursor, what.node)
        answer = why(cursor, following)
        yield from answer.heading
        if following is what and answer.terms:
            yield from not_a_leaf_note(cursor, what.node)
        for term in answer.terms:
            yield from (line("  ", *one) for one in term.lines)
        if following is what:
            yield from promised(cursor, what.node)
        record = cursor.timeline.node(following.node)
        if not answer.terms or (record.variable is None and not record.outputs):
            return
        following = _main(cursor, following, answer)
        if following is not None:
            yield line("")


def _wrong_here(cursor: StepCursor, node: int) -> Iterator[Line]:
    """The findings about a node; or where its NaN or infinity begins."""
    found = findings(cursor.recording)
    for one in (here := findings_at(cursor, node, found)):
        yield from explained(cursor.recording, one)
    came = carried(cursor, node, found)
    yield from came.lines if came is not None else ()
    for one in came.origins if came is not None else ():
        yield line("It begins here: ", Span(one.headline, "strong"))
    if here or came is not None:
        yield line("")


def _main(cursor: StepCursor, about: Subject, answer: Answer) -> Subject | None:
    """The sender of the largest term."""

    def size(number: int) -> float:
        term = _arrived(cursor, about.node)[number].term
        if isinstance(term, np.ndarray) and term.size and term.dtype.kind == "f":
            there = term[about.index] if has_element(term, about.index) else np.abs(term).max()
            return float("inf") if np.isnan(there) else abs(float(there))
        return 0.0

    return answer.terms[max(range(len(answer.terms)), key=size)].sender
