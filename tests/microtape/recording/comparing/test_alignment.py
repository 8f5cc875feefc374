"""Alignment of two sequences: the longest common subsequence."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.comparing import alignment
from microtape.recording.comparing.alignment import aligned

SEQUENCES = st.text("abc", max_size=7)


def longest(a: str, b: str) -> int:
    """The length of the longest common subsequence, by trying all of them."""
    common = {"".join(some) for size in range(len(a) + 1) for some in combinations(a, size)}
    return max(len(one) for one in common if one in {"".join(some) for some in combinations(b, len(one))})


@given(SEQUENCES, SEQUENCES)
def test_the_pairs_are_equal_rise_and_are_as_many_as_possible(a: str, b: str) -> None:
    pairs = aligned(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    assert len(pairs) == longest(a, b)


def test_an_inserted_item_moves_the_rest() -> None:
    assert aligned("abcdef", "abxcdef") == [(0, 0), (1, 1), (2, 3), (3, 4), (4, 5), (5, 6)]


def test_what_has_too_little_in_common_is_not_aligned(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(alignment, "MOST", 3)
    assert aligned("abcccc", "abdddd") == [(0, 0), (1, 1)]
