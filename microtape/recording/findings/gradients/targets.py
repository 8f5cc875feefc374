"""Targets of Q-learning through which gradients flow: the network moves its targets towards what it says now."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, history, input_at, inputs
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, TensorRecord

_COMPARING = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "sub", "rsub")
_REWARDING = ("add", "sub", "rsub")  # what makes the target of a reward and the value of the next state
_SCALING = ("mul", "div", "neg", "where", "masked_fill", "index_put")
_CHOOSING = ("gather", "index", "take_along_dim")  # the value of the action that was taken
_BEST = ("max", "amax")  # the value of the best action


def learning_targets(program: Program) -> Iterator[Finding]:
    """A finding for each line that compares the value of an action with a target that the same network computes.

    r + γ · max Q(s', ·) is a number to be reached: its gradient is left out, with `no_grad` or `detach`.
    """
    told = set()
    for node in program.doing(*_COMPARING) if program.doing(*_BEST) and program.doing(*_CHOOSING) else ():
        for value, target in ((0, 1), (1, 0)):
            chosen, best = _behind(program, node, value, _CHOOSING), _behind(program, node, target, _BEST)
            if not chosen or not best or not any(program.does(one, *_REWARDING) for one in best[:-1]):
                continue
            shared = _shared_leaves(program, chosen[-1], best[-1])
            if shared and node.place not in told:
                told.add(node.place)
                yield _finding(program, node, best, shared)


def _behind(program: Program, node: NodeRecord, edge: int, ops: tuple[str, ...]) -> list[NodeRecord]:
    """The nodes from an operand back to one that does one of `ops`, each of which has one input alone; or none."""
    found: list[NodeRecord] = []
    one = input_at(program, node, edge)
    while one is not None:
        found.append(one)
        if program.does(one, *ops):
            return found
        before = inputs(program, one)
        passes_on = program.does(one, *SAME_NUMBERS, *(_SCALING + _REWARDING if ops is _BEST else ()))
        one = before[0] if passes_on and len(before) == 1 else None
    return []


def _shared_leaves(program: Program, one: NodeRecord, other: NodeRecord) -> list[TensorRecord]:
    """The leaves behind both nodes; none if they have a result in common, as both are of one call of a network then."""
    behind = [history(program, node) for node in (one, other)]
    common = [program.node(number) for number in behind[0] & behind[1]]
    if any(node.kind != "accumulate" for node in common):
        return []
    return [leaf for leaf in program.leaves if leaf.node in behind[0] & behind[1]]


def _finding(program: Program, node: NodeRecord, best: list[NodeRecord], shared: list[TensorRecord]) -> Finding:
    made = next(one for one in best if not program.does(one, *SAME_NUMBERS))
    text = headline(
        f"Gradients flow through {program.name(made.id)}, a target: {at(made.place)}",
        f"Gradients flow through a target: {at(made.place)}",
    )
    many = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
    lines = (
        f"{at(node.place)} compares the value of an action with a reward and the best value of the next state.",
        f"Both are computed with {program.tensor_name(shared[0].id)}{many}. So each update moves the target, too, "
        "towards the value, instead of the value alone towards the target.",
    )
    remedy = "Compute the target inside of no_grad(), or .detach() it."
    others = (("compared", node.place),) if node.place is not None else ()
    return Finding(
        "learning target", "warning", text, lines, remedy, made.place, program.pass_after(node.id), None, made.id, None,
        others,
    )  # fmt: skip
