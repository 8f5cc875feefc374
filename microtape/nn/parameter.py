"""Parameters: the tensors that a module learns."""

from __future__ import annotations

from typing import Any

from microtape.tensors.copying import shared_leaf
from microtape.tensors.factories import empty
from microtape.tensors.tensor import Tensor


class Parameter(Tensor, result_class=Tensor):
    """A leaf tensor that a module registers when it is assigned to an attribute, and that an optimiser updates.

    It shares the memory of `data`, a tensor of any shape; None makes an empty one. The result of an operation on a
    parameter is a plain Tensor. Raises RuntimeError if `requires_grad` for a dtype that is neither floating nor
    complex.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(result_class=Tensor, **options)

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        """Make the leaf. Raises TypeError if `data` is not a tensor."""
        source = empty(0) if data is None else data
        if not isinstance(source, Tensor):
            raise TypeError(f"Parameter() takes a tensor, not {type(data).__name__}: Parameter(microtape.tensor(...))")
        if requires_grad and source.dtype.kind not in "fc":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return shared_leaf(cls, source, requires_grad)

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """Set nothing: `__new__` has done so."""

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (type(self), self.data, self.requires_grad), self.__dict__ or None


def _rebuilt(cls: type[Parameter], data: Tensor, requires_grad: bool) -> Parameter:
    """A parameter from its pickle, which refers to this function by its name."""
    return cls(data, requires_grad)
