"""Steps of optimisers with gradients that a step before has used already: each moves the weights once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.steps import optimizer_at, scaled_step
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import Place, UpdateRecord
from microtape.recording.model.source import expression, is_installed

_FEWEST = 2  # rounds of a loop: a single one may show what momentum does


def repeated_steps(program: Program) -> Iterator[Finding]:
    """A finding for each pair of steps, or line of a step, that use the same gradients in several rounds of a loop."""
    pairs: dict[tuple[Place, Place], list[UpdateRecord]] = {}
    for one in program.recording.updates:
        if one.place is not None and one.again is not None and one.change != 0:
            pairs.setdefault((one.place, one.again), []).append(one)
    for (first, again), updates in pairs.items():
        is_yours = not is_installed(first) and not is_installed(again) and optimizer_at(program.recording, first)
        if is_yours and len({one.passes for one in updates}) >= _FEWEST:
            yield _finding(program, first, again, updates)


def _finding(program: Program, first: Place, again: Place, updates: Sequence[UpdateRecord]) -> Finding:
    what = expression(program.recording, again)
    whose = join(list(dict.fromkeys(program.tensor_name(one.tensor) for one in updates)), 3)
    rounds = len({one.passes for one in updates})
    how = f"In {rounds} rounds, no backward ran and no gradient changed between the two"
    if first == again:
        text = headline(
            f"{what} at {at(again)} runs several times for one backward",
            f"The step at {at(again)} runs several times for one backward",
            f"{at(again)} steps several times for one backward",
        )
        how = f"In {rounds} rounds, it ran more than once, with no backward and no change of a gradient between"
    else:
        used = first.at_line if first.file == again.file else at(first)
        text = headline(
            f"{what} at {at(again)} uses the gradients of {used} again",
            f"The step at {at(again)} uses the gradients of {used} again",
            f"{at(again)} steps with the gradients of {used} again",
        )
    return Finding(
        "repeated step", "warning", text,
        (f"{how}: each step moves {whose} by them.",), _remedy(program, first, again),
        again, program.positions.get(updates[0].passes - 1), None, None, updates[0].tensor, (("stepped", first),),
    )  # fmt: skip


def _remedy(program: Program, first: Place, again: Place) -> str:
    one, other = (optimizer_at(program.recording, place) for place in (first, again))
    if first == again:
        return f"Call {one}.step() once after each backward, outside of the inner loop: it updates all parameters."
    if one == other and scaled_step(program.recording, first) is not None:
        return f"Remove {expression(program.recording, again)}: {expression(program.recording, first)} calls it."
    if one == other:
        return "Remove one of the two, or run a backward of its own before each."
    return f"Give each parameter to one of {one} and {other}, or run a backward of its own before each step."
