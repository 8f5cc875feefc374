"""Linear algebra under the names of `torch.linalg`."""

from microtape.absent import lacking as _lacking
from microtape.ops.linear.decomposition import eigh, eigvalsh, matrix_norm, svd, svdvals
from microtape.ops.linear.decomposition import linalg_norm as norm
from microtape.ops.linear.inverses import cond, lstsq, matrix_rank, pinv, qr
from microtape.ops.linear.linalg import LinAlgError, cholesky, det, inv, matrix_power, slogdet, solve
from microtape.ops.linear.product import matmul
from microtape.ops.linear.vectors import linalg_cross as cross
from microtape.ops.linear.vectors import multi_dot
from microtape.ops.reduction.statistics import vector_norm
from microtape.ops.shared.tensor_arguments import naming_tensors as _naming_tensors

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "vector_norm",
]

for _name in __all__:
    globals()[_name] = _naming_tensors(globals()[_name])

__getattr__ = _lacking(__name__)
