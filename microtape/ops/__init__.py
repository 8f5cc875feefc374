"""The built-in operations: each one's value and its derivative stand together in one stateless class.

kinds            what operations do to their operands' dtypes
arguments        reading dimensions and sizes
arithmetic       + - * negation;  division: / // %
selection        where, maximum, minimum, bounds
exponential      exp, log, powers, roots
trigonometric    sin, cos, tanh, ...
activation       relu, sigmoid, gelu, ...
rounding         abs, sign, floor, ...
comparison       == < & any all: never differentiable
casting          copies, dtypes, writing over
shape            views: reshape, squeeze, expand, ...;  transposition: permute, transpose, T
parts            views: select, narrow, diagonal; unbind, split
joining          cat, stack
rearrange        flip, roll, repeat, pad, tril, ...
index            x[...], read and written
along            picking by an index tensor along one dimension, which is common to
  gathering        elements: gather, scatter, scatter_add
  index_along      slices: index_select, index_add, ...
mask             masked_fill, masked_select
reduction        sum, mean, amax
broadcast        undoing broadcasting
extremum         max, sort, topk, median: values and where they were
statistics       var, std, vector norms
scan             cumsum, cumprod, prod
softmax          softmax, log_softmax, logsumexp
product          matrix products;  einsum: products by labels
linalg           inv, det, solve, cholesky;  decomposition: svd, eigh, matrix norms
complex_numbers  real, imag, conj, ...
loss, nll        losses;  embedding: rows of a table
convolution      conv1d, conv2d and their transposes;  pooling
normalization    batch_norm, layer_norm
noise            random numbers in place, dropout
undefined        what has no derivative
"""
