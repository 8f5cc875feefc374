"""torch's `utils` namespace: checkpointing, and hooks that are not pickled."""

from microtape.utils import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
