"""What is built on `backward` and `grad`: gradcheck, functional, forward mode, checkpoint, anomaly mode.

Imports `tensors`, `functions` and what is below them.
"""
