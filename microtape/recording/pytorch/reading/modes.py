"""Contexts in which the program's own modes, and subclasses of tensors, do not see what the recorder does."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch.utils import _python_dispatch

_torch: Any = torch
_dispatch: Any = _python_dispatch
WithoutFunctionModes = _torch._C.DisableTorchFunction
"""No `__torch_function__` is called, of no mode and no subclass."""
WithoutDispatch = _torch._C._DisableTorchDispatch
"""No `__torch_dispatch__` is called, of no mode and no subclass."""


def without_dispatch_modes() -> contextlib.AbstractContextManager[Any]:
    """No `__torch_dispatch__` of a mode is called; that of a subclass is, without which it may compute nothing."""
    if not _torch._C._len_torch_dispatch_stack():
        return contextlib.nullcontext()
    found: contextlib.AbstractContextManager[Any] = _dispatch._disable_current_modes()
    return found
