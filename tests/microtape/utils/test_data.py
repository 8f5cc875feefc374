"""Datasets and batches: every row comes once, a seed repeats an epoch, and what is not here says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.utils.data import (
    DataLoader,
    IterableDataset,
    RandomSampler,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)


@given(st.integers(1, 40), st.integers(1, 9), st.booleans(), st.integers(0, 99))
def test_every_row_comes_once_in_an_epoch(rows: int, size: int, drop_last: bool, seed: int):
    mt.manual_seed(seed)
    loader = DataLoader(TensorDataset(mt.arange(rows), -mt.arange(rows)), size, shuffle=True, drop_last=drop_last)
    batches = list(loader)
    assert len(batches) == len(loader) == (rows // size if drop_last else -(-rows // size))
    assert all(len(first) == size for first, _ in batches[: rows // size])
    seen = [one for first, second in batches for one in zip(first.tolist(), second.tolist(), strict=True)]
    assert len(set(seen)) == len(seen) == (rows // size * size if drop_last else rows)
    assert all(one == -other for one, other in seen)


@given(st.integers(0, 99))
def test_a_seed_repeats_the_order_and_the_next_epoch_has_another(seed: int):
    def epochs(**options: object) -> list[list[int]]:
        loader = DataLoader(range(50), batch_size=50, shuffle=True, **options)
        return [next(iter(loader)).tolist() for _ in range(2)]

    mt.manual_seed(seed)
    one = epochs()
    mt.manual_seed(seed)
    two = epochs()
    assert one == two
    assert one[0] != one[1]
    assert epochs(generator=mt.Generator().manual_seed(seed)) == epochs(generator=mt.Generator().manual_seed(seed))


def test_the_order_is_torchs():
    mt.manual_seed(0)
    assert list(RandomSampler(range(10))) == [6, 9, 0, 7, 3, 5, 4, 2, 1, 8]
    assert random_split(range(10), [7, 3])[1].indices == [6, 9, 4]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(lambda one: sum(one) != 1), st.integers(0, 99))
def test_a_split_divides_all_rows(lengths: list[int], seed: int):
    mt.manual_seed(seed)
    parts = random_split(range(sum(lengths)), lengths)
    assert [len(part) for part in parts] == lengths
    assert sorted(part[i] for part in parts for i in range(len(part))) == list(range(sum(lengths)))


def test_fractions_leave_no_row_out():
    assert [len(part) for part in random_split(range(23), [0.5, 0.3, 0.2])] == [12, 7, 4]


def test_a_batch_of_dicts_and_numbers():
    batch = default_collate([{"x": np.float32(1), "y": (1, "a")}, {"x": np.float32(2), "y": (2, "b")}])
    assert batch["x"].dtype == mt.float32
    assert batch["x"].tolist() == [1, 2]
    assert batch["y"][0].tolist() == [1, 2]
    assert batch["y"][1] == ("a", "b")
    assert default_collate([0.5, 1.0]).dtype == mt.float64


def test_gradients_flow_through_batches():
    x = mt.arange(4.0).requires_grad_()
    loader = DataLoader(TensorDataset(x), batch_size=2)
    sum((batch * batch).sum() for (batch,) in loader).backward()
    assert x.grad.tolist() == [0, 2, 4, 6]


def test_rows_that_come_one_after_the_other():
    class Count(IterableDataset[int]):
        def __iter__(self):
            return iter(range(5))

    assert [batch.tolist() for batch in DataLoader(Count(), 2)] == [[0, 1], [2, 3], [4]]
    assert [batch.tolist() for batch in DataLoader(Count(), 2, drop_last=True)] == [[0, 1], [2, 3]]


def test_workers_are_not_here_but_the_program_runs():
    with pytest.warns(UserWarning, match="no worker processes here, this process loads the data") as warned:
        loader = DataLoader(Subset(range(9), [1, 2]), batch_size=2, num_workers=2, pin_memory=True)
    assert warned[0].filename == __file__
    assert next(iter(loader)).tolist() == [1, 2]


def test_classes_that_are_not_here_say_what_to_do():
    with pytest.raises(AttributeError, match="'StackDataset': it is not here; run the program on PyTorch"):
        mt.utils.data.StackDataset  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'tensorboard'"):
        mt.utils.tensorboard  # noqa: B018
