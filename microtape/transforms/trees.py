"""Nested containers of tensors: what is in them, and the same containers with other values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from microtape.tensors.tensor import Tensor


def tensors_in(tree: Any) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists and dicts, in order."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, dict):
        for one in tree.values():
            yield from tensors_in(one)
    elif isinstance(tree, tuple | list):
        for one in tree:
            yield from tensors_in(one)


def mapped(function: Callable[[Tensor], Any], tree: Any) -> Any:
    """The same containers with `function` of each tensor; other values stay as they are."""
    if isinstance(tree, Tensor):
        return function(tree)
    if isinstance(tree, dict):
        return type(tree)([(key, mapped(function, one)) for key, one in tree.items()])
    if isinstance(tree, tuple | list):
        values = [mapped(function, one) for one in tree]
        return type(tree)(*values) if hasattr(tree, "_fields") else type(tree)(values)
    return tree


def filled_with(tree: Any, values: Any) -> Any:
    """The same containers with these values, in order, in place of the tensors."""
    following = iter(values)
    return mapped(lambda _: next(following), tree)
