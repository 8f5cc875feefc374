"""The table: every row there is."""

# ruff: noqa: F401 - importing a module adds its rows

from tests.parity_ops import (
    rows_arguments,
    rows_comparison,
    rows_elementwise,
    rows_errors,
    rows_in_place,
    rows_indexing,
    rows_layers,
    rows_layers_wrong,
    rows_matrices,
    rows_networks,
    rows_random,
    rows_reduction,
    rows_samples,
    rows_shape,
    rows_special,
)
from tests.parity_ops.rows import ROWS

__all__ = ["ROWS"]
