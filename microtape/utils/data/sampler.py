"""Samplers: the order in which the rows of a dataset are taken.

Note [The order of random draws]
  A program that sets a seed gets the batches that it gets on torch, so random numbers are drawn at the same times. Each
  `iter(loader)` draws a number from the default generator, which torch uses as the seed of its worker processes. With
  the first batch, a RandomSampler draws another one, and shuffles with a new generator that starts from it. A generator
  of the user's takes the place of both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from microtape.basics.dtypes import float64, int64
from microtape.random import Generator
from microtape.tensors.factories import as_tensor, empty, randint, randperm

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip

T = TypeVar("T", covariant=True)


def drawn_seed(generator: Generator | None = None) -> int:
    """A number to start a generator from, drawn from `generator` or the default one."""
    number: Any = empty((), dtype=int64)
    return int(number.random_(generator=generator).item())


class Sampler(Generic[T]):
    """An iterable of indices, or of lists of indices. A subclass has `__iter__`, and `__len__` if it is known."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ..., as many as `data_source` has rows."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices of all rows of `data_source` in random order; with `replacement`, any of them, again and again.

    `num_samples` says how many, by default as many as there are rows. See Note [The order of random draws].
    Raises TypeError or ValueError for options that are none.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_number("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices there will be."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        rows, count = len(self.data_source), self.num_samples
        generator = self.generator if self.generator is not None else Generator().manual_seed(drawn_seed())
        size = 32 if self.replacement else rows  # of what is drawn at once
        while count >= 0:  # NB: as in torch, there is another draw if the count is a multiple of the size
            if self.replacement:
                yield from randint(rows, (min(count, size),), generator=generator).tolist()
            else:
                yield from randperm(rows, generator=generator).tolist()[:count]
            count -= size

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices, each with a probability proportional to its weight.

    Raises ValueError for options that are none.
    """

    def __init__(
        self,
        weights: Any,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_number("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights: Any = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = self.weights.multinomial(self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices of another sampler; the last one may be shorter, unless `drop_last`.

    Raises ValueError for options that are none.
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_number("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler: Any = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        return (len(self.sampler) + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size


def _check_number(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")
