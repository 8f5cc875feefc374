"""Which values of a program on PyTorch are tensors, which are modules, and which give their tensors no name."""

from __future__ import annotations

from typing import Any

import torch

from microtape.recording.writing.names.module_names import Kinds


def is_tensor(value: Any) -> bool:
    """Like `isinstance`, which would ask a proxy for its `__class__`."""
    return issubclass(type(value), torch.Tensor)


KINDS = Kinds(
    is_tensor,
    (torch.nn.Module,),
    (torch.optim.Optimizer, torch.utils.data.DataLoader, torch.utils.data.Dataset),
)
