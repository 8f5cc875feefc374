"""Random numbers, from a seeded generator that gives the numbers that torch's does on the CPU.

Note [torch's random numbers]
  torch draws 32-bit words from the Mersenne Twister, which numpy has too. A float32 is made of the low 24 bits of a
  word, a float64 of the low 53 bits of two. Normal numbers come from pairs of uniform ones (Box and Muller, 1958):
  fewer than 16 one pair at a time, more in blocks of 16. A 64-bit word is the first 32-bit one high, the second low.
  A coin that falls with one probability for all, as dropout throws it, takes a float64.
  NB: on Intel's processors torch throws those coins with a library of Intel's, and so others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.tape.tensor_state import Array


class Generator:
    """A source of random numbers. The same seed gives the same numbers."""

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        self.spare: float | None = None  # the second of a pair of normal numbers
        self.manual_seed(DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`. Returns self."""
        self._seed = int(seed)
        self._made: np.random.MT19937 | None = None
        self.spare = None
        return self

    @property
    def _twister(self) -> np.random.MT19937:
        """numpy's generator, made when the first number is drawn: importing it takes longer than importing us."""
        if self._made is None:
            self._made = np.random.MT19937()
            self._made._legacy_seeding(self._seed & 0xFFFFFFFF)
        return self._made

    def initial_seed(self) -> int:
        """The seed it was last started from."""
        return self._seed

    def get_state(self) -> Any:
        """Where it stands, for `set_state`."""
        return self._twister.state, self.spare

    def set_state(self, state: Any) -> None:
        """Go on from where `get_state` was called."""
        self._twister.state, self.spare = state

    def words(self, count: int) -> Array:
        """So many 32-bit words."""
        return self._twister.random_raw(count).astype(np.uint64)

    def long_words(self, count: int) -> Array:
        """So many 64-bit words."""
        words = self.words(2 * count)
        return (words[0::2] << np.uint64(32)) | words[1::2]

    def uniform(self, count: int, dtype: Any) -> Array:
        """Numbers from 0 up to but without 1."""
        if np.dtype(dtype) == np.float64:
            return (self.long_words(count) & np.uint64(2**53 - 1)).astype(np.float64) / 2.0**53
        return ((self.words(count) & np.uint64(2**24 - 1)) / 2.0**24).astype(dtype)

    def normal(self, count: int, dtype: Any) -> Array:
        """Numbers of mean 0 and standard deviation 1."""
        if count < 16:
            return np.array([self._normal() for _ in range(count)], np.float64).astype(dtype)
        values = self.uniform(count, dtype)
        whole = count - count % 16
        values[:whole] = pairs_in_blocks(values[:whole])
        if count % 16:
            values[-16:] = pairs_in_blocks(self.uniform(16, dtype))
        return values

    def _normal(self) -> float:
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        u, v = self.uniform(2, np.float64).tolist()
        radius, angle = math.sqrt(-2 * math.log1p(-v)), 2 * math.pi * u
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)

    def integers(self, low: int, high: int, count: int) -> Array:
        """Whole numbers from `low` up to but without `high`."""
        span = high - low
        words = self.words(count) if span < 2**32 else self.long_words(count)
        return (words % np.uint64(span)).astype(np.int64) + low

    def permutation(self, count: int) -> Array:
        """The numbers below `count` in random order."""
        order = np.arange(count)
        words = self.words(max(count - 1, 0)).tolist()
        for i, word in enumerate(words):
            j = i + word % (count - i)
            order[i], order[j] = order[j], order[i]
        return order


def pairs_in_blocks(uniform: Array) -> Array:
    """Normal numbers from uniform ones: in each block of 16, the first 8 with the last 8."""
    u, v = (half.astype(uniform.dtype) for half in np.moveaxis(uniform.reshape(-1, 2, 8), 1, 0))
    radius, angle = np.sqrt(-2 * np.log(1 - u)), 2 * np.pi * v
    both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return both.reshape(-1).astype(uniform.dtype)


DEFAULT_SEED = 67280421310721  # as torch has it
default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default generator from `seed`."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the default generator from a seed that nobody knows, and return that."""
    value = int(np.random.SeedSequence().generate_state(1)[0])
    manual_seed(value)
    return value


def initial_seed() -> int:
    """The seed that the default generator was last started from."""
    return default_generator.initial_seed()


def drawn(kind: str, shape: tuple[int, ...], dtype: Any, generator: Generator | None) -> Array:
    """An array of uniform or normal numbers."""
    source = generator or default_generator
    draw = source.uniform if kind == "uniform" else source.normal
    count = math.prod(shape)
    if np.dtype(dtype).kind == "c":
        part = dtypes.float64 if dtype == np.complex128 else dtypes.float32
        pairs = draw(2 * count, part).reshape(-1, 2) * (math.sqrt(0.5) if kind == "normal" else 1)
        return (pairs[:, 0] + 1j * pairs[:, 1]).astype(dtype).reshape(shape)
    return draw(count, dtype).reshape(shape)
