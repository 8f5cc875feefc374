"""The `Tensor` class and what the public names are: factories, methods, numpy interop, `backward` and `grad`.

Imports `ops`, `backward` and what is below them.
"""
