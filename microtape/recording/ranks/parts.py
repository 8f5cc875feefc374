"""Ranks that share out one model, such as the stages of a pipeline: what they compute is not meant to be equal."""

from __future__ import annotations

from microtape.recording.model.formatting import format_shape
from microtape.recording.ranks.group import Ranks
from microtape.recording.ranks.leaves import is_parameter, leaves_at


def hold_parts(ranks: Ranks) -> bool:
    """Whether the ranks cannot be compared, since each holds another part of a model, as far as can be seen.

    Ranks with the whole model have parameters of the same shapes, and begin their passes from the same kind of tensor:
    all of them from a loss, say, where only the last stage of a pipeline has one.
    """
    return bool(parts_text(ranks))


def parts_text(ranks: Ranks) -> str:
    """What `hold_parts` has seen, as the end of a sentence; empty for ranks that can be compared.

    Other shapes may also be a mistake, such as a width that depends on the rank: which it is no recording tells.
    """
    if any(len(_dimensions_of_roots(ranks, number)) > 1 for number in ranks.shared):
        return "they hold parts of one model, which were not compared"
    for number in ranks.shared:
        for key, leaf in leaves_at(ranks, number).items():
            shapes = {place: ranks.recordings[place].tensors[one.tensor].shape for place, one in leaf.items()}
            if len(set(shapes.values())) > 1 and is_parameter(ranks, key, leaf):
                name = key if isinstance(key, str) else ranks.recordings[0].label(key)
                (one, shape), *others = shapes.items()
                other, its = next((place, its) for place, its in others if its != shape)
                return (
                    f"{name} has the shape {format_shape(shape)} on rank {ranks.numbers[one]}, {format_shape(its)} on "
                    f"rank {ranks.numbers[other]}: they hold parts of one model, or models that differ by mistake, and "
                    "were not compared"
                )
    return ""


def _dimensions_of_roots(ranks: Ranks, number: int) -> set[tuple[int, ...]]:
    """The numbers of dimensions of a pass's roots, of all ranks that have it."""
    found = set()
    for place in ranks.having(number):
        recording = ranks.recordings[place]
        roots = recording.passes[ranks.passes[place][number]].root_tensors
        found.add(tuple([len(recording.tensors[ref.tensor].shape) for ref in roots if ref is not None]))
    return found
