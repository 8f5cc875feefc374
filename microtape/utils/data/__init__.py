"""Datasets, and the batches that a DataLoader makes of them, under torch's names. All runs in one process.

dataset      rows by number, or one after the other; subsets and splits
sampler      the order in which rows are taken, from the same random numbers as torch's
collate      many rows as one batch
dataloader   puts these together
"""

from microtape.absent import lacking as _lacking
from microtape.utils.data.collate import default_collate, default_convert
from microtape.utils.data.dataloader import DataLoader, get_worker_info
from microtape.utils.data.dataset import (
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from microtape.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

__getattr__ = _lacking(__name__)
