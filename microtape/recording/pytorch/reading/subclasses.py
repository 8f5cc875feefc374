"""Tensors of a class of the program's own: unless the class computes by itself, they have memory like all others."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.parameter import is_lazy

from microtape.recording.pytorch.reading.modes import WithoutDispatch, WithoutFunctionModes
from microtape.recording.pytorch.reading.traced import is_traced
from microtape.recording.pytorch.reading.wrapped import WithoutTransforms

PLAIN = (torch.Tensor, torch.nn.Parameter)
"""The types of tensors that run no code of the user's when an attribute is read."""

_torch: Any = torch


def as_plain(tensor: Any) -> Any:
    """A tensor, or for one of a subclass a plain tensor on its memory; None where there may be no such memory.

    The plain one shares the storage, so drop it at once. No code of the program's runs. Never raises.
    """
    kind = type(tensor)
    if kind in PLAIN:
        return tensor
    try:
        if not issubclass(kind, torch.Tensor) or is_traced() or is_lazy(tensor):
            return None
        if kind.__torch_dispatch__ is not _torch._C._disabled_torch_dispatch_impl:
            return None  # what it holds is known to its own code alone
        with WithoutFunctionModes(), WithoutDispatch(), WithoutTransforms(), torch.no_grad():
            return torch.Tensor.as_subclass(tensor, torch.Tensor)
    except Exception:  # a fault of ours does not become the program's
        return None
