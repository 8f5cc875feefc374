"""What a recording keeps of a torch tensor: a copy of its elements or a summary, read from memory behind torch's back.

`tensor.numpy()` would make the tensor's storage one that cannot be resized, `detach` and `clone` are operations that
modes see, and whatever shares the storage keeps `.grad` from being stolen. So nothing here is an operation on the
program's tensor: its memory is read through its address.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import reshaped, summarize
from microtape.recording.pytorch.reading.device import Fetcher, Quietly, as_copy, as_summary
from microtape.recording.pytorch.reading.later import LaterSummary
from microtape.recording.pytorch.reading.memory import (
    BOOL,
    NUMPY,
    QUICK,
    address_of,
    bytes_at,
    elements_of,
    is_lazy,
    layout_of,
    raw_of,
    sample_of,
)
from microtape.recording.pytorch.reading.modes import WithoutDispatch, WithoutFunctionModes
from microtape.recording.pytorch.reading.quick import frozen, is_dense, quick_copy, quick_dtype, steps_of
from microtape.recording.pytorch.reading.subclasses import PLAIN, as_plain
from microtape.recording.pytorch.reading.traced import is_traced
from microtape.recording.pytorch.reading.wrapped import WithoutTransforms, is_one_of_many, is_wrapped, same_elements

COPIED = 16_384  # an array with more elements is summarised
_WHOLE_NUMBERS = 4  # times as many of them are copied, as many as a file keeps: their statistics tell nothing
ALWAYS_COPIED = 1_024  # elements; so few are copied whatever the budget

_Array = npt.NDArray[Any]

_torch: Any = torch  # the parts of torch that are not typed, or not in every version
_is_batched = _torch._C._functorch.is_legacy_batchedtensor

_count_of_function_modes = _torch._C._len_torch_function_stack
_STRIDED = torch.strided


class Budget:
    """How many bytes of copied elements may be kept.

    Args:
        bytes: beyond them, an array with more than 1,024 elements is summarised. Smaller ones are not counted.
    """

    def __init__(self, bytes: int = 512 << 20) -> None:
        self.bytes = self.left = bytes


class Values:
    """The values of tensors within one step: tensors that show the same elements share a value.

    An address is given to other tensors later, so `clear` must be called after each step.

    Args:
        budget: for the copies.
        on_device: says whether a tensor is on a device. Its value is a `Pending` one until `fetch` is called.
    """

    def __init__(self, budget: Budget | None = None, on_device: Callable[[Any], bool] | None = None) -> None:
        self._budget = budget if budget is not None else Budget()
        self._on_device = on_device or _is_on_device
        self._has_quick_way = on_device is None
        self._fetcher = Fetcher()
        self._known: dict[Any, Value | None] = {}
        self._large: dict[Any, tuple[Any, Any, Any]] = {}  # memory -> its value, shape and strides
        self._puts_off = False  # whether any summary is made later
        self.met_examples = False  # whether tensors of `vmap` were met, whose elements cannot be told

    def of(self, tensor: Any) -> Value | None:
        """The value of a tensor; None for None, and for a tensor whose elements cannot be read."""
        if type(tensor) not in PLAIN and (tensor := as_plain(tensor)) is None:
            return None
        try:
            if self._has_quick_way and not _count_of_function_modes():
                dtype = quick_dtype(tensor)
                value: Value | None = self._usual(tensor, dtype) if dtype is not None else None
                if value is not None:
                    return value
            if is_traced():
                return None
            with WithoutFunctionModes():
                if tensor.layout is not torch.strided:
                    if self._on_device(tensor) and tensor.numel() <= COPIED:
                        with Quietly():
                            tensor = tensor.detach().to_dense()
                        dense: Value | None = self._reduced(tensor)
                        return dense
                    return self._new(tensor)
                version = 0 if tensor.is_inference() else tensor._version
                elements = tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, version
                is_conj, is_neg = tensor.is_conj(), tensor.is_neg()
                key = *elements, is_conj, is_neg
                known = self._known.get(key)
                if known is None:
                    known = self._reduced(tensor)
                    if known is None:
                        known = self._view_of_known(tensor, _memory_of(tensor, is_conj, is_neg))
                    if known is None and tensor.numel() > _most_copied(tensor):
                        known = self._put_off(tensor)
                    known = self._known[key] = known if known is not None else self._new(tensor)
                    self.note(tensor, known)
                return known
        except Exception:  # a fault of ours does not become the program's
            return self._of_wrapped(tensor)

    def _usual(self, tensor: Any, dtype: np.dtype[Any]) -> Value | None:
        """The value of a usual tensor, which has this dtype; None for a large one, or if the budget is used up."""
        size = tensor.numel()
        if size <= ALWAYS_COPIED:
            return quick_copy(tensor, dtype) if size else None
        if (size > COPIED and size > _most_copied(tensor)) or self._budget.left <= 0:
            return None
        shape, strides = tensor.shape, tensor.stride()
        if not tensor.is_contiguous() and not is_dense(shape, strides):
            return None
        memory = _memory_of(tensor)
        known: Value | None = self._view_of_known(tensor, memory)
        if known is None:
            copied = known = quick_copy(tensor, dtype)
            if copied is None:
                return None
            self._budget.left -= copied.nbytes
        self._large[memory] = known, shape, strides
        return known

    def _of_wrapped(self, tensor: Any) -> Value | None:
        """The value of a tensor of a function transform, which has no memory of its own."""
        try:
            if not is_wrapped(tensor):
                return None
            with WithoutTransforms():
                inner = same_elements(tensor)
                self.met_examples = self.met_examples or is_one_of_many(inner)
                return self.of(inner) if not is_wrapped(inner) else None
        except Exception:
            return None

    def _reduced(self, tensor: Any) -> Any:
        """The pending value of a tensor on a device; None for others, and while a graph of CUDA is captured."""
        if not self._on_device(tensor) or _is_unreadable(tensor):
            return None
        if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
            return None
        dtype, limit = NUMPY.get(tensor.dtype), COPIED if self._budget.left > 0 else ALWAYS_COPIED
        once = math.prod([side for side, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride])
        with Quietly():
            if once > COPIED:
                return self._fetcher.summary(tensor)
            if tensor.numel() > limit:
                finish = as_summary(str(tensor.dtype).removeprefix("torch."))
            else:
                self._budget.left -= tensor.nbytes
                finish = as_copy
            return self._fetcher.elements(tensor, dtype, finish)

    def sample_of(self, tensor: Any, most: int) -> Any:
        """About `most` evenly spaced elements in the order of the memory, perhaps pending; None if unreadable."""
        if not self._on_device(tensor):
            return sample_of(tensor, most)
        if tensor.layout is not torch.strided or _is_unreadable(tensor) or not tensor.numel():
            return None
        with Quietly():
            order = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
            elements = tensor.detach().permute(order).reshape(-1)
            step = max(1, elements.numel() // most)
            return self._fetcher.elements(elements[::step], NUMPY.get(tensor.dtype), as_copy)

    def differs(self, tensor: Any, value: Any) -> bool:
        """Whether a tensor of the processor is known to have other elements than this value of that shape."""
        if value is None or self._on_device(tensor) or (tensor := as_plain(tensor)) is None:
            return False
        try:
            with WithoutFunctionModes():
                if isinstance(value, LaterSummary):
                    return value.raw is not None and _is_another(raw_of(tensor), value.raw)
                return type(value) is np.ndarray and _is_another(elements_of(tensor), value)
        except Exception:  # there is nothing to read, as where memory was freed
            return False

    def fetch(self) -> None:
        """Fetch all values from devices that are pending."""
        self._fetcher.fetch()

    @property
    def has_pending(self) -> bool:
        """Whether records may hold pending values in the place of some."""
        return self._puts_off or self._fetcher.was_used

    def _new(self, tensor: Any) -> Value | None:
        limit = _most_copied(tensor) if self._budget.left > 0 else ALWAYS_COPIED
        dtype = quick_dtype(tensor) if self._has_quick_way else None
        copied = quick_copy(tensor, dtype) if dtype is not None and 0 < tensor.numel() <= limit else None
        value = copied if copied is not None else _value(tensor, limit)
        if isinstance(value, np.ndarray):
            self._budget.left -= value.nbytes
        return value

    def _put_off(self, tensor: Any) -> Any:
        """The summary of a large tensor, to be made later from a copy, if there is room for one."""
        if tensor.nbytes >= self._budget.left or not tensor.is_cpu or _is_unreadable(tensor):
            return None
        raw = np.array(raw_of(tensor))
        self._budget.left -= raw.nbytes
        self._puts_off = True
        return LaterSummary.of(raw, layout_of(tensor))

    def _view_of_known(self, tensor: Any, memory: Any) -> Any:
        """The value of a large array, if the same memory was read, perhaps in another shape."""
        known = self._large.get(memory)
        if known is None:
            return None
        value, shape, strides = known
        now, steps = tensor.shape, tensor.stride()
        if type(value) is np.ndarray and now == shape and steps == strides:
            return value
        if not (is_dense(shape, strides) and is_dense(now, steps) and _is_in_its_order(value, tensor.dtype, strides)):
            return None
        if type(value) is np.ndarray:
            return self._known.setdefault((memory, now, steps), _rearranged(value, now, steps))
        is_alike = strides[-1:] == steps[-1:] == (1,) and shape[-1:] == now[-1:]
        if isinstance(value, LaterSummary):
            return value.as_view(layout_of(tensor), steps, is_alike)
        if is_alike:
            return value._replace(shape=tuple(now))
        return reshaped(value, elements_of(tensor))

    def note(self, tensor: Any, value: Any) -> None:
        """Note that this tensor has this value, so that views of it need not be summarised again."""
        is_array = type(value) is np.ndarray
        is_large = value.size > ALWAYS_COPIED if is_array else isinstance(value, Summary | LaterSummary)
        if is_large and type(tensor) in PLAIN:
            try:
                with WithoutFunctionModes():
                    if tensor.layout is _STRIDED:
                        memory = _memory_of(tensor, tensor.is_conj(), tensor.is_neg())
                        self._large[memory] = value, tensor.shape, tensor.stride()
            except Exception:
                return

    def give_back(self, value: _Array) -> None:
        """A copy is not kept."""
        if value.size > ALWAYS_COPIED:
            self._budget.left += value.nbytes

    @property
    def spent(self) -> int:
        """How many bytes of the budget are used."""
        return self._budget.bytes - self._budget.left

    def renew(self) -> None:
        """Begin a segment, for whose copies there is the whole budget again."""
        self._budget.left = self._budget.bytes

    def clear(self) -> None:
        """Forget the values: the next step's tensors may be at the same addresses."""
        if self._known or self._large:
            self._known.clear()
            self._large.clear()


def _memory_of(tensor: Any, is_conj: bool = False, is_neg: bool = False) -> Any:
    """What two views of all of the same elements have in common; the usual ones are no conjugates and no negatives."""
    version = 0 if tensor.is_inference() else tensor._version
    return tensor.data_ptr(), tensor.numel(), tensor.dtype, version, is_conj, is_neg


def _most_copied(tensor: Any) -> int:
    """How many elements of such a tensor are copied."""
    return COPIED * _WHOLE_NUMBERS if tensor.dtype in (torch.int64, torch.int32) else COPIED


def state_of(tensor: Any) -> object:
    """The same as long as nobody writes to the tensor; something new where that cannot be told."""
    try:
        with WithoutFunctionModes():
            return tensor.data_ptr(), tensor._version, id(tensor)
    except Exception:
        return object()


def same_value(one: Value | None, other: Value | None) -> bool:
    """Whether two values are the same bit for bit; two summaries, as far as they tell."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other if type(one) is type(other) else False


def _is_another(one: _Array, other: _Array) -> bool:
    if one.dtype.kind == other.dtype.kind == "V":  # the bytes of a dtype that numpy lacks
        one, other = one.view(f"i{one.itemsize}"), other.view(f"i{other.itemsize}")
    return one.shape == other.shape and one.dtype == other.dtype and not np.array_equal(one, other, equal_nan=True)


def _is_in_its_order(value: Any, dtype: torch.dtype, strides: Sequence[int]) -> bool:
    """Whether an array has the elements in the order in which the tensor's memory has them; a summary has none."""
    if type(value) is not np.ndarray:
        return True
    known = QUICK.get(dtype)
    return known is not None and value.dtype == known and value.strides == steps_of(strides, known)


def _rearranged(array: _Array, shape: Sequence[int], strides: Sequence[int]) -> _Array:
    """The same elements in the same memory, in another shape."""
    elements: Any = array.ravel(order="K")
    return np.ndarray(tuple(shape), array.dtype, elements, 0, steps_of(strides, array.dtype))


def value_of(tensor: Any, copied: int = COPIED) -> Value | None:
    """A read-only copy of a tensor's elements, or a summary of more than `copied`.

    Elements of a dtype that numpy lacks are copied as float32 or complex64; the dtype of their summary is torch's name.
    Returns None for None and where there is nothing to read: wrapped, fake, meta, nested and quantized tensors, and
    subclasses that compute by themselves. Never raises.
    """
    if (tensor := as_plain(tensor)) is None or is_traced():
        return None
    try:
        with WithoutFunctionModes():
            return _value(tensor, copied)
    except Exception:  # a fault of ours does not become the program's
        return None


def shape_and_dtype(tensor: Any) -> tuple[tuple[int, ...], str]:
    """The shape and dtype of any tensor or of what describes one; a symbolic size that is unknown counts as 0."""
    with WithoutFunctionModes():
        try:
            dtype = str(tensor.dtype).removeprefix("torch.")
        except Exception:
            dtype = "unknown"
        try:
            return tuple([one if type(one) is int else _size(one) for one in tensor.shape]), dtype
        except Exception:  # a nested tensor has no shape
            return (), dtype


def _size(symbol: Any) -> int:
    hint = getattr(getattr(symbol, "node", None), "hint", None)
    return hint if type(hint) is int else 0


def _value(tensor: Any, copied: int) -> Value | None:
    if tensor.layout is not torch.strided:
        return _of_sparse(tensor, copied)
    if _is_unreadable(tensor):
        return None
    if not tensor.is_cpu:
        return _of_device(tensor, copied) if tensor.is_cuda else None
    dtype = NUMPY.get(tensor.dtype)
    if tensor.numel() > copied:
        about = summarize(elements_of(tensor))
        return about if dtype is not None else about._replace(dtype=str(tensor.dtype).removeprefix("torch."))
    if dtype is not None and dtype is not BOOL and tensor.is_contiguous() and not is_lazy(tensor):
        size = tensor.nbytes  # the usual case by a shorter way: the bytes are the array
        return np.ndarray(tensor.shape, dtype, bytes_at(address_of(tensor, size), size) if size else b"")
    return frozen(np.array(elements_of(tensor)))


def _is_unreadable(tensor: Any) -> bool:
    """Whether a tensor has no elements of its own, or only codes for them."""
    return bool(is_wrapped(tensor) or _is_batched(tensor) or tensor.is_nested or tensor.is_quantized)


def _is_on_device(tensor: Any) -> bool:
    return bool(tensor.is_cuda)


def _of_device(tensor: Any, copied: int) -> Value | None:
    """One of another device by a copy, for which the program waits; none while a graph of CUDA is captured."""
    if torch.cuda.is_current_stream_capturing():
        return None
    with WithoutDispatch(), torch.no_grad():
        return _value(tensor.detach().cpu(), copied)


def _of_sparse(tensor: Any, copied: int) -> Value | None:
    """A small one with its zeros; of a large one the summary of the elements that are stored."""
    with WithoutDispatch(), torch.no_grad():
        if tensor.numel() <= copied:
            return _value(tensor.detach().to_dense(), copied)
        stored = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
        about = _value(stored.detach(), -1)
    return about._replace(shape=tuple(tensor.shape)) if isinstance(about, Summary) else None
