"""Datasets, samplers and batches: from one seed torch's rows in torch's order, whatever is drawn in between."""

from __future__ import annotations

import collections
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microtape
from tests.parity.observe import differences, run

Point = collections.namedtuple("Point", "a b")


def data_of(mt: Any) -> Any:
    return import_module(f"{mt.__name__}.utils.data")


def pairs(mt: Any, rows: int = 23) -> Any:
    return data_of(mt).TensorDataset(mt.arange(float(rows)), mt.arange(rows))


def batches(mt: Any, options: dict[str, Any], draws: list[int], rows: int) -> list[Any]:
    """The rows of each batch of three epochs, and what is drawn after each batch, as in a dropout."""
    options = dict(options)
    if (seed := options.pop("seed", None)) is not None:
        options["generator"] = mt.Generator().manual_seed(seed)
    mt.manual_seed(rows)
    loader = data_of(mt).DataLoader(pairs(mt, rows), **options)
    seen: list[Any] = []
    for count in draws:
        mt.rand(count)
        for _, indices in loader:
            seen.append((indices.tolist(), mt.rand(count).tolist()))
            if len(seen) % 7 == 6:
                break  # and leave the sampler where it is
    seen.append(mt.rand(2).tolist())
    return seen


@settings(max_examples=60, derandomize=True, database=None)
@given(
    options=st.fixed_dictionaries(
        {"batch_size": st.integers(1, 9)},
        optional={"shuffle": st.booleans(), "drop_last": st.booleans(), "seed": st.integers(0, 9)},
    ),
    draws=st.lists(st.integers(0, 3), min_size=3, max_size=3),
    rows=st.integers(1, 30),
)
def test_a_seed_gives_torchs_batches(options: dict[str, Any], draws: list[int], rows: int) -> None:
    import torch

    assert batches(microtape, options, draws, rows) == batches(torch, options, draws, rows)


def every_sampler(mt, see):
    data = data_of(mt)
    rows = pairs(mt)
    mt.manual_seed(3)
    for sampler in (
        data.SequentialSampler(rows), data.RandomSampler(rows), data.RandomSampler(rows, num_samples=50),
        data.RandomSampler(rows, replacement=True), data.RandomSampler(rows, replacement=True, num_samples=64),
        data.RandomSampler(rows, generator=mt.Generator()), data.SubsetRandomSampler([3, 5, 9, 1]),
        data.WeightedRandomSampler([0.1, 0.5, 0.4, 0.2], 6), data.WeightedRandomSampler([0.1, 0.5, 0.4], 2, False),
        data.BatchSampler(data.RandomSampler(rows, num_samples=46), 23, True),
    ):  # fmt: skip
        see(len(sampler), list(sampler), list(sampler))
        see.value(mt.rand(2))
        for options in ({"batch_size": 4}, {"batch_size": None}, {"batch_size": 4, "drop_last": True}):
            loader = data.DataLoader(range(99), **options, sampler=sampler)
            if not isinstance(sampler, data.BatchSampler):
                see(len(loader), list(loader))
    see(list(data.DataLoader(rows, batch_sampler=data.BatchSampler(range(7), 3, False))))


def numbers_are_drawn_when_torch_draws_them(mt, see):
    loader = data_of(mt).DataLoader(pairs(mt), batch_size=4, shuffle=True)
    mt.manual_seed(5)
    for _ in range(2):
        one, two = iter(loader), iter(loader)
        see.value(mt.rand(1))
        see(next(one), next(two), next(one))
        see.value(mt.rand(1))
        one = iter(data_of(mt).DataLoader([1, 2]))
        see.value(mt.rand(1))


def splits(mt, see):
    split = data_of(mt).random_split
    mt.manual_seed(1)
    for lengths in ([20, 3], [0.5, 0.5], [0.7, 0.2, 0.1], [0.99, 0.01], [23], [1.0], [0.3, 0.3, 0.4], [0, 23]):
        parts = split(pairs(mt), lengths)
        see([part.indices for part in parts], [len(part) for part in parts])
    part = split(range(23), [20, 3], generator=mt.Generator().manual_seed(2))[1]
    see(part.indices, part[0], list(data_of(mt).DataLoader(part, 2)))
    for lengths in ([1, 2], [1.5, -0.5], [0.5, 0.2]):
        with see.raising():
            split(pairs(mt), lengths)


def subsets_and_sums(mt, see):
    data = data_of(mt)
    both = pairs(mt, 4) + data.Subset(pairs(mt), [9, 3])
    see(len(both), [both[i] for i in range(-6, 6)], data.Subset(pairs(mt), [5, 6, 7])[[2, 0]])
    for index in (6, -7):
        with see.raising():
            both[index]
    with see.raising():
        data.ConcatDataset([])
    with see.raising():
        data.TensorDataset(mt.zeros(3), mt.zeros(4))
    with see.raising():
        data.Dataset()[0]


def rows_of_every_kind_are_batched(mt, see):
    data = data_of(mt)
    for rows in (
        [1, 2], [1.5, 2], ["a", "b"], [b"a"], [(1, 2.5), (3, 4.5)], [[1, 2], [3, 4]], [True, False], [2**40],
        [{"a": 1, "b": mt.ones(2)}, {"a": 2, "b": mt.zeros(2)}], [Point(1, 2), Point(3, 4)], [(), ()],
        [np.float32(1), np.float32(2)], [np.float64(1)], [np.int64(3)], [np.bool_(True)], [np.ones(2), np.zeros(2)],
        [(np.ones(2, "int32"), "x"), (np.ones(2, "int32"), "y")], [mt.tensor(1.0), mt.tensor(2.0)],
        [collections.OrderedDict(a=1), collections.OrderedDict(a=2)], [[(1, {"a": [2.0]})], [(3, {"a": [4.0]})]],
    ):  # fmt: skip
        see(data.default_collate(rows), type(data.default_collate(rows)).__name__)
        see(data.default_convert(rows), type(data.default_convert(rows)).__name__)
    x = mt.ones(2, requires_grad=True)
    see(data.default_collate([x, x * 2]), data.default_convert((Point(1, np.ones(1)), "a", None)))
    for rows in ([object], [[1], [1, 2]], [None], [np.array(["a"])], [np.array([None])], [mt.ones(2), mt.ones(3)]):
        with see.raising(text=rows[0] is not object):
            data.default_collate(rows)


def rows_may_come_one_after_the_other(mt, see):
    data = data_of(mt)

    class Count(data.IterableDataset):
        def __iter__(self):
            return iter(range(7))

    class Counted(Count):
        def __len__(self):
            return 7

    mt.manual_seed(0)
    for options in (
        {},
        {"batch_size": 3},
        {"batch_size": 3, "drop_last": True},
        {"batch_size": None},
        {"shuffle": False},
    ):
        see(list(data.DataLoader(Count(), **options)), len(data.DataLoader(Counted(), **options)))
    see.value(mt.rand(1))
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        with see.raising(text="sampler" not in str(options)):
            data.DataLoader(Count(), **options)
    with see.raising():
        len(data.DataLoader(Count()))


def datasets_of_the_users(mt, see):
    data = data_of(mt)

    class Squares(data.Dataset[int]):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return {"x": mt.tensor(float(index)), "square": index**2}

    class Together(Squares):
        def __getitems__(self, indices):
            return [self[i] for i in reversed(indices)]

    mt.manual_seed(0)
    for dataset in (Squares(), Together(), [3, 1, 2], mt.arange(4)):
        see(list(data.DataLoader(dataset, batch_size=2, shuffle=True)))
    see(list(data.DataLoader(Squares(), batch_size=2, collate_fn=lambda rows: [row["square"] for row in rows])))
    see(list(data.DataLoader(Squares(), batch_size=None)), data.get_worker_info())


def options_are_checked(mt, see):
    data = data_of(mt)
    rows = pairs(mt)
    for options in (
        {"batch_size": 0}, {"batch_size": 2.5}, {"batch_size": True}, {"num_workers": -1}, {"timeout": -1},
        {"shuffle": True, "sampler": [1]}, {"batch_size": None, "drop_last": True}, {"drop_last": 3},
        {"batch_sampler": [[1]], "batch_size": 2}, {"batch_sampler": [[1]], "shuffle": True}, {"prefetch_factor": 2},
        {"persistent_workers": True},
    ):  # fmt: skip
        with see.raising():
            data.DataLoader(rows, **options)
    with see.raising():
        data.DataLoader([], shuffle=True)
    see(list(data.DataLoader([])))
    for name in ("batch_size", "sampler", "dataset", "drop_last"):
        with see.raising():
            setattr(data.DataLoader(rows), name, 3)
    for make in (
        lambda: data.RandomSampler(rows, replacement=3), lambda: data.RandomSampler(rows, num_samples=0),
        lambda: data.WeightedRandomSampler([[1.0]], 2), lambda: data.WeightedRandomSampler([1.0], True),
        lambda: data.WeightedRandomSampler([1.0], 1, 2), lambda: data.BatchSampler([1], 2, 3),
        lambda: list(data.Sampler()), lambda: list(data.WeightedRandomSampler([1.0], 2, False)),
    ):  # fmt: skip
        with see.raising():
            make()


PROGRAMS: list[Callable[..., None]] = [
    every_sampler, numbers_are_drawn_when_torch_draws_them, splits, subsets_and_sums, rows_of_every_kind_are_batched,
    rows_may_come_one_after_the_other, datasets_of_the_users, options_are_checked,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_program_observes_what_it_does_on_torch(program: Callable[..., None]) -> None:
    import torch

    found = differences(run(program, torch), run(program, microtape))
    assert not found, "\n".join(found)
