"""Jacobians and Hessians of a function, and their products with vectors: `vjp`, `jvp`, `vhp`, `hvp`.

Note [The double-backward trick]
  Backward computes v ↦ v · J, which is linear in v. The backward pass of that map, at any v, applies its transpose,
  w ↦ J · w. Two backward passes thus give a Jacobian-vector product (J. Townsend, "A new trick for calculating Jacobian
  vector products", 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from microtape.ops.shape.joining import stack
from microtape.tape.grad_mode import enable_grad
from microtape.tensors.differentiate import grad
from microtape.tensors.factories import ones_like, zeros, zeros_like
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_ad import dual_level, make_dual, unpack_dual
from microtape.transforms.functional_strict import (
    CONSTANT_HESSIAN,
    CONSTANT_HESSIAN_GRAPH,
    CONSTANT_JACOBIAN,
    CONSTANT_JACOBIAN_GRAPH,
    INDEPENDENT_GRADIENT,
    INDEPENDENT_INPUT,
    INDEPENDENT_OUTPUT,
    INDEPENDENT_PAIR,
    INDEPENDENT_SEED,
    LINEAR,
    check_depends,
    filled,
)
from microtape.transforms.functional_structure import (
    Structure,
    detached,
    finished,
    fresh,
    structure_of,
    vector,
    vector_of_inputs,
)


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), v · J)`: the outputs, and the product of `v` with the Jacobian J of `func` at `inputs`.

    `inputs` is a tensor or a tuple of tensors, and so is what `func` returns. `v` has the shapes of the outputs and may
    be omitted for a single output of one element; the product has the shapes and dtypes of the inputs. With
    `create_graph` the results can be differentiated.

    Raises RuntimeError if `v` has other shapes, or with `strict` if an output does not depend on an input (see
    Note [Strict mode]); TypeError for inputs or outputs that are not tensors.
    """
    with enable_grad():
        given = structure_of(inputs, "inputs", "vjp")
        xs = fresh(given.tensors, create_graph)
        outputs = _called(func, xs, "vjp", strict)
        if v is not None:
            v = vector(v, outputs, "vjp", create_graph)
        elif len(outputs.tensors) != 1 or outputs.tensors[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                "element."
            )
    found = _gradients(outputs.tensors, xs, v, create_graph)
    products = filled(found, xs, create_graph, strict, INDEPENDENT_INPUT, CONSTANT_JACOBIAN_GRAPH)
    return finished(outputs, create_graph), given.like(detached(products, create_graph))


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), J · v)`: the outputs, and the product of the Jacobian J of `func` at `inputs` with `v`.

    `v` has the shapes of the inputs, the product those of the outputs. See `vjp` for the other arguments and the
    errors, Note [The double-backward trick] for the formula.
    """
    with enable_grad():
        given = structure_of(inputs, "inputs", "jvp")
        xs = fresh(given.tensors, create_graph)
        v = vector_of_inputs(v, given, "jvp", create_graph)
        outputs = _called(func, xs, "jvp", strict)
        seeds = tuple(zeros_like(output, requires_grad=True) for output in outputs.tensors)
        transposed = _gradients(outputs.tensors, xs, seeds, True)
        if strict:
            check_depends(transposed, INDEPENDENT_INPUT, INDEPENDENT_GRADIENT)
    found = _gradients(transposed, seeds, v, create_graph)
    products = filled(found, outputs.tensors, create_graph, strict, INDEPENDENT_SEED, CONSTANT_JACOBIAN_GRAPH)
    return finished(outputs, create_graph), outputs.like(detached(products, create_graph))


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), v · H)`, with H the Hessian of a `func` that returns a tensor of one element.

    `v` and the product have the shapes of the inputs. For the other arguments and the errors see `vjp`.
    """
    with enable_grad():
        given = structure_of(inputs, "inputs", "vhp")
        xs = fresh(given.tensors, create_graph)
        v = vector_of_inputs(v, given, "vhp", create_graph)
        output = _one_number(func, xs, "vhp", strict)
        first = _first_derivative(output, xs, strict)
    found = _gradients(first, xs, v, create_graph)
    products = filled(found, xs, create_graph, strict, CONSTANT_JACOBIAN, CONSTANT_HESSIAN_GRAPH)
    return finished(output, create_graph), given.like(detached(products, create_graph))


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """`(func(*inputs), H · v)`: equal to `vhp`, since H is symmetric, but at the cost of one more backward pass.

    It is `jvp` of the gradient. It exists because torch has it; `vhp` is cheaper. See `vjp` for arguments and errors.
    """
    with enable_grad():
        given = structure_of(inputs, "inputs", "hvp")
        xs = fresh(given.tensors, create_graph)
        v = vector_of_inputs(v, given, "hvp", create_graph)
        output = _one_number(func, xs, "hvp", strict)
        first = _first_derivative(output, xs, strict)
        seeds = tuple(zeros_like(x, requires_grad=True) for x in xs)
        transposed = _gradients(first, xs, seeds, True)
    found = _gradients(transposed, seeds, v, create_graph)
    products = filled(found, xs, create_graph, strict, CONSTANT_HESSIAN, CONSTANT_HESSIAN_GRAPH)
    return finished(output, create_graph), given.like(detached(products, create_graph))


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func` at `inputs`: for each output and input a tensor of shape `output.shape + input.shape`.

    Reverse mode runs one backward pass for each element of the outputs, forward mode calls `func` once for each element
    of the inputs. `vectorize` does not change the computation: forward mode requires it, `strict` excludes it.
    NB: torch's `vectorize` runs all passes as one, with vmap.

    Raises AssertionError for an unknown `strategy`; RuntimeError with `strict` if an output does not depend on an
    input; NotImplementedError or RuntimeError for arguments that cannot be combined.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'microtape.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _forward_jacobian(func, inputs, strict, vectorize)
    with enable_grad():
        given = structure_of(inputs, "inputs", "jacobian")
        xs = fresh(given.tensors, create_graph)
        outputs = _called(func, xs, "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                "microtape.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                "together. Please either set `strict=False` or `vectorize=False`."
            )
        blocks = []
        for i, output in enumerate(outputs.tensors):
            if vectorize and not output.numel():
                blocks.append(given.like([_no_columns(output, x) for x in xs]))
                continue
            seed = (
                ones_like(output.detach().reshape(-1)[0]) if vectorize else None
            )  # NB: so complex outputs are allowed
            rows = [
                _jacobian_row(i, element, seed, xs, create_graph, strict)
                for element in (output.reshape(-1)[j] for j in range(output.numel()))
            ]
            columns = [stack([row[k] for row in rows]).reshape((*output.shape, *x.shape)) for k, x in enumerate(xs)]
            blocks.append(given.like(detached(columns, create_graph)))
    return outputs.like(blocks)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a `func` that returns one element: for inputs x and y a tensor of shape `x.shape + y.shape`.

    It is the Jacobian of the gradient; see `jacobian` for arguments and errors. Also raises RuntimeError if `func`
    returns more than one element.
    """
    given = structure_of(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def gradient(*xs: Tensor) -> Any:
        ys = fresh([x if x.requires_grad else x.requires_grad_() for x in xs], True)
        first = _gradients(_one_number(func, ys, "hessian", strict).tensors, ys, None, True)
        if strict:
            check_depends(first, LINEAR, LINEAR)
        return tuple(zeros_like(x) if one is None else one for one, x in zip(first, xs, strict=True))

    blocks = jacobian(gradient, given.tensors, create_graph, strict, vectorize, outer_jacobian_strategy)
    return given.like([given.like(row) for row in blocks])


def _called(func: Callable[..., Any], xs: Sequence[Tensor], function: str, strict: bool) -> Structure:
    """The outputs of `func`. Raises TypeError unless they are tensors, RuntimeError for what `strict` forbids."""
    outputs = structure_of(func(*xs), "outputs of the user-provided function", function)
    if strict:
        check_depends(outputs.tensors, INDEPENDENT_OUTPUT, INDEPENDENT_OUTPUT)
    return outputs


def _forward_jacobian(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """The Jacobian by columns: each is the tangent of the outputs for a tangent of 1 in one input element."""
    if strict:
        raise RuntimeError(
            'microtape.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    given = structure_of(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    columns: list[list[list[Tensor]]] = []  # of each input, for each of its elements: the tangents of the outputs
    outputs: Structure | None = None
    for which, x in enumerate(given.tensors):
        columns.append([])
        for element in range(x.numel()):
            directions = [zeros_like(one) for one in given.tensors]
            directions[which].view(-1)[element] = 1
            outputs, column = _pushed_forward(func, given.tensors, directions)
            columns[-1].append(column)
    if outputs is None:  # no input has an element
        outputs = _called(func, given.tensors, "jacobian", False)
    rows = [
        [
            stack([column[i] for column in of_x], -1).reshape((*y.shape, *x.shape)) if of_x else _no_columns(y, x)
            for i, y in enumerate(outputs.tensors)
        ]
        for x, of_x in zip(given.tensors, columns, strict=True)
    ]
    return outputs.like([given.like(blocks) for blocks in zip(*rows, strict=True)])


def _no_columns(y: Tensor, x: Tensor) -> Tensor:
    """The Jacobian of y with respect to x if one of them has no elements."""
    return zeros((*y.shape, *x.shape), dtype=y.dtype)


def _pushed_forward(
    func: Callable[..., Any], xs: Sequence[Tensor], directions: Sequence[Tensor]
) -> tuple[Structure, list[Tensor]]:
    """The outputs of `func`, and their tangents for these tangents of the inputs."""
    with dual_level():
        duals = [make_dual(x, direction) for x, direction in zip(xs, directions, strict=True)]
        outputs = _called(func, duals, "jacobian", False)
        tangents = [unpack_dual(output).tangent for output in outputs.tensors]
    filled_in = [
        zeros_like(output) if tangent is None else tangent.detach()
        for tangent, output in zip(tangents, outputs.tensors, strict=True)
    ]
    return outputs, filled_in


def _gradients(
    outputs: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    seeds: Sequence[Tensor] | None,
    create_graph: bool,
    retain_graph: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """`grad` of the outputs that require grad; None for inputs that they do not depend on."""
    given = seeds if seeds is not None else (None,) * len(outputs)
    pairs = [(y, seed) for y, seed in zip(outputs, given, strict=True) if y is not None and y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    ys, vs = zip(*pairs, strict=True)
    found: tuple[Tensor | None, ...] = grad(ys, inputs, vs, retain_graph, create_graph, allow_unused=True)
    return found


def _one_number(func: Callable[..., Any], xs: Sequence[Tensor], function: str, strict: bool) -> Structure:
    """The output of a `func` to compute the Hessian of. Raises RuntimeError unless it has exactly one element."""
    output = _called(func, xs, function, strict)
    if output.in_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if output.tensors[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return output


def _first_derivative(output: Structure, xs: Sequence[Tensor], strict: bool) -> tuple[Tensor | None, ...]:
    """The gradient of a single element, recorded so that it can be differentiated again."""
    first = _gradients(output.tensors, xs, None, True)
    if strict:
        check_depends(first, INDEPENDENT_INPUT, LINEAR)
    return first


def _jacobian_row(
    i: int, element: Tensor, seed: Tensor | None, xs: Sequence[Tensor], create_graph: bool, strict: bool
) -> list[Tensor]:
    """One row of the Jacobian: the gradients of an element of output `i` with respect to all inputs."""
    row = []
    found = _gradients((element,), xs, None if seed is None else (seed,), create_graph, True)
    for k, (gradient, x) in enumerate(zip(found, xs, strict=True)):
        if gradient is None:
            if strict:
                raise RuntimeError(INDEPENDENT_PAIR.format(output=i, i=k))
            gradient = zeros_like(x)
        elif strict and create_graph and not gradient.requires_grad:
            raise RuntimeError(CONSTANT_JACOBIAN_GRAPH.format(i=i))
        row.append(gradient)
    return row


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
