"""Rows of a table by their indices, and one-hot rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.basics.devices import ELSEWHERE
from microtape.basics.dtypes import scalar_name
from microtape.ops.elementwise.comparison import undifferentiable
from microtape.ops.indexing.along import out_of_range
from microtape.ops.indexing.index import add_at, picked
from microtape.ops.shared.arguments import plain
from microtape.tape.operands import as_tensor
from microtape.tape.operation import Operation, call
from microtape.tape.tensor_state import TensorState


class EmbeddingBackward0(Operation):
    __slots__ = ("index", "padding_idx", "x_shape")
    formula = "z = the rows of x at the indices    ∂x = g added up at the indices"

    def __init__(self, index: Any, padding_idx: int) -> None:
        super().__init__()
        self.index, self.padding_idx = index, padding_idx

    def forward(self, x: Any) -> Any:
        self.x_shape = x.shape
        return picked(x, (plain(self.index),))

    def grad_x(self, g: Any, index: Any) -> Any:
        return call(EmbeddingDenseBackwardBackward0(index, self.padding_idx, self.x_shape), g)


class EmbeddingDenseBackwardBackward0(Operation):
    """The transpose of picking rows; the padding's row stays 0."""

    __slots__ = ("index", "padding_idx", "table_shape")
    formula = "z = 0 with x added up at the indices    ∂x = the rows of g at the indices"
    op = "embedding_backward"

    def __init__(self, index: Any, padding_idx: int, table_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.index, self.padding_idx, self.table_shape = index, padding_idx, table_shape

    def forward(self, x: Any) -> Any:
        z = np.zeros(self.table_shape, x.dtype)
        add_at(z, (plain(self.index),), x)
        if self.padding_idx >= 0:
            z[self.padding_idx] = 0
        return z

    def grad_x(self, g: Any, index: Any) -> Any:
        rows = call(EmbeddingBackward0(index, self.padding_idx), g)
        return rows * (plain(index) != self.padding_idx)[..., None] if self.padding_idx >= 0 else rows


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` (rows, size) at the indices `input`, of any shape: (..., size).

    The row `padding_idx` gets no gradient. Raises IndexError for an index out of range, NotImplementedError for
    `max_norm`, `scale_grad_by_freq` and `sparse`.
    """
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError(f"embedding(max_norm=, scale_grad_by_freq= and sparse=) is not here; {ELSEWHERE}")
    index: Any = as_tensor(input, type(weight)) if isinstance(weight, TensorState) else np.asarray(input)
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"microtape.{scalar_name(index.dtype)}Tensor instead (while checking arguments for embedding)"
        )
    if out_of_range(index, weight.shape[0]) is not None:
        raise IndexError("index out of range in self")
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return call(EmbeddingBackward0(index, padding), weight)


def one_hot(tensor: TensorState, num_classes: int = -1) -> Any:
    """For each integer a row of `num_classes` zeros with a 1 at that index; by default as many as are needed.

    Raises RuntimeError for another dtype than int64, and for numbers that are out of range.
    """

    def rows(classes: Any) -> Any:
        if classes.dtype != np.int64:
            raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
        if not classes.size and num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        count = int(classes.max()) + 1 if num_classes == -1 else num_classes
        if classes.size and classes.min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if classes.size and classes.max() >= count:
            raise RuntimeError("Class values must be smaller than num_classes.")
        return (classes[..., None] == np.arange(count)).astype(np.int64, order="C")

    return undifferentiable(rows, tensor, op="one_hot")
