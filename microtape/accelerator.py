"""torch's `accelerator` namespace, as far as programs use it to ask whether there is a GPU."""


def is_available() -> bool:
    """False: microtape computes with numpy, on the CPU."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """None; see `is_available`."""


def device_count() -> int:
    """0; see `is_available`."""
    return 0


__all__ = ["current_accelerator", "device_count", "is_available"]
