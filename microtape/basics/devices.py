"""Devices. The CPU is the only one; programs that look for another find out here that there is none."""

from __future__ import annotations

from typing import Any

__all__ = ["device", "get_default_device", "set_default_device"]

KINDS = ("cpu", "cuda", "mps", "xpu", "meta")


class device:  # noqa: N801 - torch's name
    """A device: `device("cpu")`. Other devices can be named, but no tensor can be on them.

    Made from a string such as "cuda:0", from a kind and an index, or from another device. Raises RuntimeError for an
    unknown kind of device.
    """

    __slots__ = ("index", "type")

    def __init__(self, type: str | device, index: int | None = None) -> None:
        kind, colon, number = str(type).partition(":")
        if kind not in KINDS or (colon and not number.isdecimal()):
            raise RuntimeError(f"Invalid device string: '{type}'; the kinds are {', '.join(KINDS)}")
        self.type = kind
        self.index = int(number) if colon else index

    def __enter__(self) -> device:
        check_device(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was changed: all tensors are on the CPU."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"


CPU = device("cpu")
NO_OTHER = "there is no device but the cpu here"
ELSEWHERE = "run the program on PyTorch with --engine torch"


def check_device(wanted: Any) -> None:
    """Accept the CPU and None; raise RuntimeError for any other device."""
    if wanted is not None and device(wanted).type != "cpu":
        raise RuntimeError(f"{NO_OTHER}, got '{wanted}'. Leave it out, or {ELSEWHERE}")


def set_default_device(device: Any) -> None:
    """Accept the CPU and None; raise RuntimeError for any other device."""
    check_device(device)


def get_default_device() -> device:
    """The CPU."""
    return CPU
