"""What neural networks are made of: convolution, pooling, normalization, losses, embeddings.

Imports `ops.linear` and what is below it.
"""
