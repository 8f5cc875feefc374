"""The recordings of the ranks of one run: their order, and which recordings are no ranks of one run."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.errors import RecordingError
from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.words import rank_text
from tests.support.recordings import handmade
from tests.support.recordings.ranks import Model, ranked, trained


def test_they_stand_in_the_order_of_their_ranks() -> None:
    given = trained(4)
    ranks = Ranks([given[2], given[0], given[3], given[1]])
    assert ranks.numbers == (0, 1, 2, 3)
    assert ranks.recordings == tuple(given)
    assert ranks.order == (1, 3, 0, 2)


def test_without_ranks_they_are_numbered_as_they_are_given() -> None:
    alone = [dataclasses.replace(one, options={}) for one in trained(2)]
    assert Ranks(alone).numbers == (0, 1)
    assert Ranks(alone).missing == ()


def test_ranks_that_are_not_there_are_named() -> None:
    given = trained(4)
    assert Ranks([given[0], given[2]]).missing == (1, 3)


def test_passes_are_those_of_the_program() -> None:
    late, whole = trained(2, first=1)[0], trained(2)[1]
    ranks = Ranks([late, whole])
    assert ranks.passes == [{1: 0, 2: 1}, {0: 0, 1: 1, 2: 2}]
    assert ranks.shared == [1, 2]
    assert (ranks.having(0), ranks.having(2)) == ([1], [0, 1])


def test_a_node_has_a_counterpart_on_every_rank_and_back() -> None:
    ranks = Ranks(trained(3))
    for node in ranks.recordings[0].nodes:
        there = ranks.counterpart(node.id, 0, 2)
        assert there is not None
        assert ranks.recordings[2].nodes[there].name == node.name
        assert ranks.counterpart(there, 2, 0) == node.id
        assert ranks.counterpart(node.id, 0, 0) == node.id


def test_what_cannot_be_ranks_of_one_run() -> None:
    a, b = trained(2)
    with pytest.raises(RecordingError, match="no other ranks beside it"):
        Ranks([a])
    with pytest.raises(RecordingError, match=r"a\.tape and c\.tape are both of rank 0"):
        Ranks([a, b, a], ["a.tape", "b.tape", "c.tape"])
    with pytest.raises(RecordingError, match=r"a\.tape is of record\(\), b\.tape of diamond"):
        Ranks([a, ranked(handmade.diamond(), 1, 2)], ["a.tape", "b.tape"])
    with pytest.raises(RecordingError, match="a run of 2 processes, recording 2 of 4: is one of them left over"):
        Ranks([a, ranked(b, 1, 4)])
    file = next(iter(b.sources))
    with pytest.raises(RecordingError, match="the program has changed between"):
        Ranks([a, dataclasses.replace(b, sources={**b.sources, file: "x = 1\n"})])


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_they_are_given_changes_no_finding(seed: int) -> None:
    given = trained(4, model=lambda rank: Model(b=0.5 + (rank == 2)), averages="never")
    shuffled = random.Random(seed).sample(given, len(given))
    assert rank_findings(Ranks(shuffled)) == rank_findings(Ranks(given))


@given(st.sets(st.integers(0, 40), min_size=1))
def test_the_words_name_every_rank_once(ranks: set[int]) -> None:
    word, _, text = rank_text(list(ranks)).partition(" ")
    assert word == ("rank" if len(ranks) == 1 else "ranks")
    found: list[int] = []
    for part in text.replace(" and ", ", ").split(", "):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    assert found == sorted(ranks)


def test_the_words_of_ranks() -> None:
    assert rank_text([2]) == "rank 2"
    assert rank_text([1, 0]) == "ranks 0 and 1"
    assert rank_text([0, 1, 2, 3]) == "ranks 0-3"
    assert rank_text([0, 2, 5, 6, 7]) == "ranks 0, 2 and 5-7"


@pytest.mark.parametrize("said", [10**18, 10**4000, -1, 2.5, True, "2", "\x1b]0;x\x07", [0, 1], None])
def test_what_is_no_rank_and_no_count_is_not_said(said: object) -> None:
    one, other = (dataclasses.replace(recording, options={"rank": said, "ranks": said}) for recording in trained(2))
    ranks = Ranks([one, other])
    assert ranks.numbers == (0, 1)
    assert ranks.missing == ()  # and that at once


def test_thousands_of_ranks_are_grouped_at_once() -> None:
    recording = trained(1)[0]
    of_rank = [ranked(recording, rank, 20_000) for rank in range(5_000)]
    assert len(Ranks(of_rank).missing) == 15_000
    with pytest.raises(RecordingError, match="recording 4 and recording 5000 are both of rank 3"):
        Ranks([*of_rank[:-1], of_rank[3]])
