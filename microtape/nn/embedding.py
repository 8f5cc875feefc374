"""Embeddings: a learned vector for each number."""

from __future__ import annotations

from typing import Any

from microtape.basics.devices import ELSEWHERE
from microtape.nn import functional, init
from microtape.nn.module import Module
from microtape.nn.parameter import Parameter
from microtape.tape.grad_mode import no_grad
from microtape.tensors.factories import empty


class Embedding(Module):
    """Rows of a table: integers (...) below num_embeddings to (..., embedding_dim).

    The initial rows are normal; that of `padding_idx` is 0 and gets no gradient. Raises NotImplementedError for
    `max_norm`, `scale_grad_by_freq` and `sparse`, AssertionError for a `padding_idx` that is no row.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if max_norm is not None or scale_grad_by_freq or sparse:
            raise NotImplementedError(f"Embedding(max_norm=, scale_grad_by_freq= and sparse=) is not here; {ELSEWHERE}")
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = max_norm, norm_type, False, False
        if _weight is None:
            rows = empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(rows, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw new initial rows."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Any) -> Any:
        """The rows, (..., embedding_dim). Raises IndexError for a number that is no row."""
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """The sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        norm = "" if self.norm_type == 2 else f", norm_type={self.norm_type}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}{norm}"

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, **options: Any
    ) -> Embedding:
        """An embedding with the rows of `embeddings`, (num_embeddings, embedding_dim), not learned if `freeze`."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, _weight=embeddings, _freeze=freeze, **options)
