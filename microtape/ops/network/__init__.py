"""Layers and losses of neural networks: convolution, pooling, normalization, embeddings, losses.

Imports `ops.linear` and the rooms below it.
"""
