"""Targets of a regression that lie outside of what the last function of the prediction can give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import maker_at
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord, Place, TensorRef
from microtape.recording.model.source import is_installed

if TYPE_CHECKING:
    import numpy.typing as npt

_LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_DIFFERENCES, _PENALTIES = ("sub", "rsub"), ("square", "abs", "pow")
_GIVES: Mapping[str, tuple[float, float]] = {
    "sigmoid": (0, 1),
    "softmax": (0, 1),
    "tanh": (-1, 1),
    "relu": (0, np.inf),
    "softplus": (0, np.inf),
}
_NEAR = 0.1  # of the range of the function: so near to its ends is noise, or a label that is more than certain
_NEAR_ONE_END = 0.25  # of the deviation of the targets, where the range has one end
_FEWEST = 8  # targets
_MOST_OF_THEM, _SOME = 1 / 2, 1 / 4  # how many lie outside: if their mean does, it is not for a few stray ones
_MOST = 16  # comparisons of one place that are looked at


class _Comparison(NamedTuple):
    """Where a program compares predictions with targets."""

    node: NodeRecord
    made: NodeRecord  # what gives the predictions
    which: str  # its function
    targets: TensorRef


def targets_out_of_reach(program: Program) -> Iterator[Finding]:
    """One finding for each place where most targets, or their mean, lie outside of what sigmoid and the like give."""
    by_place: dict[tuple[Place | None, Place | None], list[_Comparison]] = {}
    for node in program.doing(*_LOSSES, *_DIFFERENCES) if program.doing(*_GIVES) else ():
        if (one := _comparison(program, node)) is not None:
            by_place.setdefault((node.place, one.made.place), []).append(one)
    for several in by_place.values():
        targets = _targets(program, several)
        if targets.size < _FEWEST:
            continue
        least, most = _GIVES[several[0].which]
        near = _NEAR * (most - least) if np.isfinite(most) else _NEAR_ONE_END * float(targets.std())
        outside = (targets < least - near) | (targets > most + near)
        is_mean_outside = not least - near <= targets.mean() <= most + near
        if outside.mean() > (_SOME if is_mean_outside else _MOST_OF_THEM):
            yield _finding(program, several[0], targets, int(outside.sum()))


def _comparison(program: Program, node: NodeRecord) -> _Comparison | None:
    """The comparison that a loss makes, or a difference that is squared; None if the targets have a history, too."""
    learned = [i for i, edge in enumerate(node.edges) if edge.node is not None]
    others = [one.ref for one in node.operands if one.ref is not None and one.ref not in program.producer]
    if len(learned) != 1 or len(others) != 1 or not _is_loss(program, node, others[0]):
        return None
    made = maker_at(program, node, learned[0])
    which = next((one for one in _GIVES if made is not None and program.does(made, one)), "")
    return _Comparison(node, made, which, others[0]) if made is not None and which else None


def _is_loss(program: Program, node: NodeRecord, targets: TensorRef) -> bool:
    """Whether a node is a loss of one number, or a difference that becomes one by its squares or absolute values.

    What is not reduced at once may be masked, or be the logarithm of a density, such as that of drawn actions.
    """
    if program.does(node, *_LOSSES):
        return program.shape_of(node) == ()
    penalty = _only_user(program, node)
    if penalty is None or not program.does(penalty, *_PENALTIES):
        return False
    if penalty.op == "pow" and not {"2", "2.0"} & {one.text for one in penalty.operands}:
        return False
    if program.shape_of(node) != program.recording.tensors[targets.tensor].shape:
        return False  # such as distances to several centres
    reduced = _only_user(program, penalty)
    return reduced is not None and program.does(reduced, "mean", "sum") and program.shape_of(reduced) == ()


def _only_user(program: Program, node: NodeRecord) -> NodeRecord | None:
    users = program.users(node.id)
    return program.node(users[0]) if len(users) == 1 else None


def _targets(program: Program, several: list[_Comparison]) -> npt.NDArray[Any]:
    """The targets of several comparisons, each once: of a batch, or of single examples that come one by one."""
    found = [program.recording.value(one) for one in dict.fromkeys(one.targets for one in several[:_MOST])]
    known = [one.ravel() for one in found if isinstance(one, np.ndarray) and one.ndim and one.dtype.kind in "fiu"]
    every = np.concatenate([np.zeros(0), *known]).astype(np.float64)
    return every[np.isfinite(every)]


def _finding(program: Program, one: _Comparison, targets: npt.NDArray[Any], outside: int) -> Finding:
    which, (least, most) = one.which, _GIVES[one.which]
    name, made = program.ref_name(one.targets), program.name(one.made.id)
    place = one.node.place if one.made.place is None or is_installed(one.made.place) else one.made.place
    bounds = f"{least:g} to {most:g}" if np.isfinite(most) else f"nothing below {least:g}"
    low, high, mean = (format_number(each, 3) for each in (targets.min(), targets.max(), targets.mean()))
    others = (("compared", one.node.place),) if one.node.place is not None and one.node.place != place else ()
    go = f"{name} goes" if name.isidentifier() else "targets go"
    text = headline(
        f"{which} gives {bounds}, but {go} from {low} to {high}: {at(place)}",
        f"Many targets lie outside of what {which} gives: {at(place)}",
    )
    what = "its result" if made.startswith("%") else made
    lines = (
        f"{at(one.node.place)} compares {what} with {targets.size:,} targets: {outside:,} of them lie outside, and "
        f"their mean is {mean}.",
        f"No weights can bring it there: the input of {which} is driven to where it is flat, and gradients vanish.",
    )
    scale = f"bring the targets into {bounds}" if np.isfinite(most) else "make the targets positive"
    remedy = f"End the network without {which}, as a regression does, or {scale} first."
    return Finding(
        "probabilities", "warning", text, lines, remedy, place, program.pass_after(one.node.id), None, one.made.id,
        program.tensor_of(one.made), others,
    )  # fmt: skip
