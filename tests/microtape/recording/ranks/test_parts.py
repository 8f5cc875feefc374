"""Ranks that share out one model: they are not compared."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape.recording.model.model import Recording
from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.parting import equal_parameters
from microtape.recording.ranks.parts import hold_parts, parts_text
from tests.support.recordings.ranks import Model, ranked, trained, with_grad


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


def test_shapes_that_may_differ_by_mistake_are_told() -> None:
    assert parts_text(stages((2, 3), has_loss=(True, True))) == (
        "layer.weight has the shape 2×2 on rank 0, 2×3 on rank 1: they hold parts of one model, or models that differ "
        "by mistake, and were not compared"
    )
    assert parts_text(stages((2, 3), has_loss=(False, True))) == "they hold parts of one model, which were not compared"


def test_of_several_ranks_one_that_differs_is_told() -> None:
    models = trained(3, averages="never", model=lambda rank: Model([1.0] * 3 if rank < 2 else [1.0]))
    assert parts_text(Ranks(models)).startswith("own.w has the shape 3 on rank 0, 1 on rank 2: ")


def test_ranks_with_the_same_model_do_not() -> None:
    assert not hold_parts(Ranks(trained(3, averages="in the pass")))


class OfBatches(Model):
    """It asks for a gradient of its data, some examples, and keeps them."""

    def __init__(self, examples: int) -> None:
        super().__init__()
        self.examples, self.batch = examples, dict[str, mt.Tensor]()

    def __call__(self, x: mt.Tensor, rank: int) -> mt.Tensor:
        self.batch["x"] = mt.stack([x] * self.examples).requires_grad_()
        return super().__call__(self.batch["x"].mean(0), rank)


def test_data_that_a_program_keeps_are_no_parameter() -> None:
    ranks = Ranks(trained(averages="after it", model=lambda rank: OfBatches(rank + 1)))
    assert "own.batch['x']" in {one.name for one in ranks.recordings[1].tensors}
    assert not hold_parts(ranks)
    assert rank_findings(ranks) == ()
    assert equal_parameters(ranks) == 2


def test_one_pass_may_not_tell_data_from_a_parameter() -> None:
    recordings = trained(steps=1, averages="never", model=lambda rank: OfBatches(1))
    ranks = Ranks([with_grad(one, 0, "own.w", lambda _: [1.5, 1.5, 1.0]) for one in recordings])
    (found,) = rank_findings(ranks)
    assert (found.kind, found.severity) == ("other parameters", "notice")
    assert found.remedy.startswith("If own.batch['x'] is data, all is well.")
