"""The built-in operations: each one's value and its derivative stand together in one stateless class.

What they are made with
kinds            what operations do to their operands' dtypes, and which they refuse
arguments        reading dimensions and sizes
undefined        what has no derivative
broadcast        undoing broadcasting

Each element by itself
arithmetic       + - * negation;  division: / // %;  combination: addcmul, lerp
exponential      exp, log, powers, roots
trigonometric    sin, cos, tanh, ...
activation       relu, sigmoid, silu, ...;  gated: mish, ...;  gaussian: erf, gelu
rounding         abs, sign, floor, ...
selection        where, maximum, minimum, bounds
comparison       == < & any all: never differentiable
complex_numbers  real, imag, conj, ...
casting          copies, dtypes, writing over;  fresh: new_zeros, ...
noise            random numbers in place, multinomial, dropout

Elsewhere
shape            views: reshape, squeeze, expand, ...;  transposition: permute, transpose, T
parts            views: select, narrow, diagonal; unbind, split
joining          cat, stack
rearrange        flip, roll, repeat, tril, ...;  padding: more around it
index            x[...], read and written
along            picking by an index tensor along one dimension, which is common to
  gathering        elements: gather, scatter, scatter_add
  index_along      slices: index_select, index_add, ...
mask             masked_fill, masked_select

Many into one
reduction        sum, mean, amax
extremum         max, sort, topk, median: values and where they were
statistics       var, std, vector norms
counting         bincount, histc, unique: never differentiable
scan             cumsum, cumprod, prod;  running: cummax, cummin
softmax          softmax, log_softmax, logsumexp

Matrices
product          matrix products;  einsum: products by labels
linalg           inv, det, solve, cholesky;  decomposition: svd, eigh, matrix norms

Neural networks
loss, nll        losses;  distance: cdist, losses with margins;  embedding: rows of a table
convolution      conv1d, conv2d and their transposes;  patches: unfold, fold;  pooling;  adaptive_pooling
normalization    batch_norm, layer_norm, group_norm
"""
