"""Datasets: rows that are found by number, or that come one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from microtape.basics.call_site import user_stacklevel
from microtape.random import Generator
from microtape.tensors.factories import randperm

__all__ = ["ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"]

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Rows by number: a subclass has `__getitem__`, and `__len__` for whoever asks how many there are."""

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Rows one after the other: a subclass has `__iter__`."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Row i is the tuple of the i-th rows of tensors with as many rows, of shapes (n, ...).

    Raises AssertionError if one has another number of rows.
    """

    def __init__(self, *tensors: Any) -> None:
        if any(tensors[0].size(0) != one.size(0) for one in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(one[index] for one in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class ConcatDataset(Dataset[Any]):
    """The rows of several datasets, one dataset after the other. Raises AssertionError if there are none."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(one, IterableDataset) for one in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __getitem__(self, index: int) -> Any:
        if index < -len(self):
            raise ValueError("absolute value of index should not exceed dataset length")
        index += len(self) if index < 0 else 0
        number = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[number][index - (self.cumulative_sizes[number - 1] if number else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class Subset(Dataset[T]):
    """The rows of a dataset with these indices."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T:
        places = [self.indices[one] for one in index] if isinstance(index, list) else self.indices[index]
        return self.dataset[places]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Divide a dataset at random into subsets of these lengths, or of these fractions, if they add up to 1.

    Of the rows that fractions leave over, the first subsets get one each. Raises ValueError if the lengths do not add
    up to that of the dataset, or a fraction is not between 0 and 1.
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = iter(randperm(len(dataset), generator=generator).tolist())
    return [Subset(dataset, list(itertools.islice(order, int(length)))) for length in lengths]


def _lengths(total: int, fractions: Sequence[float]) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.",
                stacklevel=user_stacklevel(),
            )
    return lengths
