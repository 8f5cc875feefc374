"""Ranks that share out one model: they are not compared."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape.recording.model.model import Recording
from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.parting import equal_parameters
from microtape.recording.ranks.parts import hold_parts
from tests.support.recordings.ranks import ranked, trained


def stages(sizes: tuple[int, int], *, has_loss: tuple[bool, bool]) -> Ranks:
    """A linear layer of another size on each of two ranks, and a loss where there is one."""
    recordings: list[Recording] = []
    for rank, (size, sums) in enumerate(zip(sizes, has_loss, strict=True)):
        layer = mt.nn.Linear(size, 2)
        with mt.record() as recorder:
            y = layer(mt.ones(3, size))
            y.sum().backward() if sums else y.backward(mt.ones(3, 2))
        recordings.append(ranked(recorder.recording, rank, 2))
    return Ranks(recordings)


@pytest.mark.parametrize(
    ("sizes", "has_loss"), [((2, 3), (True, True)), ((2, 3), (False, True)), ((2, 2), (False, True))]
)
def test_stages_of_a_pipeline_hold_parts(sizes: tuple[int, int], has_loss: tuple[bool, bool]) -> None:
    ranks = stages(sizes, has_loss=has_loss)
    assert hold_parts(ranks)
    assert rank_findings(ranks) == ()
    assert equal_parameters(ranks) == 0


def test_ranks_with_the_same_model_do_not() -> None:
    assert not hold_parts(Ranks(trained(3, averages="in the pass")))
