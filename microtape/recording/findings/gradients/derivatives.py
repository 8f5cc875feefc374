"""Derivatives that finite differences contradict, if the recorder checked them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.recording.findings.failing.failures import returned_at, write_to
from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.gradients.returned import misfits
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, count, headline, indexed
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import FiniteDifferences, FunctionRecord, JacobianCheck, NodeRecord, Place, Summary
from microtape.recording.model.source import is_installed

_JUMP = 1e3  # times the gradient: no derivative is so much larger
_NEAR = 0.1  # of the largest gradient
_STEP = 5.0  # the same where forward is flat elsewhere: in low precision, the quotient of a jump is not large


def wrong_derivatives(program: Program) -> Iterator[Finding]:
    """One finding for each Function, or line, with a gradient that finite differences contradict."""
    wrong: dict[object, list[FiniteDifferences]] = {}
    explained = misfits(program)
    kept = {one.index for one in program.recording.passes}  # a pass may be left out of a recording, its checks not
    for one in program.recording.checks:
        is_wrong = one.elements and not one.agrees and not one.problem and one.pass_ in kept
        if is_wrong and (one.pass_, one.node, one.output) not in explained:
            node = program.node(one.node)
            wrong.setdefault(node.op if node.kind == "function" else (node.place, node.op), []).append(one)
    for several in wrong.values():
        yield _finding(program, several)
    for op, check in _second(program).items():
        if op not in wrong and check.pass_ in kept:
            yield _second_finding(program, check)


def _second(program: Program) -> dict[str, JacobianCheck]:
    """For each Function whose second derivatives finite differences contradict: the first that they do."""
    found: dict[str, JacobianCheck] = {}
    for one in program.recording.jacobians:
        if one.of_gradient and one.wrong:
            found.setdefault(program.node(one.node).op, one)
    return found


def _second_finding(program: Program, check: JacobianCheck) -> Finding:
    node = program.node(check.node)
    position = next(i for i, one in enumerate(program.recording.passes) if one.index == check.pass_)
    step = program.steps[position].get(node.id)
    place = backward_of(program, node) or node.place
    entry = np.unravel_index(check.wrong[0], check.analytical.shape)
    sent, expected = (format_number(float(np.asarray(one)[entry]) + 0.0) for one in (check.analytical, check.numerical))
    operands = [one for one in node.operands if one.ref is not None]
    of, by = (
        program.operand_name(operands[i]) if i < len(operands) else "an operand" for i in (check.output, check.edge)
    )
    text = headline(
        f"Double backward through {node.op} is wrong at {at(place)}: {sent} instead of {expected}",
        f"Double backward through {node.op} is wrong at {at(place)}",
    )
    lines = (
        f"The gradient for {of} changes with {by}: running backward at nearby points gives {expected}, double backward "
        f"gives {sent}.",
    )
    others = (("called", node.place),) if node.place is not None and place is not node.place else ()
    remedy = (
        "Compute in backward with tensors that keep their history: saved arguments and outputs, no detach(), no numpy, "
        "nothing that forward has computed on the way."
    )
    return Finding(
        "wrong derivative", "error", text, lines, remedy, place, position, step.index if step is not None else None,
        node.id, None, others,
    )  # fmt: skip


def backward_of(program: Program, node: NodeRecord) -> Place | None:
    """The line where the backward of a Function returns; None for other nodes, and if it was not recorded."""
    return program.return_places.get(node.id) or (returned_at(program, node.op) if node.kind == "function" else None)


def _finding(program: Program, several: list[FiniteDifferences]) -> Finding:
    # A layer that scales gradients, and whose factor begins at 0, says more later.
    first = next((one for one in several if np.asarray(one.analytical).any()), several[0])
    node = program.node(first.node)
    position = next(i for i, one in enumerate(program.recording.passes) if one.index == first.pass_)
    step = program.steps[position].get(node.id)
    place = backward_of(program, node) or node.place
    operand = _operand(program, node, first.output)
    sent, expected, index = _worst(program, first)
    function = f"{node.op}.backward" if node.kind == "function" else node.op
    element = indexed(operand, index)
    text = headline(
        f"{function} is wrong at {at(place)}: {element} got {sent}, differences give {expected}",
        f"{function} is wrong at {at(place)}: {sent} instead of {expected}",
        f"{function} is wrong: finite differences contradict it at {at(place)}",
    )
    lines = [
        f"{node.op} at {at(node.place)}: the gradient for {element} is {sent}; running forward at nearby points gives "
        f"{expected}."
    ]
    ratio = _ratio(first)
    if ratio is not None:
        lines.append(f"At every element that was checked it is {ratio} times what it should be.")
    outputs = {one.output for one in several}
    if len(outputs) > 1:
        lines.append(f"{count(len(outputs), 'gradient')} of this node are wrong.")
    severity: Severity = "error"
    if node.kind == "function" and _is_identity(program, node):
        severity = "notice"
        text = headline(f"{node.op} hands its argument on, but changes its gradient: {at(place)}")
        lines.append(
            "A layer that reverses, scales or clips gradients, or solves for an equilibrium, does this on purpose."
        )
    elif node.kind == "function" and not _smooth(first).any() and np.asarray(first.analytical).any():
        severity, text = "notice", _where_flat(function, place, sent, first)
        lines.append("Its forward is flat or jumps there: a straight-through estimator does this on purpose.")
    elif node.kind == "function" and _is_wrong_only_where_flat(first):
        severity, text = "notice" if is_installed(place) else "warning", _where_flat(function, place, sent, first)
        lines.append("It is right wherever forward is not flat: if a straight-through estimator is meant, this is one.")
    elif node.kind == "function" and ratio is None and _is_nearly_right(first):
        severity = "warning"
        lines.append("They are close, as for a forward that stops iterating early, or a backward that approximates.")
    others = (("called", node.place),) if node.place is not None and place is not node.place else ()
    remedy = "Compare the formula in backward with the derivative of forward, for this argument."
    if (overwritten := _overwritten_attribute(program, node, place)) is not None:
        attribute, written = overwritten
        text = headline(
            f"{function} is wrong: {attribute} was overwritten at {at(written)}, after forward",
            f"{function} is wrong: {attribute} was overwritten after forward",
        )
        lines.append(
            f"Attributes of ctx are not watched, so that backward used what {at(written)} made of {attribute}."
        )
        remedy = "Keep it with ctx.save_for_backward, which notices such a write; and write into a .clone() there."
        others, place = (*others, ("modified", written)), place or written
    return Finding(
        "wrong derivative", severity, text, tuple(lines), remedy, place, position,
        step.index if step is not None else None, node.id, None, others,
    )  # fmt: skip


def _where_flat(function: str, place: Place | None, sent: str, check: FiniteDifferences) -> str:
    does = "is flat" if _is_smooth(check).any() else "jumps"
    return headline(
        f"{function} gives {sent} where its forward {does}: {at(place)}",
        f"{function} gives a gradient where its forward {does}",
    )


def _operand(program: Program, node: NodeRecord, edge: int) -> str:
    """The name of what a gradient is for; of a Function without one in the program, the argument's."""
    name = program.operand_name(node.operands[edge]) if edge < len(node.operands) else "an operand"
    function = _function_of(program, node)
    if function is None or not name.startswith(("a tensor (", "%")):
        return name
    return next((one.name for one in function.arguments if one.edge == edge), name)


def _function_of(program: Program, node: NodeRecord) -> FunctionRecord | None:
    return next((one for one in program.recording.functions if one.node == node.id), None)


def _smooth(one: FiniteDifferences) -> npt.NDArray[Any]:
    """The finite differences without those of a jump, which are huge."""
    found: npt.NDArray[Any] = np.asarray(one.numerical, np.float64)[_is_smooth(one)]
    return found


def _is_smooth(one: FiniteDifferences) -> npt.NDArray[np.bool_]:
    """Where the finite differences are not those of a jump."""
    analytical, numerical = np.asarray(one.analytical, np.float64), np.asarray(one.numerical, np.float64)
    is_flat = bool(np.any((numerical == 0) & (analytical != 0)))  # elsewhere, so that a single step may be a jump
    most = (_STEP if is_flat else _JUMP) * np.abs(analytical).max(initial=1e-30)
    found: npt.NDArray[np.bool_] = np.abs(numerical) < most  # neither NaN nor infinity
    return found


def _overwritten_attribute(program: Program, node: NodeRecord, backward: Place | None) -> tuple[str, Place] | None:
    """An attribute of ctx that holds a tensor, and the line that wrote into it when forward had run.

    What backward itself writes, as where it adds up gradients there, comes after what it has read.
    """
    function = _function_of(program, node)
    for one in function.attributes if function is not None else ():
        written = write_to(program, one.value.ref) if one.value.ref is not None else None
        if written is not None and (backward is None or written.function != backward.function):
            return one.name if one.name.startswith("ctx.") else f"ctx.{one.name}", written
    return None


def _is_identity(program: Program, node: NodeRecord) -> bool:
    """Whether forward gives back the numbers that it got; of large arrays, as far as their summaries tell."""
    refs = [one.ref for one in node.operands if one.ref is not None][:1]
    match [program.recording.value(ref) for ref in (*refs, *node.outputs)]:
        case [np.ndarray() as given, np.ndarray() as returned]:
            return np.array_equal(given, returned)
        case [Summary() as given, Summary() as returned]:
            return given == returned
    return False


def _is_wrong_only_where_flat(one: FiniteDifferences) -> bool:
    """Whether only such elements are wrong as forward does not depend on."""
    analytical, numerical = np.asarray(one.analytical, np.float64), np.asarray(one.numerical, np.float64)
    is_steep = numerical != 0
    return (
        bool(is_steep.any())
        and not is_steep.all()
        and np.allclose(analytical[is_steep], numerical[is_steep], rtol=1e-2)
    )


def _is_nearly_right(one: FiniteDifferences) -> bool:
    """Whether all elements are within a tenth of the largest."""
    analytical, numerical = np.asarray(one.analytical, np.float64), np.asarray(one.numerical, np.float64)
    return bool(np.all(np.abs(analytical - numerical) < _NEAR * np.abs(numerical).max(initial=0)))


def _worst(program: Program, one: FiniteDifferences) -> tuple[str, str, tuple[int, ...]]:
    """The gradient and the finite difference at the element where they differ most, and its index."""
    analytical, numerical = np.asarray(one.analytical, np.float64), np.asarray(one.numerical, np.float64)
    apart = np.nan_to_num(np.abs(analytical - numerical), nan=np.inf)
    if (is_smooth := _is_smooth(one) & (apart > 0)).any():  # a jump is told only if there is nothing else
        apart[~is_smooth] = 0
    worst = int(apart.argmax())
    node = program.node(one.node)
    refs = [operand.ref for operand in node.operands if operand.ref is not None]
    shape = program.recording.tensors[refs[one.output].tensor].shape if one.output < len(refs) else ()
    index: tuple[int, ...] = ()
    if shape and one.elements[worst] < np.prod(shape):
        index = tuple(int(i) for i in np.unravel_index(one.elements[worst], shape))
    return format_number(analytical[worst] + 0.0), format_number(numerical[worst] + 0.0), index  # + 0.0: no -0


def _ratio(one: FiniteDifferences) -> str | None:
    """The factor between the gradient and the finite differences, if it is the same at several elements."""
    analytical, numerical = np.asarray(one.analytical, np.float64), np.asarray(one.numerical, np.float64)
    clear = np.abs(numerical) > 1e-6 * np.abs(numerical).max(initial=1e-300)
    if clear.sum() < 2 or not np.isfinite(analytical).all():
        return None
    ratios = analytical[clear] / numerical[clear]
    if not np.allclose(ratios, ratios[0], rtol=1e-3) or not np.allclose(analytical[~clear], 0, atol=1e-6):
        return None
    return format_number(round(float(ratios[0]), 3) + 0.0)  # no -0
