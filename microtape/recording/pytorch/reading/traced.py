"""Whether the program runs for its trace alone: sizes may be tensors then, and what we computed would be part of it."""

from __future__ import annotations

import torch

is_compiling = torch.compiler.is_compiling  # Dynamo takes it for a constant, and leaves out what follows
is_jit_tracing = torch._C._is_tracing


def is_traced() -> bool:
    """Whether Dynamo, `torch.export` or `torch.jit.trace` follows what the program does."""
    return bool(is_compiling() or is_jit_tracing())
