"""torch's `cuda` namespace, as far as programs use it to ask whether there is a GPU."""


def is_available() -> bool:
    """False: microtape computes with numpy, on the CPU."""
    return False


def device_count() -> int:
    """0; see `is_available`."""
    return 0


__all__ = ["device_count", "is_available"]
