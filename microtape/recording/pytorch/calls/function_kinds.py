"""Kinds of torch's functions: attributes, calls that compute, that write, that take numbers out of tensors, ..."""

from __future__ import annotations

import functools
from typing import Any

ATTRIBUTE, READS_NODE, SETS_DATA, CALL, WRITES, TAKES, MAKES_DUAL = range(7)
_TAKING = {"item", "tolist", "numpy", "__float__", "__int__", "__bool__", "__array__", "__index__", "__complex__"}
_COMPUTED_ATTRIBUTES = {"data", "T", "mT", "H", "mH", "real", "imag"}
_QUIET = {"backward", "register_hook", "retain_grad", "__repr__", "__hash__", "__len__", "__format__", "size", "dim",
          "stride", "numel", "requires_grad_", "is_floating_point", "is_complex", "data_ptr", "element_size",
          "register_post_accumulate_grad_hook", "is_contiguous", "untyped_storage", "storage", "__reduce_ex__",
          "__deepcopy__", "is_same_size", "get_device", "nelement", "ndimension", "storage_offset"}  # fmt: skip

SHAPED_LIKE = {"empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like", "new",
               "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros"}  # fmt: skip
"""Calls whose results depend on the shape and dtype of a tensor, not on its elements: no history ends there."""


def _name_of(function: Any) -> str:
    """Its name; that of `torch.ops.aten.add.Tensor`, which exported modules call, without the overload."""
    return str(getattr(function, "__name__", "")).partition(".")[0]


def kind_of(function: Any) -> int:
    """What a function of torch's does that matters to the recorder."""
    name = _name_of(function)
    owner = getattr(function, "__self__", None)
    if name in ("__get__", "__set__", "__delete__"):
        attribute = getattr(owner, "__name__", "")
        if name == "__get__" and attribute == "grad_fn":
            return READS_NODE
        if name == "__set__" and attribute == "data":
            return SETS_DATA
        if name == "__get__":
            return CALL if attribute in _COMPUTED_ATTRIBUTES else ATTRIBUTE
        return ATTRIBUTE
    if name in _QUIET:
        return ATTRIBUTE
    if name in _TAKING:
        return TAKES
    if name == "_make_dual":
        return MAKES_DUAL
    if name == "__setitem__" or (name.endswith("_") and not name.endswith("__")):
        return WRITES
    if name.startswith("__i") and name.endswith("__") and name[2:-2] in _IN_PLACE:
        return WRITES
    return CALL


_IN_PLACE = {"iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor",
             "ilshift", "irshift", "idiv"}  # fmt: skip


@functools.cache
def word_of(function: Any) -> str:
    """A short word for a function of torch: `mul`, `cross_entropy`, `data`."""
    name = _name_of(function) or type(function).__name__
    if name == "__get__":
        return str(getattr(function.__self__, "__name__", name))
    if name.startswith("__") and name.endswith("__"):
        return name[2:-2].removeprefix("r") if name[2:-2] in _REFLECTED else name[2:-2]
    return name


@functools.cache
def called_name(function: Any) -> str:
    """The name by which the program called a function: `cross_entropy`, `matmul` for `@`; empty for `x[0]`, `x.T`."""
    name = _name_of(function)
    if name.startswith("__"):
        return "matmul" if name in ("__matmul__", "__rmatmul__") else ""
    return name.strip("_").removesuffix("_forward")


_REFLECTED = {"radd", "rsub", "rmul", "rtruediv", "rpow", "rmatmul", "rdiv"}
