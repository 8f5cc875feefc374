"""The contract of a Function's call, in words: a line for each argument, output and saved tensor, and for its ctx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from microtape.recording.model.contracts import ArgumentLine, Contract, OutputLine, SavedLine, contract_of
from microtape.recording.model.formatting import format_value
from microtape.recording.model.formula_names import is_letter
from microtape.recording.model.model import NodeRecord, Operand, TensorRef, Value
from tui.shell.spans import Line, Role, Span, line
from tui.time.cursor import StepCursor
from tui.time.timeline import Arrival

WIDEST = 28  # characters: the gradients stand below each other, except behind a longer role
MOST = 12  # attributes of ctx
BRIEF = 24  # characters of an attribute's value
PURE = ("differentiable", "no tensor", "no tensors", "needs a gradient")  # nothing to be careful about


def contract_at(cursor: StepCursor, node: int) -> Contract | None:
    """The contract of a node's Function, with its gradients once backward has evaluated it; None for other nodes."""
    function = cursor.timeline.functions.get(node)
    if function is None:
        return None
    step = cursor.timeline.step_of[node] if cursor.has_run(node) else None
    return contract_of(cursor.recording, function, step, defined(cursor, node))


def defined(cursor: StepCursor, node: int) -> frozenset[int]:
    """The numbers of a node's outputs for which a gradient has arrived that is not undefined."""
    return frozenset(one.input_nr for one in cursor.arrived(node) if one.term is not None)


def arrived_at(cursor: StepCursor, node: int, number: int) -> Sequence[Arrival]:
    """The gradients that have arrived for one output of a node."""
    arrived = cursor.arrived(node)
    if len(cursor.timeline.node(node).outputs) < 2:
        return arrived
    return [one for one in arrived if one.input_nr == number]


def contract(cursor: StepCursor, node: int, width: int = 100) -> Iterator[Line]:
    """A line for each argument, output, saved tensor and attribute of ctx; nothing for a node without a contract.

    Once backward has evaluated the node, the lines have the gradients too.
    """
    found = contract_at(cursor, node)
    if found is None:
        return
    ran, room = cursor.has_run(node), max(width // 3, BRIEF)
    computed = ran and (node != cursor.node or cursor.is_over("apply"))
    rows: list[tuple[Line, str, Line]] = []
    for group in grouped(found.arguments):
        sent = line(" → ", *_gradient(group[0].gradient, room)) if computed else ()
        rows.append((names_of(cursor, group), role_of_all(group), sent))
    for one in found.outputs:
        came = line(" ← ", *(line("zeros") if one.is_zeros else _gradient(one.gradient, room))) if ran else ()
        change = f": version {one.before.version} → {one.value.version}" if one.before and one.value else ""
        rows.append((line(Span(one.name, "name")), whole_role(one) + change, came))
    saved = [line(*renamed(cursor, one.name, one.saved.ref), "  ", saved_role(one)) for one in found.saved]
    for label, lines in (("saved", saved), ("ctx", list(context(cursor, found)))):
        rows += [(line(Span(label if i == 0 else "", "label")), "", one) for i, one in enumerate(lines)]
    names = max(_length(name) for name, _, _ in rows)
    roles = max(len(role) if len(role) <= WIDEST else 0 for _, role, _ in rows)
    for name, role, rest in rows:
        padded = role.ljust(roles) if rest and role else role
        yield line(*name, " " * (names - _length(name) + 2), Span(padded, tone(role)), *rest)


def _length(spans: Line) -> int:
    return sum(len(span.text) for span in spans)


def _gradient(value: Value | None, room: int) -> Line:
    return line(Span("None", "dim") if value is None else Span(format_value(value, room), "gradient"))


def grouped(arguments: Iterable[ArgumentLine]) -> Iterator[list[ArgumentLine]]:
    """Each tensor alone, and neighbouring arguments that are no tensors together."""
    return (list(group) for _, group in groupby(arguments, lambda one: one.edge))


def names_of(cursor: StepCursor, group: list[ArgumentLine]) -> Line:
    """`x = y` for a tensor, `lo, hi` for other arguments."""
    if group[0].edge is not None:
        return renamed(cursor, group[0].name, group[0].value.ref)
    return line(Span(", ".join(one.name for one in group), "op"))


def role_of_all(group: list[ArgumentLine]) -> str:
    """The role that the arguments of a group have in common: `no tensors`."""
    return group[0].role if len(group) == 1 else f"{group[0].role}s"


def whole_role(one: OutputLine) -> str:
    """`non-differentiable (mark_non_differentiable)`: what an output is, and why it gets no gradient."""
    return f"{one.role} ({one.reason})" if one.reason else one.role


def tone(role: str) -> Role:
    """Outputs and arguments without a gradient, and those that share memory with others, stand out."""
    return "dim" if role in PURE else "op"


def renamed(cursor: StepCursor, inside: str, ref: TensorRef | None) -> Line:
    """`x = y`: the name of a tensor inside of the Function or formula, and its name in the program if it is another."""
    name = cursor.tensor_name(ref) if ref is not None else ""
    return line(Span(inside, "op"), *(line(" = ", Span(name, "name")) if name and name != inside else ()))


def kept_name(cursor: StepCursor, node: NodeRecord, inside: str, ref: TensorRef) -> Line:
    """A tensor that a node keeps. Letters of a formula are left out: the rule is shown with the user's names."""
    return line(Span(cursor.tensor_name(ref), "name")) if is_letter(node, inside) else renamed(cursor, inside, ref)


def saved_role(one: SavedLine) -> Span:
    """`intermediate, version 0, now 0`."""
    version, now = one.saved.ref.version, one.version_now
    text = f"{one.role}, version {version}" + ("" if now is None else f", now {now}")
    return Span(text, "dim" if now in (None, version) else "bad")


def context(cursor: StepCursor, found: Contract) -> Iterator[Line]:
    """`lo = -1.0` for each attribute of ctx, then what it promises."""
    for name, value in found.attributes[:MOST]:
        yield line(Span(name, "op"), " = ", *_operand(cursor, value))
    if len(found.attributes) > MOST:
        yield line(Span(f"and {len(found.attributes) - MOST} more attributes", "dim"))
    yield line(Span("; ".join(found.promises), "dim"))


def _operand(cursor: StepCursor, operand: Operand) -> Line:
    """A constant's text; a tensor's name, or its value if it has none."""
    if operand.ref is None:
        return line(operand.text)
    if name := cursor.tensor_name(operand.ref):
        return line(Span(name, "name"))
    value = cursor.recording.value(operand.ref)
    return line(Span("a tensor", "dim") if value is None else Span(format_value(value, BRIEF), "value"))
