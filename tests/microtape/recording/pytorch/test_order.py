from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.pytorch.passes.order import ReadyHeap, evaluation_order

priorities = st.tuples(st.integers(0, 2), st.integers(0, 4))


@given(st.lists(st.one_of(priorities, st.none())))
def test_the_innermost_pass_comes_first_and_then_the_highest_sequence_number(moves):
    heap, inside = ReadyHeap(), {}
    for node, move in enumerate(moves):
        if move is not None:
            depth, number = inside[node] = move
            heap.push(node, number, depth)
        elif inside:
            highest = max(inside.values())
            assert inside.pop(heap.pop()) == highest


def test_an_empty_queue_has_no_next_node():
    with pytest.raises(IndexError):
        ReadyHeap().pop()


def test_equal_nodes_do_not_run_in_the_order_in_which_they_became_ready():
    edges = [range(1, 13), *[()] * 12]
    order = evaluation_order([0], edges, [7] + [2**64 - 1] * 12)
    assert [node - 1 for node in order][1:] == [0, 2, 6, 11, 10, 9, 8, 5, 7, 4, 1, 3]


def test_a_root_waits_for_the_roots_that_deliver_to_it():
    assert list(evaluation_order([0, 1, 1], [(), (0,)], [5, 3])) == [1, 0]
