"""torch's `cuda` namespace, as far as programs use it to ask whether there is a GPU."""

from typing import NoReturn

from microtape.absent import advise_imports as _advise_imports


def is_available() -> bool:
    """False: microtape computes with numpy, on the CPU."""
    return False


def device_count() -> int:
    """0; see `is_available`."""
    return 0


def manual_seed(seed: int) -> None:
    """Accepted: there is no generator but the CPU's."""


def manual_seed_all(seed: int) -> None:
    """Accepted, as `manual_seed`."""


def empty_cache() -> None:
    """Accepted: there is no cache."""


def synchronize(device: object = None) -> None:
    """Accepted: every operation has finished when it returns."""


__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "manual_seed_all", "synchronize"]

_advise_imports(__name__)


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"module 'microtape.cuda' has no attribute '{name}': there is no device but the cpu here")
