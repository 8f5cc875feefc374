"""The ranges of numbers that are given out while something runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.parity


class Owner:
    """What a range belongs to."""


def test_the_innermost_range_is_found_and_its_owner_is_not_held() -> None:
    from microtape.recording.pytorch.ranges import Ranges

    ranges: Ranges[Owner] = Ranges()
    outer, inner, after = Owner(), Owner(), Owner()
    ranges.add(1, 3, 5, inner, 7)
    ranges.add(0, 1, 9, outer)
    ranges.add(0, 10, 11, after)
    found = [ranges.find(number) for number in range(12)]
    assert [one[0] if one else None for one in found] == [
        None, outer, outer, inner, inner, outer, outer, outer, outer, None, after, None
    ]  # fmt: skip
    assert found[3] == (inner, 7)
    del inner, found
    assert ranges.find(3) == (outer, -1)


@given(st.recursive(st.just(()), lambda inside: st.lists(inside, max_size=3), max_leaves=40))
def test_ranges_in_ranges_are_found(tree: list[object]) -> None:
    from microtape.recording.pytorch.ranges import Ranges

    ranges: Ranges[Owner] = Ranges()
    owners, expected = [], {}
    following = 0

    def run(node: object, level: int) -> None:
        nonlocal following
        owner, start = Owner(), following
        owners.append(owner)
        expected[following] = owner
        following += 1
        for one in node:  # type: ignore[attr-defined]
            run(one, level + 1)
            expected[following] = owner
            following += 1
        ranges.add(level, start, following, owner, level)

    run(tree, 0)
    assert {number: ranges.find(number)[0] for number in expected} == expected  # type: ignore[index]
    assert ranges.find(following) is None


def test_ranges_whose_owners_are_gone_are_forgotten() -> None:
    from microtape.recording.pytorch.ranges import _PRUNE, Ranges

    ranges: Ranges[Owner] = Ranges()
    kept = Owner()
    ranges.add(0, 0, 1, kept)
    for number in range(1, _PRUNE):
        ranges.add(0, number, number + 1, Owner())
    assert ranges.find(0) == (kept, -1)
    assert sum(len(ends) for ends, _ in ranges._levels.values()) <= 2
