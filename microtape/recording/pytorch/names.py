"""The user's names for tensors of PyTorch: variables, and the paths of parameters and buffers in modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from microtape.recording.writing.variable_names import Held, tensors_in_frames

_MOST = 20_000  # parameters of one module


def names_in_frames(frame: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, tensor) pairs from the user's frames, the innermost first. The best name of a tensor comes first."""
    yield from tensors_in_frames(frame, Held(is_tensor, members))


def is_tensor(value: Any) -> bool:
    """Like `isinstance`, which would ask a proxy for its `__class__`."""
    return issubclass(type(value), torch.Tensor)


def members(name: str, value: Any) -> list[tuple[str, Any]] | None:
    """The parameters and buffers of a module by their paths, an optimiser's none; None for any other object."""
    kind = type(value)
    if issubclass(kind, torch.nn.Module):
        prefix = "" if issubclass(kind, torch.nn.Module) and not _is_list(kind) else f"{name}."
        found = [*value.named_parameters(), *value.named_buffers()][:_MOST]
        return [(f"{prefix}{path}" if not path[:1].isdigit() else f"{name}.{path}", tensor) for path, tensor in found]
    if issubclass(kind, torch.optim.Optimizer | torch.utils.data.DataLoader):
        return []
    return None


def _is_list(kind: type) -> bool:
    return issubclass(kind, torch.nn.ModuleList | torch.nn.ModuleDict | torch.nn.Sequential)
