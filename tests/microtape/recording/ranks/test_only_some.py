"""What only some ranks have: NaN, gradients, operations, sizes; and the findings of each rank, told once."""

from __future__ import annotations

from typing import Any

import numpy as np

import microtape as mt
from microtape.recording.findings import findings
from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.find import own_findings
from tests.support.recordings.ranks import Model, averaged, ranked, trained


class WithExtra(Model):
    """A model of which some ranks use one more parameter."""

    def __init__(self, using: tuple[int, ...]) -> None:
        super().__init__()
        self.extra = mt.tensor([1.0, 1.0, 1.0], requires_grad=True)
        self.using = using

    def __call__(self, x: Any, rank: int) -> Any:
        loss = super().__call__(x, rank)
        return loss + (self.extra * x).sum() if rank in self.using else loss


def nan_on(rank: int, step: int) -> Any:
    return lambda one, at: [np.nan if (one, at) == (rank, step) else one + 1.0, 2.0, 3.0]


def test_nan_on_one_rank_is_told_with_its_origin_and_what_others_receive_is_not() -> None:
    recordings = trained(3, data=nan_on(1, 1))
    assert any(one.kind == "nan" for one in findings(recordings[0]))  # in the pass after: the average brought it
    origin, notice = rank_findings(Ranks(recordings))
    assert (origin.kind, origin.severity, origin.ranks) == ("nan", "error", (1,))
    assert "x itself is not finite" in origin.headline
    assert (notice.kind, notice.severity, notice.ranks) == ("one rank", "notice", (1,))
    assert notice.headline == "only rank 1 has NaN or infinity in pass 2"
    assert "The average carries it to every rank." in notice.explanation
    assert [len(own_findings(Ranks(recordings), place)) for place in range(3)] == [0, 1, 0]


def test_nan_on_all_ranks_is_told_once() -> None:
    recordings = trained(3, data=lambda rank, step: [np.nan if step == 1 else 1.0, 2.0, 3.0])
    (found,) = rank_findings(Ranks(recordings))
    assert (found.kind, found.ranks) == ("nan", (0, 1, 2))


def test_a_parameter_that_one_rank_does_not_use() -> None:
    recordings = trained(4, model=lambda rank: WithExtra((0, 1, 3)))
    (found,) = [one for one in rank_findings(Ranks(recordings)) if one.kind == "one rank"]
    assert (found.severity, found.ranks) == ("notice", (2,))
    assert found.headline == "rank 2 has no gradient for own.extra in pass 1"
    assert found.explanation[1].startswith("Rank 0 has `self.extra * x` at test_only_some.py:")
    assert found.explanation[1].endswith("rank 2 does not.")
    assert found.tensor is not None
    assert recordings[2].tensors[found.tensor].name == "own.extra"


def test_another_graph_without_another_parameter() -> None:
    def run(rank: int) -> Any:
        def program() -> None:
            own = Model()
            x = mt.tensor([1.0, 1.0, 1.0])
            loss = own(x, rank).abs() if rank == 1 else own(x, rank)
            loss.backward()

        return mt.record(program)

    recordings = averaged([run(rank) for rank in range(2)])
    (found,) = rank_findings(Ranks([ranked(one, rank, 2) for rank, one in enumerate(recordings)]))
    assert found.headline == "the graph of pass 1 is another one on rank 1"
    assert found.explanation[0].startswith("Rank 1 has `own(x, rank).abs()` at ")
    assert found.node is not None
    assert recordings[1].nodes[found.node].name == "AbsBackward0"


def test_gradients_of_another_size() -> None:
    def data(rank: int, step: int) -> list[float]:
        return [1.0, 1.0, 1000.0 if (rank, step) == (3, 1) else 2.0]

    recordings = trained(4, data=data, rate=lambda *_: 1e-4)
    (found,) = rank_findings(Ranks(recordings))
    assert found.headline == "the gradients of rank 3 in pass 2 are 500 times larger than on rank 2"
    assert (found.severity, found.pass_) == ("notice", 1)


def test_local_gradients_that_differ_as_data_do_are_no_finding() -> None:
    assert rank_findings(Ranks(trained(4, data=lambda rank, step: [rank * 3.0 - 4, 1.0, step + 1.0]))) == ()


def test_findings_that_all_ranks_have_are_told_once_with_their_ranks() -> None:
    def run(rank: int) -> Any:
        def program() -> None:
            own = Model()
            for _ in range(2):
                own(mt.tensor([1.0 + rank, 1.0, 1.0]), rank).backward()
                with mt.no_grad():
                    own.w -= 0.1 * own.w.grad

        return mt.record(program)

    found = rank_findings(Ranks([ranked(run(rank), rank, 3) for rank in range(3)]))
    reset = [one for one in found if one.kind == "accumulated"]
    assert [one.ranks for one in reset] == [(0, 1, 2)]
