"""Settings that torch has: accepted and stored, but without effect here."""

from __future__ import annotations

import threading
from typing import ClassVar


class _Settings(threading.local):
    multithreading: bool = True
    view_replay: bool = False


settings = _Settings()


class _Setting:
    """Changes a setting at once; as a context manager, restores it at the end."""

    name: ClassVar[str]

    def __init__(self, mode: bool) -> None:
        self.before = getattr(settings, self.name)
        setattr(settings, self.name, mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        setattr(settings, self.name, self.before)


class set_multithreading_enabled(_Setting):  # noqa: N801 - torch's name
    """Whether backward may use several threads. NB: here it always uses one at a time."""

    name = "multithreading"


class _force_original_view_tracking(_Setting):  # noqa: N801 - torch's name
    """Whether a view whose base was written to replays its view operations. NB: here it always does."""

    name = "view_replay"


def is_view_replay_enabled() -> bool:
    """The value that `_force_original_view_tracking` has set."""
    return settings.view_replay


def set_num_threads(int: int) -> None:
    """Accepted; numpy decides how many threads compute."""


def set_num_interop_threads(int: int) -> None:
    """Accepted; operations run one after the other."""


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted; all algorithms here are deterministic."""


def are_deterministic_algorithms_enabled() -> bool:
    """True: all algorithms here are."""
    return True


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted; products of float32 numbers are computed in float32."""


__all__ = [
    "are_deterministic_algorithms_enabled",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "set_num_threads",
    "use_deterministic_algorithms",
]
