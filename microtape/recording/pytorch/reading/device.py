"""Values of tensors on a device. They are reduced there, and fetched together: the program waits once, not each time.

The operations here are torch's, on the program's tensors, but they leave nothing behind that shares their memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import SAMPLED, from_parts, sample_places, shown_repeats, summarize
from microtape.recording.model.thumbnail import block_starts, means_of_blocks
from microtape.recording.pytorch.reading.modes import WithoutDispatch, WithoutFunctionModes

_BLOCK = 1 << 21  # elements that are measured together, so that little memory is needed
_STATISTICS = 9  # numbers that `_statistics` finds
_LARGE, _SMALL = 1e150, 1e-100  # magnitudes beyond which squares of float64 are infinite or 0
_SINGLE = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.float16, torch.bfloat16, torch.float32}

_torch: Any = torch  # the parts of torch that are not typed
_Bytes = npt.NDArray[np.uint8]


class Pending:
    """Stands for a value until it is there."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Value | None = None


class Fetcher:
    """Collects what is to be fetched from devices."""

    def __init__(self) -> None:
        self.was_used = False
        self._waiting: list[tuple[Pending, torch.Tensor, Callable[[_Bytes], Value]]] = []

    def elements(self, tensor: Any, numpy_dtype: np.dtype[Any] | None, finish: Callable[[Any], Value]) -> Pending:
        """Fetch all elements; those of a dtype that numpy lacks as float32 or complex64."""
        once = _once(tensor)
        dtype = numpy_dtype
        if dtype is None:
            dtype = np.dtype(np.complex64 if once.is_complex() else np.float32)
            once = once.to(torch.complex64 if once.is_complex() else torch.float32)
        shape, whole = tuple(once.shape), tuple(tensor.shape)

        def array(raw: _Bytes) -> Value:
            return finish(np.broadcast_to(raw.view(dtype).reshape(shape), whole))

        return self._wait(_bytes_of(once), array)

    def summary(self, tensor: Any) -> Pending:
        """Fetch what a summary of many elements says of them."""
        dtype, shape = str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)
        repeats, parts, rows = _measured(tensor)

        def summary(raw: _Bytes) -> Value:
            found = raw.view(np.float64)
            statistics, sample, sums = np.split(found, [_STATISTICS, _STATISTICS + SAMPLED])
            means = means_of_blocks(*sums.reshape(2, rows, -1))
            return from_parts(shape, dtype, statistics.tolist(), sample, repeats, means)

        return self._wait(_bytes_of(parts), summary)

    def _wait(self, raw: torch.Tensor, finish: Callable[[_Bytes], Value]) -> Pending:
        self.was_used = True
        pending = Pending()
        self._waiting.append((pending, raw, finish))
        return pending

    def fetch(self) -> None:
        """Give all pending values what they wait for: one copy for each device."""
        waiting, self._waiting = self._waiting, []
        for device in dict.fromkeys([raw.device for _, raw, _ in waiting]):
            those = [one for one in waiting if one[1].device == device]
            with Quietly():
                found = to_host(torch.cat([raw for _, raw, _ in those]))
            start = 0
            for pending, raw, finish in those:
                pending.value = finish(found[start : start + raw.numel()].copy())  # copied, so that it is aligned
                start += raw.numel()


def to_host(raw: torch.Tensor) -> _Bytes:
    """Copy bytes to the processor's memory. The program waits for it."""
    found: _Bytes = raw.cpu().numpy()
    return found


class Quietly:
    """A context for operations of our own: none is recorded, neither by torch nor by a mode."""

    def __init__(self) -> None:
        self._guards = [torch.no_grad(), WithoutDispatch(), WithoutFunctionModes()]

    def __enter__(self) -> None:
        for guard in self._guards:
            guard.__enter__()

    def __exit__(self, *error: Any) -> None:
        for guard in reversed(self._guards):
            guard.__exit__(*error)


def settled(thing: Any, met: list[Pending] | None = None) -> Any:
    """Records with values in the place of pending ones, which are appended to `met`."""
    if isinstance(thing, Pending):
        if met is not None:
            met.append(thing)
        return thing.value
    if isinstance(thing, dict):
        return {key: value for key, one in thing.items() if (value := settled(one, met)) is not None or one is None}
    if isinstance(thing, tuple) and not isinstance(thing, Summary):
        parts = [settled(one, met) for one in thing]
        if all(a is b for a, b in zip(parts, thing, strict=True)):
            return thing
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    return thing


def as_copy(array: npt.NDArray[Any]) -> Value:
    """A read-only array of its own."""
    value = np.array(array)
    value.setflags(write=False)
    return value


def as_summary(dtype: str) -> Callable[[npt.NDArray[Any]], Value]:
    """What makes a summary of elements with this dtype of torch's."""
    return lambda array: summarize(array)._replace(dtype=dtype)


def _once(tensor: Any) -> Any:
    """The elements without the repetitions of an expanded tensor, and without what is left to do when they are read."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    return plain[tuple([slice(1) if stride == 0 else slice(None) for stride in plain.stride()])]


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy as bytes."""
    return tensor.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def _measured(tensor: Any) -> tuple[int, torch.Tensor, int]:
    """How often each element is repeated, what is to be fetched, and how many rows the thumbnail has.

    To be fetched are the statistics, a sample, the sums of blocks, and how many finite elements each block has.
    """
    once = _once(tensor)
    numbers = _numbers(once)
    order = sorted(range(once.dim()), key=once.stride, reverse=True)
    flat = numbers.permute(order).reshape(-1)
    statistics = _statistics(flat)
    places = torch.from_numpy(sample_places(flat.numel())).to(flat.device, non_blocking=True)
    repeated = [stride == 0 for stride in tensor.stride()]
    shown = numbers.expand(shown_repeats(tuple(tensor.shape), repeated))
    sums, counts = _blocks(shown.reshape(-1, shown.shape[-1] if shown.dim() else 1), statistics[-1])
    parts = [statistics, flat[places].double(), sums.reshape(-1), counts.reshape(-1)]
    return tensor.numel() // once.numel(), torch.cat(parts), len(sums)


def _numbers(once: Any) -> Any:
    """The elements as float32 or float64; of complex ones the magnitudes."""
    if once.is_complex():
        return once.to(torch.complex128).abs()
    return once.to(torch.float32 if once.dtype in _SINGLE or once.element_size() == 1 else torch.float64)


def _statistics(flat: Any) -> torch.Tensor:
    """The least and largest finite number, mean, deviation, counts of zeros, NaN, -inf and finite ones, and a scale.

    The mean and the deviation are those of the numbers divided by the scale.
    """
    blocks = flat.split(_BLOCK)
    known = [one.isfinite() for one in blocks]
    low = torch.stack([one.where(here, torch.inf).min() for one, here in zip(blocks, known, strict=True)]).min()
    high = torch.stack([one.where(here, -torch.inf).max() for one, here in zip(blocks, known, strict=True)]).max()
    low, high = low.double(), high.double()
    count = torch.stack([here.sum() for here in known]).sum().double()
    zeros = torch.stack([(one == 0).sum() for one in blocks]).sum().double()
    nans = torch.stack([one.isnan().sum() for one in blocks]).sum().double()
    negative = torch.stack([(one == -torch.inf).sum() for one in blocks]).sum().double()
    largest = torch.maximum(low.abs(), high.abs())
    is_usual = (largest < _LARGE) & (largest > _SMALL) | (largest == 0)
    scale = torch.where(is_usual | ~largest.isfinite(), 1.0, largest).double()
    finite = [one.where(here, 0).double() / scale for one, here in zip(blocks, known, strict=True)]
    mean = torch.stack([one.sum() for one in finite]).sum() / count
    squares = [((one - mean).square() * here).sum() for one, here in zip(finite, known, strict=True)]
    std = (torch.stack(squares).sum() / count).sqrt()
    return torch.stack([low, high, mean, std, zeros, nans, negative, count, scale])


def _blocks(matrix: Any, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The sums of the finite numbers in each block of a matrix, and how many there are."""
    height, width = matrix.shape
    (rows, row_ends), (columns, column_ends) = (block_starts(height, 0), block_starts(width, 1))
    sums, counts = [], []
    for start, end in zip(rows, row_ends, strict=True):
        part = matrix[start:end]
        known = part.isfinite()
        sums.append((part.where(known, 0) / scale.to(part.dtype)).sum(0, dtype=torch.float64) * scale)
        counts.append(known.sum(0, dtype=torch.float64))
    each = [torch.stack(one) for one in (sums, counts)]
    found = [
        torch.stack([one[:, start:end].sum(1) for start, end in zip(columns, column_ends, strict=True)], 1)
        for one in each
    ]
    return found[0], found[1]
