"""The DataLoader: batches of the rows of a dataset."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from microtape.basics.call_site import user_stacklevel
from microtape.random import Generator
from microtape.utils.data.collate import default_collate, default_convert
from microtape.utils.data.dataset import IterableDataset
from microtape.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, drawn_seed

__all__ = ["DataLoader", "default_collate", "get_worker_info"]

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


def get_worker_info() -> None:
    """None: no process but this one loads data."""


class DataLoader:
    """An iterable of the batches of a dataset; see Note [The order of random draws].

    Args:
        dataset: rows by number, `dataset[i]` for i < `len(dataset)`, or an IterableDataset.
        batch_size: how many rows make a batch; None for single rows, without a dimension for the batch.
        shuffle: take the rows in another random order each time.
        sampler: take the rows in the order of this iterable of indices.
        batch_sampler: make the batches from this iterable of lists of indices.
        collate_fn: makes a batch out of a list of rows; by default `default_collate`.
        drop_last: leave out the last batch if it is not whole.
        generator: what to shuffle by; by default a new one, started from a number of the default generator.
        num_workers, timeout, worker_init_fn, multiprocessing_context, prefetch_factor, persistent_workers, in_order:
            for worker processes. There are none: this process loads the data, and a warning says so.
        pin_memory, pin_memory_device: for GPUs. There are none.

    Raises ValueError for options that exclude each other.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        is_iterable = isinstance(dataset, IterableDataset)
        asked = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in asked.items() if is_iterable else ():
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not is_iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.drop_last = drop_last
        self.generator = generator
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, worker_init_fn
        self.multiprocessing_context, self.prefetch_factor = multiprocessing_context, prefetch_factor
        self.persistent_workers, self.in_order = persistent_workers, in_order
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_is_made" in vars(self):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            drawn_seed(self.generator)
            return self._batches_of(iter(self.dataset))
        indices = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        drawn_seed(self.generator)
        return (self.collate_fn(self._rows(one)) for one in indices)

    def _rows(self, index: Any) -> Any:
        if self.batch_sampler is None:
            return self.dataset[index]
        together = getattr(self.dataset, "__getitems__", None)  # a dataset may fetch many rows at once
        return together(index) if together is not None else [self.dataset[one] for one in index]

    def _batches_of(self, rows: Iterator[Any]) -> Iterator[Any]:
        """The batches of rows that come one after the other."""
        if self.batch_size is None:
            yield from map(self.collate_fn, rows)
            return
        while batch := list(itertools.islice(rows, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        rows: int = len(self.dataset)  # type: ignore[arg-type]
        return rows if self.batch_size is None else len(BatchSampler(range(rows), self.batch_size, self.drop_last))


def _check_workers(count: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if count < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if count == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if count > 0:
        warnings.warn(
            f"DataLoader(num_workers={count}): there are no worker processes here, this process loads the data",
            stacklevel=user_stacklevel(),
        )
