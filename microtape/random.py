"""Random numbers, from a seeded generator that gives the same numbers as torch's on the CPU.

Note [torch's random numbers]
  torch draws 32-bit words from the Mersenne Twister, which numpy has too. A float32 uses the low 24 bits of one
  word, a float64 the low 53 bits of two words, of which the first is the high half. Normal numbers are computed from
  pairs of uniform ones (Box and Muller, 1958): fewer than 16 pair by pair in float64, more in blocks of 16. A float32
  block is computed by polynomials (`basics/single_precision.py`), a float64 block by the functions of C. A number is
  scaled and shifted by a fused multiply-add, without which the last bit differs. A Bernoulli sample with a single
  probability for all elements, as in dropout, uses a float64.
  NB: on Intel's processors torch draws these samples with a library of Intel's, which gives other numbers. On
  processors without AVX2, such as ARM's, the last bits of normal numbers differ.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.basics.devices import CPU, check_device
from microtape.basics.fused import multiply_add
from microtape.basics.single_precision import log, sine_and_cosine
from microtape.tape.tensor_state import Array

__all__ = ["Generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


class Generator:
    """A source of random numbers, which depend only on the seed."""

    def __init__(self, device: Any = "cpu") -> None:
        """Raises RuntimeError for another device than the CPU."""
        check_device(device)
        self.device = CPU
        self.spare: float | None = None  # the second of a pair of normal numbers
        self.manual_seed(DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Restart from `seed`, of which the low 32 bits count. Returns self."""
        self._seed = int(seed)
        self._made: np.random.MT19937 | None = None
        self.spare = None
        return self

    @property
    def _twister(self) -> np.random.MT19937:
        """numpy's generator, made with the first number: importing it takes longer than importing microtape."""
        if self._made is None:
            self._made = np.random.MT19937()
            self._made._legacy_seeding(self._seed & 0xFFFFFFFF)
        return self._made

    def initial_seed(self) -> int:
        """The seed of the last start."""
        return self._seed

    def seed(self) -> int:
        """Restart from an unpredictable seed. Returns the seed."""
        return self.manual_seed(int(np.random.SeedSequence().generate_state(1)[0])).initial_seed()

    def get_state(self) -> Any:
        """The state, an opaque object for `set_state`."""
        return self._twister.state, self.spare

    def set_state(self, state: Any) -> None:
        """Continue from a state that `get_state` returned."""
        self._twister.state, self.spare = state

    def words(self, count: int) -> Array:
        """The next `count` 32-bit words, as uint64 (count,)."""
        return self._twister.random_raw(count).astype(np.uint64)

    def long_words(self, count: int) -> Array:
        """The next `count` 64-bit words, as uint64 (count,)."""
        words = self.words(2 * count)
        return (words[0::2] << np.uint64(32)) | words[1::2]

    def uniform(self, count: int, dtype: Any) -> Array:
        """Uniform numbers in [0, 1), (count,), of a real floating-point dtype."""
        if np.dtype(dtype) == np.float64:
            return (self.long_words(count) & np.uint64(2**53 - 1)).astype(np.float64) / 2.0**53
        return ((self.words(count) & np.uint64(2**24 - 1)) / 2.0**24).astype(dtype)

    def normal(self, count: int, dtype: Any, mean: float = 0.0, std: float = 1.0) -> Array:
        """Normal numbers of that mean and standard deviation, (count,), of a real floating-point dtype."""
        if count < 16:
            values = np.array([self._normal() for _ in range(count)], np.float64)
            return multiply_add(values, std, mean).astype(dtype)
        values = self.uniform(count, dtype)
        whole = count - count % 16
        values[:whole] = _pairs_in_blocks(values[:whole])
        if count % 16:
            values[-16:] = _pairs_in_blocks(self.uniform(16, dtype))
        return multiply_add(values, std, mean)

    def _normal(self) -> float:
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        u, v = self.uniform(2, np.float64).tolist()
        radius, angle = math.sqrt(-2 * math.log1p(-v)), 2 * math.pi * u
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)

    def integers(self, low: int, high: int, count: int) -> Array:
        """Whole numbers in [low, high), as int64 (count,)."""
        span = high - low
        words = self.words(count) if span < 2**32 else self.long_words(count)
        return (words % np.uint64(span)).astype(np.int64) + low

    def permutation(self, count: int) -> Array:
        """The numbers 0 to count - 1 in random order, (count,)."""
        order = np.arange(count)
        words = self.words(max(count - 1, 0)).tolist()
        for i, word in enumerate(words):
            j = i + word % (count - i)
            order[i], order[j] = order[j], order[i]
        return order


def _pairs_in_blocks(uniform: Array) -> Array:
    """Normal numbers from uniform ones: in each block of 16, the first 8 pair with the last 8."""
    u, v = np.moveaxis(uniform.reshape(-1, 2, 8), 1, 0)
    angle = uniform.dtype.type(2 * np.pi) * v
    if uniform.dtype == np.float32:
        logarithm, (sine, cosine) = log(1 - u), sine_and_cosine(angle)
    else:
        logarithm, sine, cosine = (_by_c(f, x) for f, x in ((math.log, 1 - u), (math.sin, angle), (math.cos, angle)))
    radius = np.sqrt(-2 * logarithm)
    both = np.stack([radius * cosine, radius * sine], 1)
    return both.reshape(-1).astype(uniform.dtype)


def _by_c(function: Any, array: Array) -> Array:
    """A function of C's library of each element: numpy's own may differ in the last bit."""
    return np.array([function(x) for x in array.reshape(-1).tolist()]).reshape(array.shape)


DEFAULT_SEED = 67280421310721  # torch's
default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Restart the default generator from `seed`. Returns that generator."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Restart the default generator from an unpredictable seed. Returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator's last start."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the default generator, an opaque object for `set_rng_state`. NB: torch's is a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Let the default generator continue from a state that `get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Restore the default generator's state at the end of the block."""
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)


def drawn(
    kind: str, shape: tuple[int, ...], dtype: Any, generator: Generator | None, mean: float = 0.0, std: float = 1.0
) -> Array:
    """An array of numbers of this shape and dtype; `kind` is "uniform" or "normal"; None: the default generator.

    Normal numbers have that mean and standard deviation.
    """
    source = generator or default_generator
    count = math.prod(shape)
    if np.dtype(dtype).kind == "c":
        part = dtypes.float64 if dtype == np.complex128 else dtypes.float32
        draw = source.uniform if kind == "uniform" else source.normal
        pairs = draw(2 * count, part).reshape(-1, 2) * (math.sqrt(0.5) if kind == "normal" else 1)
        return ((pairs[:, 0] + 1j * pairs[:, 1]).astype(dtype) * std + mean).astype(dtype).reshape(shape)
    values = source.uniform(count, dtype) if kind == "uniform" else source.normal(count, dtype, mean, std)
    return values.reshape(shape)
