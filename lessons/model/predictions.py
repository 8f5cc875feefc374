"""Predictions: the right answer to a question about the coming steps, read from the recording.

A prediction's `answer` says what to read:

    next             the row that runs next
    gradient NAME    the whole gradient that arrives at NAME
    shape NAME       the shape of that gradient
    grad NAME        a leaf's .grad at the end of the pass; None if it has none
    changes          the leaves whose .grad the rest of the pass changes, or `none`
    succeeds         whether the pass ends without an error: `yes` or `no`

    inside FUNCTION NAME    a variable of a function of the program (`Cube.backward`, a hook) at the end of its next
                            call; `return` is what the function returns, `return 2` the second of several values
"""

from __future__ import annotations

from lessons.model.header import LessonError
from lessons.model.lesson import Prediction
from microtape.recording.model.formatting import format_shape, format_value
from microtape.recording.model.model import BackwardStep, Operand, Pass, Recording, Value

NOTHING = "none"


def right_answer(recording: Recording, prediction: Prediction, *, ascii: bool = False) -> str:
    """The right answer: names, or numbers as the stepper writes them.

    Raises:
        LessonError: the answer is not in the recording.
    """
    if prediction.pass_number > len(recording.passes):
        raise LessonError(f"a prediction asks about pass {prediction.pass_number} of {len(recording.passes)}")
    passes = recording.passes[: prediction.pass_number]
    one = passes[-1]
    if prediction.after >= len(one.steps):
        raise LessonError(f"a prediction asks what comes after step {prediction.after} of {len(one.steps)}")
    kind, _, name = prediction.answer.partition(" ")
    if kind == "next":
        return recording.label(one.steps[prediction.after].node)
    if kind == "succeeds":
        return "yes" if one.is_complete else "no"
    if kind == "changes":
        changed = [recording.label(step.node) for step in one.steps[prediction.after :] if step.grad_after is not None]
        return ", ".join(sorted(changed)) or NOTHING
    if kind == "grad":
        return format_value(_grad(recording, passes, name), 60, ascii=ascii)
    if kind == "inside":
        found = _inside(recording, one, prediction.after, name)
        return found.text or format_value(recording.value(found.ref), 60, ascii=ascii)
    arrived = _gradient(recording, one.steps, name)
    return format_shape(arrived.shape, ascii=ascii) if kind == "shape" else format_value(arrived, 60, ascii=ascii)


def is_given_away(recording: Recording, prediction: Prediction) -> bool:
    """Whether the stepper already shows the answer: the gradient is complete before the question is asked."""
    kind, _, name = prediction.answer.partition(" ")
    steps = recording.passes[prediction.pass_number - 1].steps
    shown = {recording.label(step.node) for step in steps[: prediction.after + 1]} if prediction.after else set()
    return kind in ("gradient", "shape") and name in shown


def _gradient(recording: Recording, steps: tuple[BackwardStep, ...], name: str) -> Value:
    """The gradient that arrives at the node of that name."""
    for step in steps:
        if recording.label(step.node) == name and step.grad_outputs and step.grad_outputs[0] is not None:
            return step.grad_outputs[0]
    raise LessonError(f"a prediction asks for the gradient of {name}, and there is none")


def _grad(recording: Recording, passes: tuple[Pass, ...], name: str) -> Value | None:
    """The .grad of the tensor of that name after these passes."""
    tensors = {tensor.id for tensor in recording.tensors if name in tensor.names}
    if not tensors:
        raise LessonError(f"a prediction asks for the grad of {name}, and there is no tensor of that name")
    for one in reversed(passes):
        for step in one.steps:
            if recording.nodes[step.node].variable in tensors:
                return step.grad_after
    return next((value for tensor, value in passes[0].grads.items() if tensor in tensors), None)


def _inside(recording: Recording, one: Pass, after: int, asked: str) -> Operand:
    """A variable, or a returned value, of the first call of a function after that many steps of a pass."""
    function, _, name = asked.partition(" ")
    for call in recording.calls:
        if call.name == function and call.pass_ == one.index and call.step is not None and call.step >= after:
            end = call.steps[-1]
            variables = {variable.name: variable.value for variable in end.variables}
            if end.kind == "return":
                variables |= {f"return {number}": value for number, value in enumerate(end.outputs, 1)}
                if len(end.outputs) == 1:
                    variables["return"] = end.outputs[0]
            found = variables.get(name)
            if found is None or (found.ref is not None and recording.value(found.ref) is None):
                raise LessonError(f"a prediction asks for {name} inside {function}: there are {', '.join(variables)}")
            return found
    raise LessonError(f"a prediction asks for what is inside {function}, and it is not called after step {after}")
