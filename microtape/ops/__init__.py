"""The built-in operations: each one's value and its derivative stand together in one stateless class.

The rooms, each of which imports only the rooms above it:

shared/       what operations are made with
  kinds               how an operation treats its operands' dtypes, and which dtypes it refuses
  arguments           reading dimensions and sizes;  choice: np.where for irregular conditions;  chunked: large arrays
  undefined           operations that have no derivative

shape/        the same elements in another shape, order, dtype or place
  shape               views: reshape, squeeze, expand, ...;  transposition: permute, transpose, T
  subviews            views: select, narrow, diagonal; unbind, split
  joining             cat, stack;  flipping: flip, roll, rot90
  casting             copies, other dtypes, overwriting with copy_, fill_, zero_
  reinterpreting      the same memory as another dtype

elementwise/  each element by itself
  arithmetic          + - * negation;  division: / // %;  combination: addcmul, lerp
  exponential         exp, log, powers, roots
  trigonometric       sin, cos, tanh, ...
  activation          relu, sigmoid, silu, ...;  gated: glu, mish, ...;  gaussian: erf, gelu
  piecewise           celu, prelu, threshold, hardshrink, ...
  rounding            abs, sign, floor, ...
  selection           where, maximum, minimum, clamp
  mask                masked_fill, masked_select
  comparison          == < & any all: never differentiable
  comparison_in_place lt_, logical_not_, ...
  special             lgamma, digamma, logit, erfinv, sinc
  floats              fmax, fmin, copysign: what looks at NaN and signs
  complex_numbers     real, imag, conj, ...
  random_numbers      uniform_, normal_, multinomial, dropout, ...

reduction/    many elements into one, or into cumulative results
  reduction           sum, mean, amax
  cumulative          cumsum, cumprod, prod, diff
  statistics          var, std, vector norms
  softmax             softmax, log_softmax, logsumexp
  differences         gradient, trapezoid, cov: sampled functions

indexing/     elements picked and written by position
  index               x[...], read and written
  along               shared by operations with an index tensor along one dimension, which are
    gathering           by element: gather, scatter, scatter_add;  reducing: scatter_reduce
    index_along         by slice: index_select, index_add, ...
  padding             pad;  repeating: repeat, tile, repeat_interleave
  diagonals           tril, triu, diag, trace;  assembling: block_diag, vander, cartesian_prod
  windows             unfold, take

ordering/     what depends on order
  extremum            max, sort, topk, median: values and their indices
  cumulative_extremum cummax, cummin
  quantiles           quantile, mode, nanmedian
  counting            bincount, histc, unique: never differentiable;  searching: histogram, searchsorted

linear/       linear algebra
  product             matrix products;  einsum: products by labels
  vectors             addmv, addr, cross, dist
  linalg              inv, det, solve, cholesky;  decomposition: svd, eigh, matrix norms;  inverses: pinv, qr, lstsq
  factors             torch.svd, renorm

network/      layers and losses of neural networks
  loss, nll           losses;  distance: cdist, losses with margins
  embedding           rows of a table, one_hot
  convolution         conv1d, conv2d and their transposes;  patches: unfold, fold
  pooling             max_pool2d, avg_pool2d;  pooling_arguments: their arguments;  adaptive_pooling
  geometry            where a kernel meets its input: shared by convolution, patches and pooling
  normalization       batch_norm, layer_norm, group_norm, rms_norm
"""
