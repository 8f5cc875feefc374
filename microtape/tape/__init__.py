"""What a forward pass leaves for backward: tensors, nodes, edges, saved tensors, and the recording of an operation.

Imports `basics` and `errors` (and, when a node is called by hand, `backward`).
"""
