"""Where ranks part: parameters and averaged gradients that are not the same on all of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import microtape as mt
from microtape.recording.findings import Finding
from microtape.recording.model.model import Recording
from microtape.recording.model.summary import summarize
from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.parting import equal_parameters
from tests.support.recordings.ranks import Model, ranked, trained, with_grad

ABOUT_RANKS = ("other parameters", "other gradients", "not averaged", "one rank")


def about_ranks(recordings: list[Recording]) -> list[Finding]:
    return [one for one in rank_findings(Ranks(recordings)) if one.kind in ABOUT_RANKS]


def only(recordings: list[Recording]) -> Finding:
    found = about_ranks(recordings)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("averages", ["in the pass", "after it"])
def test_ranks_that_average_do_not_part(count: int, averages: Any) -> None:
    recordings = trained(count, averages=averages)
    assert rank_findings(Ranks(recordings)) == ()
    assert equal_parameters(Ranks(recordings)) == 2


def test_other_parameters_at_the_start() -> None:
    found = only(trained(4, model=lambda rank: Model(w=(1.0, 2.0, 3.0 + (rank == 2)))))
    assert (found.kind, found.severity, found.ranks) == ("other parameters", "error", (2,))
    assert found.headline == "rank 2 differs in own.w before pass 1"
    assert found.explanation[0] == "own.w is 3 on rank 0, 4 on rank 2 at [2], relative 0.25."
    assert "It is equal on ranks 0, 1 and 3." in found.explanation
    assert "Nothing has been updated yet: they were made in another way." in found.explanation
    assert "Seed all ranks alike" in found.remedy


def test_the_ranks_that_differ_are_the_fewer() -> None:
    found = only(trained(4, model=lambda rank: Model(b=0.25 if rank == 0 else 0.5)))
    assert found.ranks == (0,)
    assert found.headline == "rank 0 differs in own.b before pass 1"


def test_a_recording_that_begins_later_says_only_that_they_differ() -> None:
    found = only(trained(2, first=1, model=lambda rank: Model(b=0.5 + rank)))
    assert found.headline == "rank 1 differs in own.b before pass 2"
    assert "Record from the first pass on" in found.remedy


def test_gradients_that_nobody_averages_let_the_parameters_part() -> None:
    found = only(trained(2, averages="never"))
    assert (found.kind, found.severity) == ("other parameters", "error")
    assert found.headline == "rank 1 differs in own.w from pass 2 on"
    assert "In pass 1 each rank kept its own gradient for it: nothing was averaged." in found.explanation
    assert [role for role, _ in found.others] == ["updated"]


def test_an_update_that_differs_is_told_from_a_gradient_that_does() -> None:
    recordings = trained(2, rate=lambda rank, step: 0.1 + 0.1 * (rank == 1 and step == 1))
    found = only(recordings)
    assert found.headline == "rank 1 differs in own.w and own.b from pass 3 on"
    assert found.explanation[-1].startswith("Its gradient was equal on all ranks in pass 2: the update at ranks.py:")
    assert found.place is not None
    assert found.place == recordings[1].updates[-1].place
    assert equal_parameters(Ranks(recordings)) == 0


def test_averaged_gradients_that_differ() -> None:
    recordings = trained(4)
    recordings[3] = with_grad(recordings[3], 1, "own.w", lambda grad: grad * 1.01)
    found = only(recordings)
    assert (found.kind, found.severity, found.ranks) == ("other gradients", "error", (3,))
    assert found.headline == "rank 3 differs in own.w.grad after pass 2"
    assert found.explanation[0] == "own.w.grad is 2.5 on rank 0, 2.53 on rank 3 at [0], relative 0.0099."
    step = recordings[3].passes[1].steps[found.step or 0]
    assert recordings[3].label(step.node) == "own.w"


def test_a_rank_that_keeps_its_own_gradient_while_others_average() -> None:
    recordings = trained(4)
    own = recordings[2].passes[0]
    local = next(one.grad_outputs[0] for one in own.steps if recordings[2].label(one.node) == "own.w")
    recordings[2] = with_grad(recordings[2], 0, "own.w", lambda grad: local)
    found = only(recordings)
    assert (found.kind, found.ranks) == ("other gradients", (2,))
    assert "On rank 2 it holds what that rank computed alone." in found.explanation


def test_rounding_is_a_notice() -> None:
    recordings = trained(2)
    recordings[1] = with_grad(recordings[1], 1, "own.w", lambda grad: np.nextafter(grad, np.float32(9)))
    found = only(recordings)
    assert (found.kind, found.severity) == ("other gradients", "notice")
    assert found.headline == "rank 1 differs in own.w.grad after pass 2 by rounding"


def test_one_pass_that_averages_nothing_is_a_notice() -> None:
    found = only(trained(4, 1, averages="never"))
    assert (found.kind, found.severity, found.ranks) == ("not averaged", "notice", (0, 1, 2, 3))
    assert found.headline == "pass 1 leaves each rank its own gradient: nothing is averaged in it"
    assert about_ranks(trained(4, 1)) == []


def test_a_local_gradient_that_a_hook_changes_is_no_average() -> None:
    def run(scale: float) -> Recording:
        def program() -> None:
            model = Model()
            model.w.register_post_accumulate_grad_hook(lambda w: w.grad.mul_(scale))
            model(mt.tensor([1.0, 1.0, 1.0]), 0).backward()

        return mt.record(program)

    found = about_ranks([ranked(run(scale), rank, 2) for rank, scale in enumerate((0.5, 0.25))])
    assert "other gradients" not in [one.kind for one in found]


def test_sums_over_passes_before_the_average_are_no_difference() -> None:
    """As under no_sync: the first pass keeps each rank's gradient, the second averages the sum."""

    def run(rank: int) -> Recording:
        def program() -> None:
            own = Model()
            for step in range(2):
                own(mt.tensor([rank + 1.0, 1.0, step + 1.0]), rank).backward()

        return mt.record(program)

    recordings = [ranked(run(rank), rank, 2) for rank in range(2)]
    recordings = [with_grad(one, 1, "own.w", lambda grad: [3.0, 2.0, 3.0]) for one in recordings]
    assert about_ranks(recordings) == []


def test_a_sum_that_was_rounded_to_bfloat16_is_no_average() -> None:
    """1 + 0.001 is 1 in bfloat16, of which a recording holds float32."""

    def run(rank: int) -> Recording:
        def program() -> None:
            own = Model()
            for scale in (1.0, 0.001 + 0.5 * rank):
                own(mt.tensor([scale, scale, scale]), rank).backward()

        recording = mt.record(program)
        tensors = tuple([one._replace(dtype="bfloat16") for one in recording.tensors])
        return ranked(dataclasses.replace(recording, tensors=tensors), rank, 2)

    recordings = [run(rank) for rank in range(2)]
    recordings[0] = with_grad(recordings[0], 1, "own.w", lambda grad: [1.0, 1.0, 1.0])
    recordings[1] = with_grad(recordings[1], 1, "own.w", lambda grad: [1.5, 1.5, 1.5])
    assert about_ranks(recordings) == []


def test_data_that_requires_grad_may_differ() -> None:
    def run(rank: int, passes: int) -> Recording:
        def program() -> None:
            own = Model()
            for _ in range(passes):
                x = mt.tensor([rank + 1.0, 1.0, 1.0], requires_grad=True)
                own(x, rank).backward()

        return ranked(mt.record(program), rank, 2)

    assert "x" not in "".join(one.headline for one in about_ranks([run(rank, 2) for rank in range(2)]))
    notices = about_ranks([run(rank, 1) for rank in range(2)])
    assert {one.severity for one in notices} == {"notice"}
    assert "If x is data, all is well." in notices[0].remedy


def test_values_of_which_only_statistics_are_there() -> None:
    recordings = trained(2, model=lambda rank: Model(w=(1.0, 2.0, 3.0 + rank)))
    for recording in recordings:
        for tensor in recording.tensors:
            for version, value in tensor.values.items():
                if isinstance(value, np.ndarray):
                    tensor.values[version] = summarize(value)  # type: ignore[index]
    found = only(recordings)
    assert found.headline == "rank 1 differs in own.w before pass 1"
    assert found.explanation[0].startswith("own.w is the ")


def test_ranks_without_a_common_pass_are_not_compared() -> None:
    a, b = trained(2)[0], trained(2, first=2, model=lambda rank: Model(b=9.0))[1]
    one = Ranks([a.__class__(**{**a.__dict__, "passes": a.passes[:1]}), b])
    assert one.shared == []
    assert rank_findings(one) == ()
    assert equal_parameters(one) == 0
