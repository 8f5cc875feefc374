"""Numbers that the program takes out of tensors, as `item()` does: where they enter torch again is a border."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any

import numpy as np
import torch
from torch._C import DisableTorchFunctionSubclass
from torch._C._autograd import _get_sequence_nr

from microtape.recording.pytorch.calls.arguments import numbers_in
from microtape.recording.pytorch.notes import Operation, Origin, SeenTensor, Version, origin_of
from microtape.recording.pytorch.reading.subclasses import PLAIN
from microtape.recording.pytorch.tensors import Tensors

_LIMIT = 8192
_MOST_ORIGINS = 512
Site = tuple[CodeType, int] | None


class TakenNumbers:
    """The numbers, by identity. They are held, so that no other object gets the same one."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors
        self.known: dict[int, tuple[Any, Version, str, Site]] = {}  # the number, its tensor, taken by what call, where
        self._origins: dict[int, Origin] = {}  # what the tensors came out of, held until a pass ends
        self.arrays: dict[int, Any] = {}  # those of numpy, by the address of their memory

    def take(self, result: Any, source: Version, word: str, site: Site) -> None:
        """Numbers were taken out of a tensor."""
        if len(self.known) > _LIMIT:
            self.known.clear()
            self.arrays.clear()
        if len(self._origins) > _MOST_ORIGINS:  # of a program that never calls backward
            self._origins.clear()
        for one in numbers_in(result):
            self.known[id(one)] = one, source, word, site
            self._origins[id(one)] = origin_of(source[0])
            if isinstance(one, np.ndarray) and one.size:
                self.arrays[one.__array_interface__["data"][0]] = one

    def pass_ended(self) -> None:
        """Hold no graph any more: the program may take its loss out in each step, to print it."""
        self._origins.clear()

    def enter_by_memory(self, tensor: Any) -> bool:
        """A tensor is used that nobody has seen. Whether it is an array of these, as `torch.from_numpy` makes it."""
        if type(tensor) not in PLAIN or not tensor.is_cpu or tensor.layout is not torch.strided:
            return False
        try:
            array = self.arrays.get(tensor.data_ptr())
        except RuntimeError:  # one of a function transform has no memory of its own
            return False
        return array is not None and self.enter((array,), tensor)

    def enter(self, args: Sequence[Any], result: Any) -> bool:
        """A tensor was made of numbers. Whether some of them had been taken out of others."""
        border = self._border_of(numbers_in(list(args)))
        if border is None:
            return False
        with DisableTorchFunctionSubclass():
            seen, _ = self._tensors.read(result)
        seen.border = border
        return True

    def as_operands(self, args: Sequence[Any], operands: list[Version], behind: list[Any]) -> Sequence[Any]:
        """The arguments without the numbers that were taken out of tensors: these become operands, behind a border."""
        found = []
        for one in args:
            border = self._border_of([one])
            if border is None:
                found.append(one)
                continue
            seen = SeenTensor((), "float64")
            seen.values[0], seen.border = np.asarray(one), border
            operands.append((seen, 0))
            behind.append(border)
        return found

    def _border_of(self, numbers: Iterable[Any]) -> Operation | None:
        """The border at which these numbers were taken out of tensors; None if they were not."""
        found = [known for one in numbers if (known := self.known.get(id(one))) is not None]
        if not found:
            return None
        _, _, word, site = found[0]
        number = _get_sequence_nr()
        operands = list(dict.fromkeys([one[1] for one in found]))
        origins = {known[1]: self._origins.get(id(known[0])) for known in found}
        behind = [origins[one] or origin_of(one[0]) for one in operands]
        operation = Operation(number, number, None, site, operands, behind, ())
        operation.word_ = word if len(found) == 1 else "tensor"
        operation.crosses("copied" if any(seen.requires_grad for seen, _ in operands) else "constant")
        return operation
