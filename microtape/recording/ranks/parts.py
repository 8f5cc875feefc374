"""Ranks that share out one model, such as the stages of a pipeline: what they compute is not meant to be equal."""

from __future__ import annotations

from microtape.recording.ranks.group import Ranks
from microtape.recording.ranks.leaves import is_parameter, leaves_at


def hold_parts(ranks: Ranks) -> bool:
    """Whether each rank holds another part of a model.

    Ranks with the whole model have parameters of the same shapes, and begin their passes from the same kind of tensor:
    all of them from a loss, say, where only the last stage of a pipeline has one.
    """
    return any(_differ(ranks, number) for number in ranks.shared)


def _differ(ranks: Ranks, number: int) -> bool:
    places = ranks.having(number)
    if len({_dimensions_of_roots(ranks, place, number) for place in places}) > 1:
        return True
    return any(
        len({ranks.recordings[place].tensors[one.tensor].shape for place, one in leaf.items()}) > 1
        and is_parameter(ranks, key, leaf)
        for key, leaf in leaves_at(ranks, number).items()
    )


def _dimensions_of_roots(ranks: Ranks, place: int, number: int) -> tuple[int, ...]:
    recording = ranks.recordings[place]
    roots = recording.passes[ranks.passes[place][number]].root_tensors
    return tuple([len(recording.tensors[ref.tensor].shape) for ref in roots if ref is not None])
