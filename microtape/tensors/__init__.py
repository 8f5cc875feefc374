"""The class `Tensor` and the public functions around it: factories, methods, numpy interop, `backward`, `grad`.

Imports `ops`, `backward` and what is below them.
"""
