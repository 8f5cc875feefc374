"""What a forward pass leaves behind: tensors, nodes, saved values, and how an operation records itself.

Imports `basics` and `errors`.
"""
