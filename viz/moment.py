"""A pass as it stood after some of its steps: what has arrived where, what has travelled along which edge.

Pure look-ups over a `Recording`; nothing is run again. `steps_done` counts evaluated nodes: 0 is the moment when
backward has been called and nothing has been evaluated yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from microtape.recording.model import BackwardStep, Delivery, Pass, Recording, TensorRef, Value
from viz.errors import DrawError


@dataclass(frozen=True, slots=True)
class Arrived:
    """What one input buffer of a node holds: the sum, and how many terms were added (the undefined ones too)."""

    total: Value | None
    terms: int
    last: Delivery | None  # None: it was the seed


@dataclass(frozen=True, eq=False)
class Moment:
    """A recording's pass after `steps_done` steps. `pass_` is None where the program never called backward."""

    recording: Recording
    pass_: Pass | None
    steps_done: int
    current: BackwardStep | None  # the step just taken; None before the first one and in a picture of the end
    evaluates: Set[int]  # the nodes that the pass evaluates from beginning to end
    evaluated: Mapping[int, BackwardStep]  # node -> its step
    arrived: Mapping[tuple[int, int], Arrived]  # (node, output) -> what came
    travelled: Mapping[tuple[int, int], Delivery]  # (node, which of its edges) -> the gradient that went along it
    seeds: Mapping[tuple[int, int], Value | None]  # (node, output) -> the first gradient
    grads: Mapping[int, Value]  # leaf tensor -> its .grad
    waits_for: Mapping[int, int]  # node -> how many gradients it still waits for
    ready: tuple[int, ...]
    producer: Mapping[TensorRef, tuple[int, int]]  # a tensor at a version -> (the node that computed it, output)
    written: Mapping[int, int]  # tensor -> its version after the program's last recorded write to it before the pass

    @property
    def failed(self) -> BackwardStep | None:
        """The step that raised, if this moment is after it."""
        return next((step for step in self.evaluated.values() if step.error is not None), None)


def moment(recording: Recording, pass_index: int, steps_done: int | None) -> Moment:
    """The pass after that many steps; `None` is the end of it, without any step in the foreground.

    Raises:
        DrawError: there is no such pass or no such step.
    """
    pass_ = _pass(recording, pass_index)
    steps = pass_.steps if pass_ else ()
    if steps_done is not None and not 0 <= steps_done <= len(steps):
        about = f"the pass has {_count(len(steps), 'step')}" if pass_ else "no backward pass was recorded"
        raise DrawError(f"there is no step {steps_done}: {about}, so step= takes 0 to {len(steps)}")
    done = steps[:steps_done]
    seeds = {(root.node, root.input_nr): seed for root, seed in zip(pass_.roots, pass_.seeds, strict=True)
             if root.node is not None} if pass_ else {}  # fmt: skip
    grads = dict(pass_.grads) if pass_ else {}
    for step in done:
        variable = recording.nodes[step.node].variable
        if variable is not None and step.grad_after is not None:
            grads[variable] = step.grad_after
    producer = {
        ref: (node.id, number) for node in recording.nodes for number, ref in enumerate(node.outputs) if ref is not None
    }
    tape = pass_.tape if pass_ else len(recording.nodes)
    written: dict[int, int] = {}
    for ref, (node, _) in producer.items():
        if node < tape:
            written[ref.tensor] = max(ref.version, written.get(ref.tensor, 0))
    waits_for = dict(pass_.dependencies) if pass_ else {}
    waits_for.update((one.node, one.dependencies_left) for step in done for one in step.deliveries)
    return Moment(
        recording=recording,
        pass_=pass_,
        steps_done=len(done),
        current=done[-1] if done and (steps_done is not None or done[-1].error) else None,
        evaluates=frozenset(pass_.nodes) if pass_ else frozenset(),
        evaluated={step.node: step for step in done},
        arrived=_arrived(seeds, done),
        travelled={(step.node, one.output): one for step in done for one in step.deliveries},
        seeds=seeds,
        grads=grads,
        waits_for=waits_for,
        ready=done[-1].ready if done else pass_.ready if pass_ else (),
        producer=producer,
        written=written,
    )


def _pass(recording: Recording, index: int) -> Pass | None:
    if not recording.passes and index == 0:
        return None
    if not 0 <= index < len(recording.passes):
        count = len(recording.passes)
        about = f"the recording has {_count(count, 'pass', 'passes')}" if count else "no backward pass was recorded"
        raise DrawError(f"there is no pass {index}: {about}, so pass_index= takes 0 to {max(count - 1, 0)}")
    return recording.passes[index]


def _arrived(
    seeds: Mapping[tuple[int, int], Value | None], done: Iterable[BackwardStep]
) -> dict[tuple[int, int], Arrived]:
    found = {slot: Arrived(seed, 1, None) for slot, seed in seeds.items()}
    for step in done:
        for one in step.deliveries:
            before = found.get((one.node, one.input_nr))
            found[one.node, one.input_nr] = Arrived(one.total, before.terms + 1 if before else 1, one)
    return found


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
