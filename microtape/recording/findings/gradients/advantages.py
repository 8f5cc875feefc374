"""Advantages through which the policy's loss reaches the critic."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, history, input_at, inputs
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import expression

_DIFFERENCES = ("sub", "rsub")
_LOSSES = ("mse_loss", "smooth_l1_loss", "huber_loss")
_ERRORS = (*_LOSSES, "pow", "square")
_GATHERING = ("stack", "cat")
_CHOOSING = ("gather", "index", "take_along_dim")  # the probability of the action that was taken
_NORMALISED = ("log_softmax", "softmax", "log", "sub")  # the last one as in `scores - scores.logsumexp()`
_ADVANTAGE = (*SAME_NUMBERS, *_GATHERING, "div", "mul", "neg", "clamp", "exp", "relu", "add")
_PROBABILITY = (*SAME_NUMBERS, *_GATHERING, *_DIFFERENCES, "div", "mul", "neg", "clamp", "exp", "log", "sum", "mean")
_FARTHEST = 10  # nodes between what is looked for and where the search for it begins


def learned_advantages(program: Program) -> Iterator[Finding]:
    """A finding for each advantage with a history by which a policy's loss weights the probabilities of actions.

    The gradient of a policy is the mean of A ∇ log π(action). There the advantage A, the returns less the values that
    a critic computes, is a number; the critic learns from its square.
    """
    searched, told = set[Place | None](), set[Place | None]()
    for product, policy, advantage in _weighted(program):
        chosen = _chosen(program, policy) if product.place not in searched else None
        if chosen is None or advantage.place in told:
            continue
        for difference, values in _differences(program, advantage):
            searched.add(product.place)
            error = _error(program, difference, values) or _error_of_another_call(program, policy, values)
            is_apart = chosen.id not in history(program, values) and values.id not in history(program, policy)
            if error is not None and is_apart:
                told.add(advantage.place)
                yield _finding(program, product, advantage, values, error)
                break


def _weighted(program: Program) -> Iterator[tuple[NodeRecord, NodeRecord, NodeRecord]]:
    """The products of two results, in both orders; none, if the program chooses nothing."""
    sources = program.recording.sources.values()
    chooses = program.doing(*_CHOOSING, "nll_loss") or any("log_prob(" in one for one in sources)
    for product in program.doing("mul") if chooses else ():
        one, other = input_at(program, product, 0), input_at(program, product, 1)
        if one is not None and other is not None:
            yield product, one, other
            yield product, other, one


def _chosen(program: Program, node: NodeRecord) -> NodeRecord | None:
    """The node that chooses an action's probability, or its logarithm, if a node's result comes from one."""
    for _ in range(_FARTHEST):
        before = inputs(program, node)
        is_chosen = program.does(node, *_CHOOSING) and before and program.does(before[0], *_NORMALISED)
        if is_chosen or program.does(node, "nll_loss") or "log_prob(" in expression(program.recording, node.place):
            return node
        if not before or not program.does(node, *_PROBABILITY):
            break
        node = before[0]
    return None


def _differences(program: Program, node: NodeRecord) -> list[tuple[NodeRecord, NodeRecord]]:
    """The difference that an advantage is, perhaps normalised, with each operand of it that was computed."""
    for _ in range(_FARTHEST):
        before = inputs(program, node)
        if program.does(node, *_DIFFERENCES):
            if len(before) < 2 or before[0].id not in history(program, before[1]):  # else it subtracts its own mean
                return [(node, values) for values in before if values.kind != "accumulate"]
        elif not program.does(node, *_ADVANTAGE):
            break
        if not before:
            break
        node = before[0]
    return []


def _error(program: Program, *nodes: NodeRecord) -> NodeRecord | None:
    """The square, or the like, of the critic's error: from its values, or from the difference to the returns."""
    reached = {one.id for one in nodes}
    for _ in range(_FARTHEST):
        users = [program.node(one) for one in sorted({user for node in reached for user in program.users(node)})]
        for user in users:
            is_square = program.does(user, "mul") and len(user.edges) == 2 and user.edges[0] == user.edges[1]
            if is_square or program.does(user, *_ERRORS):
                return user
        reached = {one.id for one in users if program.does(one, *SAME_NUMBERS, *_GATHERING, *_DIFFERENCES)}
    return None


def _error_of_another_call(program: Program, policy: NodeRecord, values: NodeRecord) -> NodeRecord | None:
    """A loss of values that the critic computes once more: it depends on leaves that the policy does not depend on."""
    behind = history(program, values) - history(program, policy)
    leaves = {number for number in behind if program.node(number).kind == "accumulate"}
    losses = (one for one in program.doing(*_LOSSES) if leaves & history(program, one))
    return next(losses, None) if leaves else None


def _finding(
    program: Program, product: NodeRecord, advantage: NodeRecord, values: NodeRecord, error: NodeRecord
) -> Finding:
    name, of_values = program.name(advantage.id), program.name(values.id)
    text = headline(
        f"The policy's loss trains the critic through {name}: {at(product.place)}",
        f"The policy's loss trains the critic: {at(product.place)}",
    )
    lines = (
        f"{at(product.place)} weights an action's probability by {name}, through which gradients flow into "
        f"{of_values} ({at(values.place)}).",
        f"The critic should learn from its error alone ({at(error.place)}). The policy's loss moves {of_values} as "
        "well, and not towards the returns.",
    )
    remedy = "Compute the advantage inside of no_grad(), or .detach() it, in the policy's loss."
    if name.isidentifier():
        remedy = f"Multiply by {name}.detach() in the policy's loss."
    others = (("error", error.place),) if error.place is not None else ()
    return Finding(
        "learned advantage", "warning", text, lines, remedy, product.place, program.pass_after(product.id), None,
        product.id, None, others,
    )  # fmt: skip
