"""Numbers that are drawn around a result and decoded: backward takes them for constants, and cuts the encoder off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, history, inputs, is_parameter
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.cut_history import way_back
from microtape.recording.model.model import BorderRecord, NodeRecord, Pass, Place, TensorRef
from microtape.recording.model.source import expression

_MOST_CALLS = 4  # of one line that are looked at
_LAYERS = ("linear", "addmm", "mm", "matmul", "conv1d", "conv2d", "conv3d", "convolution")
_HANDED_ON = (*SAME_NUMBERS, "cat")
_COMPARED = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "gaussian_nll_loss")


class _Draw(NamedTuple):
    """What is drawn, and the results that it is drawn around: a mean, and perhaps a standard deviation."""

    made: NodeRecord | BorderRecord
    result: TensorRef
    around: Sequence[TensorRef]


def drawn_codes(program: Program) -> Iterator[Finding]:
    """One finding for each line that draws around what other terms of the loss train, and gives the draw to layers.

    Not where what was drawn is scored or has another use, as an action has; nor where the layers lie behind the mean,
    as those of a model that goes on from its own prediction do. A mean that gets no other gradient is told elsewhere.
    """
    by_line: dict[Place, list[_Draw]] = {}
    for one in _draws(program):
        if one.made.place is not None and one.around:
            by_line.setdefault(one.made.place, []).append(one)
    for place, draws in by_line.items():
        found = [_decoder(program, one) for one in draws[:_MOST_CALLS]]
        if found[0] is not None and all(one is not None for one in found):
            yield _finding(program, place, draws[0], *found[0])


def _draws(program: Program) -> Iterator[_Draw]:
    for node in program.doing("normal"):
        if node.outputs and node.outputs[0] is not None:
            yield _Draw(node, node.outputs[0], [one for one in operand_refs(node) if one in program.producer])
    for border in program.recording.borders:
        if border.op == "normal" and border.outputs and ".sample(" in expression(program.recording, border.place):
            yield _Draw(border, border.outputs[0], _around(program, border))


def _around(program: Program, border: BorderRecord) -> list[TensorRef]:
    """The results on the tape that a draw off the tape was given, perhaps expanded."""
    refs = operand_refs(border)
    refs += [ref for one in refs if one in program.borders for each in way_back(program.borders[one], program.borders)
             if program.does_op(each, *SAME_NUMBERS) for ref in operand_refs(each)]  # fmt: skip
    return [one for one in dict.fromkeys(refs) if one in program.producer]


def _decoder(program: Program, draw: _Draw) -> tuple[NodeRecord, Pass] | None:
    """The first layer that gets nothing but what was drawn, and a pass that reaches it and the mean; else None."""
    layers = _layers(program, draw.result)
    first = layers[0] if layers else None
    position = program.pass_after(first.id) if first is not None else None
    if layers is None or first is None or position is None:
        return None
    pass_ = program.recording.passes[position]
    reached = set(pass_.nodes)
    if any(one.id not in reached for one in layers):
        return None
    means = {program.producer[ref] for ref in draw.around}
    if not _are_trained(program, means, draw, pass_, reached):
        return None
    behind = set[int]().union(*(history(program, program.node(one)) for one in means))
    own = {one.id for layer in layers for one in _parameters(program, layer)}
    others = [layer for ref in draw.around for layer in _layers(program, ref, strict=False) or ()]
    beside = {one.id for layer in others for one in _parameters(program, layer)}
    return (first, pass_) if own and not own & (behind | beside) else None


def _are_trained(program: Program, means: set[int], draw: _Draw, pass_: Pass, reached: set[int]) -> bool:
    """Whether a loss depends on results by another way than what was drawn around them."""
    drawn = draw.made.id if isinstance(draw.made, NodeRecord) else None
    roots, waiting = {one.node for one in pass_.roots}, sorted(means)
    seen = set(waiting)
    for number in waiting:  # it grows on the way
        if number in roots:
            return True
        later = {one for one in program.users(number) if one != drawn and one in reached} - seen
        waiting += sorted(later)
        seen |= later
    return False


def _layers(program: Program, ref: TensorRef, *, strict: bool = True) -> list[NodeRecord] | None:
    """The layers with parameters that get these numbers, perhaps beside others; None if something else uses them."""
    found: list[NodeRecord] = []
    waiting = [ref.tensor]
    for tensor in waiting:  # it grows on the way
        users: list[NodeRecord | BorderRecord] = list(map(program.node, program.readers.get(tensor, ())))
        users += program.borders_from.get(tensor, ())
        for user in users:
            if program.does_op(user, *_HANDED_ON):
                waiting += [one.tensor for one in user.outputs if one is not None and one.tensor not in waiting]
            elif isinstance(user, NodeRecord) and program.does(user, *_LAYERS) and _parameters(program, user):
                found.append(user)
            elif strict:
                return None
    return found


def _parameters(program: Program, layer: NodeRecord) -> list[NodeRecord]:
    """The parameters of a layer, in the shape in which it uses them."""
    return [one for each in inputs(program, layer) if is_parameter(program, each) for one in _leaf(program, each)]


def _leaf(program: Program, node: NodeRecord) -> Iterator[NodeRecord]:
    while node.kind != "accumulate":
        node = inputs(program, node)[0]
    yield node


def _finding(program: Program, place: Place, draw: _Draw, layer: NodeRecord, pass_: Pass) -> Finding:
    names = list(map(program.ref_name, draw.around))
    result, means, root = program.ref_name(draw.result), join(names), program.root_name(pass_)
    is_compared = any(
        program.does(user, *_COMPARED) or "log_prob(" in expression(program.recording, user.place)
        for one in draw.around for user in map(program.node, program.readers.get(one.tensor, ()))
    )  # fmt: skip
    is_sampled = isinstance(draw.made, BorderRecord)
    what = "sample()" if is_sampled else "normal"
    return Finding(
        "no gradient", "notice" if is_compared else "warning",
        headline(f"No gradient passes from {result} back to {means}: it is drawn at {at(place)}",
                 f"No gradient passes back through what {what} draws at {at(place)}"),
        (f"{result} goes into a layer at {at(layer.place)}, and on into {root}. What {what} draws has no derivative by "
         f"{means}: backward takes it for a constant.",
         f"So {means} {'learns' if len(names) == 1 else 'learn'} from the other terms of {root} only."),
        "Draw with rsample() instead of sample(): it passes gradients on." if is_sampled
        else "Draw mean + std * randn_like(std), which has a derivative by both.",
        place, program.positions.get(pass_.index), None, layer.id, draw.result.tensor,
        (("used", layer.place),) if layer.place is not None and layer.place != place else (),
    )  # fmt: skip
