"""`vmap` as a loop over slices, and modules called with other parameters.

NB: torch runs the function once, on all slices. Here it runs once for each, and the results are stacked: this means the
same, and is slow. Random numbers are drawn anew for each slice, which torch calls randomness="different".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from microtape.ops.shape.joining import stack
from microtape.tensors.tensor import Tensor
from microtape.transforms.trees import filled_with, tensors_in


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that calls `func` on each slice of its arguments, and stacks the results along `out_dims`.

    `in_dims` is the dimension to slice, for all arguments or one for each; None keeps an argument whole, and nested
    arguments may have nested dimensions. Raises ValueError if no dimension is sliced, or for different sizes.
    """

    @wraps(func)
    def looped(*args: Any, **kwargs: Any) -> Any:
        name = getattr(func, "__name__", type(func).__name__)
        if not isinstance(in_dims, int | tuple | list):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially "
                f"nested) tuple matching the structure of inputs, got: {type(in_dims)}."
            )
        dims = tuple(in_dims) if isinstance(in_dims, tuple | list) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
                f"inputs: it has {len(dims)} entries for {len(args)} arguments"
            )
        sliced = [pair for arg, dim in zip(args, dims, strict=True) for pair in _pairs(arg, dim)]
        sliced += [(x, 0) for x in tensors_in(kwargs)]
        sizes = [x.shape[dim] for x, dim in sliced if dim is not None]
        if not sizes:
            raise ValueError(f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): got no Tensor to map over")
        if len(set(sizes)) > 1:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{sizes} for the mapped dimension"
            )
        results = [
            func(
                *[_slice(arg, dim, i) for arg, dim in zip(args, dims, strict=True)],
                **{key: _slice(value, 0, i) for key, value in kwargs.items()},
            )
            for i in range(sizes[0])
        ]
        return _stacked(name, results, out_dims)

    return looped


def _pairs(tree: Any, dim: Any) -> list[tuple[Tensor, Any]]:
    """Each tensor in an argument with the dimension to slice it along, or None."""
    if isinstance(dim, tuple | list):
        return [pair for one, its in zip(tree, dim, strict=True) for pair in _pairs(one, its)]
    if isinstance(dim, dict):
        return [pair for name, one in tree.items() for pair in _pairs(one, dim[name])]
    return [(x, dim) for x in tensors_in(tree)]


def _slice(tree: Any, dim: Any, i: int) -> Any:
    """Slice number i of an argument."""
    slices = [x if its is None else x.select(its, i) for x, its in _pairs(tree, dim)]
    return filled_with(tree, slices)


def _stacked(name: str, results: Sequence[Any], out_dims: Any) -> Any:
    """The results of all slices as one. Raises ValueError for results that are not tensors."""
    if not results:
        raise ValueError("vmap: cannot stack the results of no slices")
    first = results[0]
    if isinstance(first, tuple) and isinstance(out_dims, tuple):
        parts = zip(*results, strict=True)
        return tuple([_stacked(name, list(part), dim) for part, dim in zip(parts, out_dims, strict=True)])
    for one in first if isinstance(first, tuple | list) else [first]:
        if not isinstance(one, Tensor | tuple | list | dict):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(one)}. Did you mean to set "
                "out_dims= to None for output?"
            )
    dim = out_dims[0] if isinstance(out_dims, tuple) else out_dims
    columns = zip(*[tensors_in(one) for one in results], strict=True)
    return filled_with(first, [column[0] if dim is None else stack(list(column), dim) for column in columns])


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with other tensors in place of its parameters and buffers.

    They are given by name, such as "layers.0.weight", in a dict or in several; those that are not named stay. With
    `strict`, all have to be named. Raises KeyError or AttributeError for a name that the module does not have.
    """
    given = parameter_and_buffer_dicts
    tensors = given if isinstance(given, dict) else {name: one for each in given for name, one in each.items()}
    if strict:
        names = {name for name, _ in [*module.named_parameters(), *module.named_buffers()]}
        if names != set(tensors):
            raise RuntimeError(
                f"functional_call with strict=True: missing {sorted(names - set(tensors))}, "
                f"unexpected {sorted(set(tensors) - names)}"
            )
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _exchanged(module, tensors):
        return module(*arguments, **(kwargs or {}))


@contextmanager
def _exchanged(module: Any, tensors: dict[str, Any]) -> Iterator[None]:
    """Inside, the module's parameters and buffers of these names are these tensors."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for path, tensor in tensors.items():
            *owners, name = path.split(".")
            owner = module
            for part in owners:
                inner = getattr(owner, "_modules", {})
                owner = inner[part] if part in inner else getattr(owner, part)
            places = [getattr(owner, kind, {}) for kind in ("_parameters", "_buffers")]
            place = next((one for one in places if name in one), vars(owner))
            if name not in place:
                raise AttributeError(f"{type(module).__name__} has no parameter or buffer '{path}'")
            before.append((place, name, place[name]))
            place[name] = tensor
        yield
    finally:
        for place, name, tensor in reversed(before):
            place[name] = tensor


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several modules of one kind, those of one name stacked, as two dicts."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    parameters = {
        name: stack([dict(model.named_parameters())[name].detach() for model in models]).requires_grad_(
            one.requires_grad
        )
        for name, one in models[0].named_parameters()
    }
    buffers = {
        name: stack([dict(model.named_buffers())[name] for model in models]) for name, _ in models[0].named_buffers()
    }
    return parameters, buffers


__all__ = ["functional_call", "stack_module_state", "vmap"]
