"""What the backward of a custom Function returned: no gradient where one is needed, too many, or of another shape."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from microtape.recording.findings.finding import Finding, FindingKind, Severity
from microtape.recording.findings.program import Program
from microtape.recording.findings.returns import Returned, is_none
from microtape.recording.findings.wording import at, count, headline, indexed
from microtape.recording.model.dtypes import bits_of, kind_of
from microtape.recording.model.formatting import format_number, format_shape
from microtape.recording.model.model import ArgumentRecord, JacobianCheck, Operand, TensorRecord, TensorRef, Value
from microtape.recording.model.source import is_installed


def gradients_of_functions(program: Program) -> Iterator[Finding]:
    """One finding for each Function, argument and fault."""
    known: dict[tuple[str, str, str], tuple[Finding, int]] = {}
    for one in program.returned:
        for argument, gradient in zip(one.function.arguments, one.gradients, strict=False):
            found = _finding(program, one, argument, gradient)
            if found is not None and not _is_for_others(found):
                key = program.node(one.step.node).op, argument.name, found.kind
                before, times = known.get(key, (found, 0))
                known[key] = before, times + 1
    for found, times in known.values():
        often = (f"So it is in {times:,} steps of the recorded passes.",) if times > 1 else ()
        yield found._replace(explanation=(*found.explanation, *often))


def _is_for_others(found: Finding) -> bool:
    """Whether a finding says only how an installed package hands over a gradient that is not known to be wrong."""
    is_mild = found.severity == "notice" or (found.kind == "fitted gradient" and found.severity == "warning")
    return is_mild and is_installed(found.place)


def misfits(program: Program) -> set[tuple[int, int, int]]:
    """The gradients of a shape that nobody meant: the pass (its `index`), the node and the edge."""
    return {
        (program.recording.passes[one.pass_].index, one.step.node, argument.edge)
        for one in program.returned
        for argument, gradient in one.needed
        if argument.edge is not None
        and (found := _fitted(program, one, argument, gradient)) is not None
        and found.severity != "notice"
    }


def _finding(program: Program, one: Returned, argument: ArgumentRecord, gradient: Operand) -> Finding | None:
    if argument.edge is None:
        return None
    if argument.needs_gradient:
        return _missing(program, one, argument) if is_none(gradient) else _fitted(program, one, argument, gradient)
    return None if is_none(gradient) else _unneeded(program, one, argument, gradient)


def _missing(program: Program, one: Returned, argument: ArgumentRecord) -> Finding | None:
    """None for an argument that needs a gradient, unless forward is known not to depend on it."""
    function, name = _backward(program, one), argument.name
    jacobians = _jacobians(program, one, argument)
    if jacobians and not any(check.wrong for check in jacobians):
        return None
    lines = [
        f"{_subject(program, argument)} requires grad, so its gradient is needed. None counts as 0 for all that it was "
        "computed from."
    ]
    severity: Severity = "warning"
    if one.stops:
        severity = "notice"
        lines.append("It returns None for every argument that needs a gradient: perhaps it stops it on purpose.")
    elif jacobians:
        severity = "error"
        lines.append(_largest(program, jacobians, argument))
    text = headline(
        f"{function} returns None for {name}, which needs a gradient: {at(one.place)}",
        f"{function} returns None for {name}: {at(one.place)}",
        f"No gradient for {name} is returned at {at(one.place)}",
    )
    remedy = f"Return the derivative by {name} at its place; if there is none, pass {name}.detach()."
    return _made(program, one, "missing gradient", severity, text, lines, remedy)


def _unneeded(program: Program, one: Returned, argument: ArgumentRecord, gradient: Operand) -> Finding | None:
    """A gradient that backward has computed by operations of its own for an argument that needs none."""
    tensor = gradient.ref.tensor if gradient.ref is not None else None
    others = {other.ref.tensor for _, other in one.needed if other.ref is not None}
    tensors = program.recording.tensors
    work = [
        step
        for step in one.call.steps
        if step.kind == "operation"
        and any(out.ref and tensor in (out.ref.tensor, tensors[out.ref.tensor].base) for out in step.outputs)
    ]
    if tensor is None or tensor in others or not work:
        return None
    size, name = math.prod(tensors[tensor].shape), argument.name
    text = headline(
        f"{_backward(program, one)} computes a gradient for {name} that nobody needs: {at(work[-1].place)}",
        f"A gradient for {name} is computed that nobody needs: {at(work[-1].place)}",
    )
    position = one.function.arguments.index(argument)
    lines = [f"{_subject(program, argument)} does not require grad, so {count(size, 'number')} "
             f"{'was' if size == 1 else 'were'} computed by {work[-1].op} and dropped."]  # fmt: skip
    remedy = f"Compute it only `if ctx.needs_input_grad[{position}]`, and return None otherwise."
    found = _made(program, one, "unneeded gradient", "notice", text, lines, remedy)
    return found._replace(place=work[-1].place or found.place)


def _fitted(program: Program, one: Returned, argument: ArgumentRecord, gradient: Operand) -> Finding | None:
    """A gradient of another shape or dtype than its argument."""
    fitted = one.step.grad_inputs[argument.edge] if argument.edge is not None else None
    if gradient.ref is None or fitted is None:
        return None
    tensors, given = program.recording.tensors, argument.value.ref
    record = tensors[gradient.ref.tensor]
    dtype = tensors[given.tensor].dtype if given is not None else str(fitted.dtype)  # numpy lacks some of PyTorch's
    if record.shape != fitted.shape:
        return _summed(program, one, argument, record, fitted)
    if record.dtype != dtype:
        return _cast(program, one, argument, record, dtype)
    return None


def _summed(program: Program, one: Returned, argument: ArgumentRecord, record: TensorRecord, fitted: Value) -> Finding:
    """Of a larger shape: right for an argument that forward has broadcast, a mistake elsewhere."""
    came, wanted = format_shape(record.shape), format_shape(fitted.shape)
    function, name, node = _backward(program, one), argument.name, program.node(one.step.node)
    refs = (
        *(ref for ref in node.outputs if ref is not None),
        *(a.value.ref for a in one.function.arguments if a.value.ref),
    )
    is_known = any(program.recording.tensors[ref.tensor].shape == record.shape for ref in refs)
    checked = _is_right(program, one, argument)
    is_right = is_known or checked is True
    text = headline(
        f"{function} returns {came} for {name}, which is {wanted}; it was summed: {at(one.place)}",
        f"The gradient for {name}, {came} for {wanted}, was summed: {at(one.place)}",
    )
    lines = [f"The engine has summed the gradient from {came} to {wanted}, as it does for a broadcast argument."]
    if is_right:
        lines.append("The sum is right; it is only not in sight.")
    elif not is_known:
        lines.append(f"No output and no argument is {came}: an operation in backward broadcasts, and is not meant to.")
    if checked is False:
        lines.append("The sum is wrong: finite differences contradict it.")
    remedy = (
        f"Sum it in backward: `grad.sum_to_size({name}.shape)` or `.sum(dim)`."
        if is_right
        else f"Look for the operation in backward that makes {came}, and give the gradient the shape of {name}."
    )
    severity: Severity = "notice" if is_right else "warning" if checked is None else "error"
    return _made(program, one, "fitted gradient", severity, text, lines, remedy)


def _cast(program: Program, one: Returned, argument: ArgumentRecord, record: TensorRecord, dtype: str) -> Finding:
    """Of another dtype: a mistake if digits or fractions were lost before the engine converted it.

    An output of fewer digits has lost them before, as in a program of mixed precision.
    """
    function, name = _backward(program, one), argument.name
    kind = kind_of(record.dtype)
    outputs = {program.recording.tensors[ref.tensor].dtype for ref in program.node(one.step.node).outputs if ref}
    loses = kind not in "fc" or (bits_of(record.dtype) < bits_of(dtype) and record.dtype not in outputs)
    text = headline(
        f"{function} returns {record.dtype} for {name}, which is {dtype}: {at(one.place)}",
        f"The gradient for {name} is {record.dtype}, not {dtype}: {at(one.place)}",
    )
    lines = [f"The engine has converted the gradient for {name} from {record.dtype} to {dtype}."]
    if kind in "biu":
        lines.append(f"{record.dtype} has no fractions: they were lost before.")
    elif bits_of(record.dtype) < bits_of(dtype):
        lines.append(f"{record.dtype} has fewer digits: they were lost before.")
    else:
        lines.append("Nothing is lost, but backward computes with more digits than the argument has.")
    remedy = f"Compute in the dtype of {name}: start from grad_output, and make constants with `dtype={name}.dtype`."
    return _made(program, one, "fitted gradient", "warning" if loses else "notice", text, lines, remedy)


def _made(
    program: Program, one: Returned, kind: FindingKind, severity: Severity, text: str, lines: Sequence[str], remedy: str
) -> Finding:
    node = program.node(one.step.node)
    others = (("called", node.place),) if node.place is not None else ()
    return Finding(
        kind, severity, text, tuple(lines), remedy, one.place or node.place, one.pass_, one.step.index, node.id, None,
        others,
    )  # fmt: skip


def _backward(program: Program, one: Returned) -> str:
    return f"{program.node(one.step.node).op}.backward"


def _subject(program: Program, argument: ArgumentRecord) -> str:
    """`w`, or `h, passed as w,` where the caller has another name for it."""
    name = program.operand_name(argument.value)
    return name if name == argument.name else f"{name}, passed as {argument.name},"


def _jacobians(program: Program, one: Returned, argument: ArgumentRecord) -> list[JacobianCheck]:
    """The checked Jacobians by an argument, in this step."""
    here = program.recording.passes[one.pass_].index, one.step.node, argument.edge
    every = [check for check in program.recording.jacobians if (check.pass_, check.node, check.edge) == here]
    return [check for check in every if not check.of_gradient]


def _is_right(program: Program, one: Returned, argument: ArgumentRecord) -> bool | None:
    """Whether finite differences agree with this gradient; None if it was not checked."""
    here = program.recording.passes[one.pass_].index, one.step.node, argument.edge
    checks = [check for check in program.recording.checks if (check.pass_, check.node, check.output) == here]
    return all(check.agrees for check in checks) if checks and not any(check.problem for check in checks) else None


def _largest(program: Program, jacobians: Sequence[JacobianCheck], argument: ArgumentRecord) -> str:
    """The derivative that is missing, where it is largest."""
    check = max(jacobians, key=lambda one: float(np.abs(np.asarray(one.numerical)).max(initial=0)))
    numerical = np.asarray(check.numerical)
    row, column = (int(i) for i in np.unravel_index(int(np.abs(numerical).argmax()), numerical.shape))
    output = _element(program, "the output", program.node(check.node).outputs[check.output], row)
    element = _element(program, argument.name, argument.value.ref, column)
    number = format_number(float(f"{numerical[row, column]:.4g}"))
    return f"Running forward at nearby points gives {number} for the derivative of {output} by {element}, not 0."


def _element(program: Program, name: str, ref: TensorRef | None, element: int) -> str:
    """`w[0, 3]`, from the number of an element."""
    shape = program.recording.tensors[ref.tensor].shape if ref is not None else ()
    return indexed(name, tuple(int(i) for i in np.unravel_index(element, shape))) if shape else name
