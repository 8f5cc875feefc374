"""torch's `backends` namespace: settings of other devices' libraries, which programs set before they begin."""

from __future__ import annotations

from typing import Any


class Backend:
    """A library that is not here. Its settings can be read and written, and change nothing."""

    def __init__(self, **settings: Any) -> None:
        vars(self).update(settings)

    def is_available(self) -> bool:
        """False."""
        return False

    def is_built(self) -> bool:
        """False."""
        return False


cudnn = Backend(deterministic=False, benchmark=False, enabled=False, allow_tf32=False)
cuda = Backend(matmul=Backend(allow_tf32=False))
mps = Backend()

__all__ = ["cuda", "cudnn", "mps"]
