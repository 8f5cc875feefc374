"""Neural-network functions, under torch's names. There are no modules: parameters are leaf tensors."""

from microtape.nn import functional

__all__ = ["functional"]
