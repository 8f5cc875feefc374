"""The operations as methods of a tensor: a table of contents of `ops/`."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics import dtypes
from microtape.basics.devices import check_device
from microtape.ops.elementwise import (
    activation,
    arithmetic,
    combination,
    comparison,
    comparison_in_place,
    complex_numbers,
    division,
    exponential,
    floats,
    gaussian,
    mask,
    piecewise,
    random_numbers,
    rounding,
    selection,
    special,
    trigonometric,
)
from microtape.ops.indexing import assembling, diagonals, gathering, index, index_along, reducing, repeating, windows
from microtape.ops.linear import decomposition, einsum, factors, inverses, linalg, product, vectors
from microtape.ops.ordering import counting, cumulative_extremum, extremum, quantiles, searching
from microtape.ops.reduction import cumulative, differences, statistics, sums_and_extrema
from microtape.ops.reduction import softmax as softmax_ops
from microtape.ops.shape import casting, flipping, reshaping, subviews, transposition
from microtape.ops.shared.tensor_arguments import naming_tensors
from microtape.tape.tensor_state import TensorState, requires_grad
from microtape.tensors import fresh
from microtape.tensors.interop import Interop
from microtape.tensors.type_names import type_of


def written_elementwise(name: str, function: Any, x: TensorState, *others: TensorState) -> Any:
    """Write a Python function of each element into x. Raises RuntimeError if x requires grad."""
    if requires_grad(x):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    arrays = [one.array for one in (x, *others)]
    return casting.copy_(x, np.vectorize(function, otypes=[x.array.dtype])(*arrays))


class Methods(Interop):
    """What can be done with a tensor. torch documents these methods; here, each is the function of the same name."""

    __slots__ = ()

    # Operators: + - * / // % ** @, comparisons, bits

    __add__ = __radd__ = arithmetic.plus
    __sub__, __rsub__ = arithmetic.minus, arithmetic.minus_from
    __mul__ = __rmul__ = arithmetic.times
    __truediv__, __rtruediv__ = division.divided_by, exponential.divides
    __floordiv__, __rfloordiv__ = division.floored_by, division.floored_from
    __mod__, __rmod__ = division.modulo, division.modulo_from
    __pow__, __rpow__ = exponential.power, exponential.power_of
    __matmul__, __rmatmul__ = product.times_matrix, product.matrix_times
    __neg__, __pos__, __abs__ = arithmetic.neg, arithmetic.positive, rounding.abs
    __iadd__, __isub__, __imul__, __itruediv__ = arithmetic.add_, arithmetic.sub_, arithmetic.mul_, division.div_
    __ipow__, __imod__, __ifloordiv__ = exponential.pow_, division.remainder_, division.floor_divide_
    __eq__, __ne__ = comparison.equals, comparison.differs
    __lt__, __le__ = comparison.is_less, comparison.is_at_most
    __gt__, __ge__ = comparison.is_greater, comparison.is_at_least
    __and__ = __rand__ = comparison.bitwise_and
    __or__ = __ror__ = comparison.bitwise_or
    __xor__ = __rxor__ = comparison.bitwise_xor
    __invert__ = comparison.bitwise_not
    __lshift__, __rshift__ = comparison.bitwise_left_shift, comparison.bitwise_right_shift
    __getitem__, __setitem__ = index.index, index.set_index
    __hash__ = object.__hash__

    # Arithmetic

    add, sub, mul, div, neg = arithmetic.add, arithmetic.sub, arithmetic.mul, division.div, arithmetic.neg
    add_, sub_, mul_, div_, neg_ = arithmetic.add_, arithmetic.sub_, arithmetic.mul_, division.div_, arithmetic.neg_
    subtract, multiply, divide, true_divide, negative = sub, mul, div, div, neg
    floor_divide, remainder, fmod = division.floor_divide, division.remainder, division.fmod
    positive = arithmetic.positive
    remainder_, fmod_, floor_divide_ = division.remainder_, division.fmod_, division.floor_divide_
    subtract_, multiply_, divide_, true_divide_, negative_ = sub_, mul_, div_, div_, neg_
    addcmul, addcdiv, lerp = combination.addcmul, combination.addcdiv, combination.lerp
    addcmul_, addcdiv_, lerp_ = combination.addcmul_, combination.addcdiv_, combination.lerp_
    addmm, addmm_, baddbmm, baddbmm_ = product.addmm, product.addmm_, product.baddbmm, product.baddbmm_
    matmul, mm, mv, dot, bmm = product.matmul, product.mm, product.mv, product.dot, product.bmm
    outer, inner, kron = product.outer, einsum.inner, einsum.kron
    addmv, addmv_, addr, addbmm = vectors.addmv, vectors.addmv_, vectors.addr, vectors.addbmm
    cross, dist, vdot = vectors.cross, vectors.dist, vectors.vdot
    pinverse = inverses.pinverse
    det, slogdet, logdet = linalg.det, linalg.slogdet, linalg.logdet
    inverse, matrix_power = linalg.inv, linalg.matrix_power

    # Each element by itself

    exp, exp2, expm1 = exponential.exp, exponential.exp2, exponential.expm1
    exp_, exp2_, expm1_ = exponential.exp_, exponential.exp2_, exponential.expm1_
    log, log2, log10, log1p = exponential.log, exponential.log2, exponential.log10, exponential.log1p
    log_, log2_, log10_, log1p_ = exponential.log_, exponential.log2_, exponential.log10_, exponential.log1p_
    logaddexp, xlogy = exponential.logaddexp, exponential.xlogy
    pow, square, sqrt, rsqrt = exponential.pow, exponential.square, exponential.sqrt, exponential.rsqrt
    pow_, square_, sqrt_, rsqrt_ = exponential.pow_, exponential.square_, exponential.sqrt_, exponential.rsqrt_
    reciprocal, reciprocal_ = exponential.reciprocal, exponential.reciprocal_
    sin, cos, tan = trigonometric.sin, trigonometric.cos, trigonometric.tan
    sin_, cos_, tan_ = trigonometric.sin_, trigonometric.cos_, trigonometric.tan_
    asin, acos, atan, atan2 = trigonometric.asin, trigonometric.acos, trigonometric.atan, trigonometric.atan2
    asin_, acos_, atan_, atan2_ = trigonometric.asin_, trigonometric.acos_, trigonometric.atan_, trigonometric.atan2_
    arcsin, arccos, arctan, arctan2 = asin, acos, atan, atan2
    arcsin_, arccos_, arctan_, arctan2_ = asin_, acos_, atan_, atan2_
    sinh, cosh, tanh = trigonometric.sinh, trigonometric.cosh, trigonometric.tanh
    sinh_, cosh_, tanh_ = trigonometric.sinh_, trigonometric.cosh_, trigonometric.tanh_
    asinh, acosh, atanh = trigonometric.asinh, trigonometric.acosh, trigonometric.atanh
    asinh_, acosh_, atanh_ = trigonometric.asinh_, trigonometric.acosh_, trigonometric.atanh_
    sigmoid, relu, erf, erfc = activation.sigmoid, activation.relu, gaussian.erf, gaussian.erfc
    sigmoid_, relu_, erf_, erfc_ = activation.sigmoid_, activation.relu_, gaussian.erf_, gaussian.erfc_
    abs, sign, sgn, floor, ceil = rounding.abs, rounding.sign, rounding.sgn, rounding.floor, rounding.ceil
    abs_, sign_, sgn_, floor_, ceil_ = rounding.abs_, rounding.sign_, rounding.sgn_, rounding.floor_, rounding.ceil_
    absolute, absolute_ = abs, abs_
    round, trunc, frac = rounding.round, rounding.trunc, rounding.frac
    round_, trunc_, frac_ = rounding.round_, rounding.trunc_, rounding.frac_
    fix, fix_ = trunc, trunc_
    clamp, clamp_min, clamp_max = selection.clamp, selection.clamp_min, selection.clamp_max
    clamp_, clamp_min_, clamp_max_ = selection.clamp_, selection.clamp_min_, selection.clamp_max_
    clip, clip_ = clamp, clamp_
    prelu, hardshrink = piecewise.prelu, piecewise.hardshrink
    maximum, minimum = selection.maximum, selection.minimum
    nan_to_num, heaviside, hypot = selection.nan_to_num, selection.heaviside, trigonometric.hypot
    eq, ne, lt = comparison.eq, comparison.ne, comparison.lt
    le, gt, ge = comparison.le, comparison.gt, comparison.ge
    greater, greater_equal, less, less_equal, not_equal = gt, ge, lt, le, ne
    bitwise_and, bitwise_or = comparison.bitwise_and, comparison.bitwise_or
    bitwise_xor, bitwise_not = comparison.bitwise_xor, comparison.bitwise_not
    logical_and, logical_or = comparison.logical_and, comparison.logical_or
    logical_xor, logical_not = comparison.logical_xor, comparison.logical_not
    isnan, isinf, isfinite = comparison.isnan, comparison.isinf, comparison.isfinite
    isclose, allclose, equal = comparison.isclose, comparison.allclose, comparison.equal

    eq_, ne_, lt_ = comparison_in_place.eq_, comparison_in_place.ne_, comparison_in_place.lt_
    le_, gt_, ge_ = comparison_in_place.le_, comparison_in_place.gt_, comparison_in_place.ge_
    greater_, greater_equal_, less_, less_equal_, not_equal_ = gt_, ge_, lt_, le_, ne_
    logical_and_, logical_or_ = comparison_in_place.logical_and_, comparison_in_place.logical_or_
    logical_xor_, logical_not_ = comparison_in_place.logical_xor_, comparison_in_place.logical_not_
    bitwise_and_, bitwise_or_ = comparison_in_place.bitwise_and_, comparison_in_place.bitwise_or_
    bitwise_xor_, bitwise_not_ = comparison_in_place.bitwise_xor_, comparison_in_place.bitwise_not_
    bitwise_left_shift, bitwise_right_shift = comparison.bitwise_left_shift, comparison.bitwise_right_shift
    bitwise_left_shift_ = comparison_in_place.bitwise_left_shift_
    bitwise_right_shift_ = comparison_in_place.bitwise_right_shift_
    isposinf, isneginf = comparison.isposinf, comparison.isneginf
    isreal, signbit = comparison.isreal, comparison.signbit
    deg2rad, rad2deg, sinc = special.deg2rad, special.rad2deg, special.sinc
    deg2rad_, rad2deg_, sinc_ = special.deg2rad_, special.rad2deg_, special.sinc_
    lgamma, digamma, polygamma = special.lgamma, special.digamma, special.polygamma_of
    lgamma_, digamma_ = special.lgamma_, special.digamma_
    logit, logit_, logaddexp2 = special.logit, special.logit_, special.logaddexp2
    erfinv, erfinv_ = special.erfinv, special.erfinv_
    fmax, fmin, copysign, float_power = floats.fmax, floats.fmin, floats.copysign, floats.float_power
    hypot_, xlogy_ = trigonometric.hypot_, exponential.xlogy_
    arccosh, arcsinh, arctanh = acosh, asinh, atanh
    arccosh_, arcsinh_, arctanh_ = acosh_, asinh_, atanh_

    def where(self, condition: Any, other: Any) -> Any:
        """This tensor where `condition` holds, else `other`."""
        return selection.where(condition, self, other)

    # Many into one, and running ones

    sum, mean, amax, amin = sums_and_extrema.sum, sums_and_extrema.mean, sums_and_extrema.amax, sums_and_extrema.amin
    nansum, nanmean = sums_and_extrema.nansum, sums_and_extrema.nanmean
    prod, cumsum, cumprod = cumulative.prod, cumulative.cumsum, cumulative.cumprod
    cummax, cummin = cumulative_extremum.cummax, cumulative_extremum.cummin
    cumsum_, cumprod_ = cumulative.cumsum_, cumulative.cumprod_
    var, std, norm = statistics.var, statistics.std, decomposition.norm
    renorm, renorm_, svd = factors.renorm, factors.renorm_, factors.svd
    max, min, median = extremum.max, extremum.min, extremum.median
    argmax, argmin, sort, argsort = extremum.argmax, extremum.argmin, extremum.sort, extremum.argsort
    topk, kthvalue = extremum.topk, extremum.kthvalue
    quantile, nanquantile, nanmedian = quantiles.quantile, quantiles.nanquantile, quantiles.nanmedian
    mode, msort, aminmax = quantiles.mode, quantiles.msort, quantiles.aminmax
    logcumsumexp, cov, corrcoef = differences.logcumsumexp, differences.cov, differences.corrcoef
    histogram, argwhere = searching.histogram, searching.argwhere
    unique_consecutive, gcd, lcm = searching.unique_consecutive, searching.gcd, searching.lcm
    any, all = comparison.any, comparison.all
    count_nonzero, nonzero = comparison.count_nonzero, comparison.nonzero
    bincount, histc, unique = counting.bincount, counting.histc, counting.unique
    softmax, log_softmax, logsumexp = softmax_ops.softmax, softmax_ops.log_softmax, softmax_ops.logsumexp

    # Shape

    reshape, view, flatten, unflatten = reshaping.reshape, reshaping.view, reshaping.flatten, reshaping.unflatten
    ravel, permute, transpose, t = reshaping.ravel, transposition.permute, transposition.transpose, transposition.t
    expand, squeeze, unsqueeze = reshaping.expand, reshaping.squeeze, reshaping.unsqueeze
    t_, transpose_, squeeze_, unsqueeze_ = (
        transposition.t_,
        transposition.transpose_,
        reshaping.squeeze_,
        reshaping.unsqueeze_,
    )
    movedim = transposition.movedim
    swapaxes = swapdims = transpose
    swapaxes_ = swapdims_ = transpose_
    moveaxis, broadcast_to = movedim, expand
    select, narrow, diagonal = subviews.select, subviews.narrow, subviews.diagonal
    split_with_sizes, unfold, take = subviews.split_with_sizes, windows.unfold, windows.take
    diagflat, fill_diagonal_ = assembling.diagflat, windows.fill_diagonal_
    unbind, split, chunk = subviews.unbind, subviews.split, subviews.chunk
    unsafe_split, unsafe_chunk = subviews.unsafe_split, subviews.unsafe_chunk
    unsafe_split_with_sizes = subviews.unsafe_split_with_sizes
    tensor_split, hsplit, vsplit = subviews.tensor_split, subviews.hsplit, subviews.vsplit
    flip, fliplr, flipud = flipping.flip, flipping.fliplr, flipping.flipud
    roll, rot90 = flipping.roll, flipping.rot90
    tril, triu, tril_, triu_ = diagonals.tril, diagonals.triu, diagonals.tril_, diagonals.triu_
    repeat, tile, repeat_interleave = repeating.repeat, repeating.tile, repeating.repeat_interleave
    diag, diag_embed, trace, diff = diagonals.diag, diagonals.diag_embed, diagonals.trace, cumulative.diff

    def view_as(self, other: TensorState) -> Any:
        """This tensor in the shape of `other`, without a copy."""
        return reshaping.view(self, other.array.shape)

    def reshape_as(self, other: TensorState) -> Any:
        """This tensor in the shape of `other`."""
        return reshaping.reshape(self, other.array.shape)

    def expand_as(self, other: TensorState) -> Any:
        """This tensor repeated to the shape of `other`."""
        return reshaping.expand(self, other.array.shape)

    @property
    def T(self) -> Any:  # noqa: N802 - torch's name
        """The dimensions in reverse order."""
        return transposition.reversed_dims(self)

    @property
    def mT(self) -> Any:  # noqa: N802 - torch's name
        """The last two dimensions swapped."""
        return transposition.matrix_transpose(self)

    @property
    def H(self) -> Any:  # noqa: N802 - torch's name
        """The conjugate transpose of a matrix."""
        return complex_numbers.conj(transposition.matrix_transpose(self, "H"))

    @property
    def mH(self) -> Any:  # noqa: N802 - torch's name
        """The conjugate transpose of each matrix."""
        return complex_numbers.conj(transposition.matrix_transpose(self, "mH"))

    # Indexing and masks

    gather, take_along_dim = gathering.gather, gathering.take_along_dim
    scatter, scatter_add = gathering.scatter, gathering.scatter_add
    scatter_, scatter_add_ = gathering.scatter_, gathering.scatter_add_
    scatter_reduce, scatter_reduce_ = reducing.scatter_reduce, reducing.scatter_reduce_
    index_select, index_add = index_along.index_select, index_along.index_add
    index_copy, index_fill = index_along.index_copy, index_along.index_fill
    index_add_, index_copy_, index_fill_ = index_along.index_add_, index_along.index_copy_, index_along.index_fill_
    index_put, index_put_ = index.index_put, index.index_put_
    masked_fill, masked_select, masked_scatter = mask.masked_fill, mask.masked_select, mask.masked_scatter
    masked_fill_, masked_scatter_ = mask.masked_fill_, mask.masked_scatter_

    # Complex numbers

    conj, angle = complex_numbers.conj, complex_numbers.angle
    real, imag = property(complex_numbers.real), property(complex_numbers.imag)

    # Copies, casts, and what is written over

    clone, contiguous, to = casting.clone, casting.contiguous, casting.to
    copy_, fill_, zero_ = casting.copy_, casting.fill_, casting.zero_
    uniform_, normal_, random_, bernoulli_ = (
        random_numbers.uniform_,
        random_numbers.normal_,
        random_numbers.random_,
        random_numbers.bernoulli_,
    )
    bernoulli, multinomial, exponential_ = (
        random_numbers.bernoulli,
        random_numbers.multinomial,
        random_numbers.exponential_,
    )
    new_full, new_zeros, new_empty = fresh.new_full, fresh.new_zeros, fresh.new_zeros
    new_ones, new_tensor = fresh.new_ones, fresh.new_tensor
    half, float, double = (casting.casting(dtype) for dtype in (dtypes.float16, dtypes.float32, dtypes.float64))
    bool, byte, char = (casting.casting(dtype) for dtype in (dtypes.bool, dtypes.uint8, dtypes.int8))
    short, int, long = (casting.casting(dtype) for dtype in (dtypes.int16, dtypes.int32, dtypes.int64))
    cfloat, cdouble = casting.casting(dtypes.complex64), casting.casting(dtypes.complex128)

    type = type_of

    def type_as(self, other: TensorState) -> Any:
        """This tensor in the dtype of `other`."""
        return casting.cast(self, other.array.dtype)

    def adjoint(self) -> Any:
        """The last two dimensions swapped, conjugated."""
        return complex_numbers.conj(transposition.matrix_transpose(self, "adjoint()"))

    def apply_(self, callable: Any) -> Any:
        """Write `callable(element)` for each element; raises RuntimeError for a tensor that requires grad."""
        return written_elementwise("apply_", callable, self)

    def map_(self, tensor: Any, callable: Any) -> Any:
        """Write `callable(a, b)` for the elements of this tensor and of another; not recorded, as `apply_`."""
        return written_elementwise("map_", callable, self, tensor)

    def pin_memory(self, device: Any = None) -> Any:
        """This tensor: there is no memory but the CPU's."""
        return self

    def share_memory_(self) -> Any:
        """This tensor: a program is one process."""
        return self

    def cpu(self) -> Any:
        """This tensor: there is no other device."""
        return self

    def cuda(self, device: Any = None) -> Any:
        """Refused, with a RuntimeError: there is no device but the CPU."""
        check_device("cuda")


for name, method in list(vars(Methods).items()):
    if not name.startswith("_"):
        setattr(Methods, name, naming_tensors(method, method=True))
