"""torch's `utils` namespace: checkpointing."""

from microtape.utils import checkpoint

__all__ = ["checkpoint"]
