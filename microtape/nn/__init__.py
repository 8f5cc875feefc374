"""Neural-network functions under torch's names. There are no modules: parameters are leaf tensors."""

from typing import NoReturn

from microtape.nn import functional, utils

__all__ = ["functional", "utils"]


def __getattr__(name: str) -> NoReturn:
    hint = ": there are no modules here; make leaf tensors, and use microtape.nn.functional" * name[:1].isupper()
    raise AttributeError(f"module 'microtape.nn' has no attribute '{name}'{hint}")
