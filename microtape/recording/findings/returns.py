"""What the backward of each custom Function returned, before the engine fitted it to the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.model.model import (
    ArgumentRecord,
    BackwardStep,
    CallRecord,
    FunctionRecord,
    Operand,
    Place,
    Recording,
)


class Returned(NamedTuple):
    """One run of the backward of a custom Function that returned."""

    pass_: int  # an index into `Recording.passes`
    step: BackwardStep
    function: FunctionRecord
    call: CallRecord
    gradients: tuple[Operand, ...]  # in the order of the arguments; trailing ones of None may be missing

    @property
    def place(self) -> Place | None:
        """The line of its `return`."""
        return self.call.steps[-1].place

    @property
    def needed(self) -> Iterator[tuple[ArgumentRecord, Operand]]:
        """The arguments that need a gradient, with what was returned for each."""
        pairs = zip(self.function.arguments, self.gradients, strict=False)
        return ((one, gradient) for one, gradient in pairs if one.needs_gradient and one.edge is not None)

    @property
    def stops(self) -> bool:
        """Whether it returned None for all of them: it stops the gradient, most likely on purpose."""
        return all(is_none(gradient) for _, gradient in self.needed)


def is_none(gradient: Operand) -> bool:
    """Whether None was returned."""
    return gradient.ref is None and gradient.text == "None"


def function_returns(recording: Recording) -> Sequence[Returned]:
    """What the backward of each Function returned, in order of time."""
    functions = {one.node: one for one in recording.functions}
    position = {one.index: i for i, one in enumerate(recording.passes)}
    found = []
    for call in recording.calls:
        function, pass_ = functions.get(call.node) if call.node is not None else None, position.get(call.pass_ or 0)
        if call.kind != "backward" or function is None or pass_ is None or not call.steps:
            continue
        step = next((one for one in recording.passes[pass_].steps[call.step or 0 :] if one.node == call.node), None)
        last = call.steps[-1]
        if (
            step is not None
            and last.kind == "return"
            and len(step.grad_inputs) == len(recording.nodes[step.node].edges)
        ):
            found.append(Returned(pass_, step, function, call, last.outputs))
    return found
